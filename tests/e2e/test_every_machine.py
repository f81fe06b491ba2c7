"""Data, splits, candidates and lists do not depend on the processor, on threads or on Python's hash seed."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.slow]  # without vector code all kernels are compiled anew

# Training that sums in an order which processors choose, never threads: factors differ in their last bits,
# lists where two items are closer than that.
ROUNDED = {
    "svd": "the basis of its search is kept orthogonal through BLAS",
    "ease": "BLAS's rounding depends on the processor",
    "biased_mf": "its kernel sums over factors in vectors as wide as the processor's",
}
TOLERANCE = 1e-6


def without_vector_code() -> dict[str, str]:
    """Return variables that turn off whatever numpy, OpenBLAS and numba choose by the processor."""
    core = np._core if hasattr(np, "_core") else np.core
    return {
        "NPY_DISABLE_CPU_FEATURES": " ".join(core._multiarray_umath.__cpu_dispatch__),
        "OPENBLAS_CORETYPE": "Haswell",
        "NUMBA_CPU_NAME": "generic",
    }


# The first runs on one thread, which is what the others are compared with.
MACHINES = {
    "this": {"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
    "two threads": {"OPENBLAS_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2", "PYTHONHASHSEED": "1"},
    "no vector code": {"PYTHONHASHSEED": "0"} | without_vector_code(),
}
on_others = pytest.mark.parametrize("machine", ["two threads", "no vector code"])


@cache
def found(machine):
    """What `machine_digests.py` prints on a machine."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("machine_digests.py"))],
        env=os.environ | MACHINES[machine] | {"PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{machine}: {done.stderr}"
    return json.loads(done.stdout)


@on_others
def test_data_splits_candidates_lists_and_values_are_the_same(machine):
    here, there = found("this"), found(machine)
    for stage in ("data", "splits", "candidates"):
        assert there[stage] == here[stage], stage
    assert there["models"].keys() == here["models"].keys()
    for model, expected in here["models"].items():
        made = there["models"][model]
        is_rounded = machine == "no vector code" and model in ROUNDED
        if not is_rounded:
            assert made["lists"] == expected["lists"], model
        assert len(set(made["lists"].values())) <= 1, f"{model}: lists depend on the number of threads"
        tolerance = TOLERANCE if is_rounded else 1e-12
        assert made["values"] == pytest.approx(expected["values"], rel=tolerance, abs=tolerance), model


def test_every_model_is_tried():
    tried = found("this")["models"]
    assert {"svd", "popularity", "random", "bias", "biased_mf"} <= tried.keys()
    assert all(done["values"] for done in tried.values())
