"""Random inputs of every kind, judged by recgauge and by the libraries themselves: all means must agree.

`make differential` installs the libraries; elsewhere the tests are skipped. The inputs are the same each
time: RECGAUGE_FUZZ_SEED (0) chooses others, RECGAUGE_FUZZ_CASES says how many (100; `make differential`
has 300). A failing input is printed with the seed and number that give it again.
"""

import os
import sys
from collections import Counter
from functools import partial

import numpy as np
import pytest

from differential import libraries
from differential.cases import full_case, list_case

pytestmark = [pytest.mark.differential, pytest.mark.filterwarnings("ignore")]
SEED = int(os.environ.get("RECGAUGE_FUZZ_SEED", "0"))
N_CASES = int(os.environ.get("RECGAUGE_FUZZ_CASES", "100"))
KINDS = {
    "ranx": ("ranx", list_case),
    "trec": ("ir_measures", list_case),
    "rectools": ("rectools", partial(list_case, grades=(0, 1, 1), repeats=True)),
    "sklearn": ("sklearn", full_case),
    "omnirec_1_1": ("omnirec", list_case),
}
OMNIREC_NEEDS = (3, 12)


@pytest.mark.parametrize("convention", KINDS)
def test_means_agree(convention, capsys):
    module, make = KINDS[convention]
    if module == "omnirec" and sys.version_info < OMNIREC_NEEDS:
        pytest.skip("OmniRec needs Python 3.12; its golden values are compared on every Python")
    libraries.library(module)
    means = getattr(libraries, f"{module}_means")
    counted = Counter()
    for number in range(N_CASES):
        case = make(np.random.default_rng((SEED, number)))
        try:
            theirs = means(case)
        except libraries.NoAnswer as reason:
            counted[f"no answer: {reason}"] += 1
            continue
        ours = libraries.recgauge_means(case, convention, theirs)
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9), f"seed {SEED}, case {number}: {case}"
        counted["cases compared"] += 1
        counted["means compared"] += len(theirs)
    with capsys.disabled():
        print(f"\n{convention}: {dict(counted)}")  # noqa: T201 -- what was compared and what not is asked for
    assert counted["cases compared"] >= 0.75 * N_CASES
