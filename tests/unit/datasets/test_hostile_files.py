"""Every hostile file is refused with one message, soon and in little memory, or read as it is meant."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unit.datasets.hostile.case import Case
from unit.datasets.hostile.cases import CASES

LOADS = Path(__file__).parent / "hostile" / "loads.py"


def outcomes(folder: Path, cases: list[Case]) -> dict[str, dict]:
    """Load each file in a process of its own; all imports are paid for once."""
    asked = [case.write(folder / str(number)) for number, case in enumerate(cases)]
    done = subprocess.run(
        [sys.executable, str(LOADS)],
        input=json.dumps(asked),
        env=os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"},  # others reserve more than they use
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert done.stderr == ""
    return dict(zip((case.name for case in cases), json.loads(done.stdout), strict=True))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return outcomes(tmp_path_factory.mktemp("hostile"), [case for case in CASES if not case.slow])


def check(case: Case, outcome: dict) -> None:
    if case.refused:
        assert re.search(case.refused, outcome.get("refused", "")), outcome
        assert len(outcome["refused"]) < 1500
        assert outcome["refused"].isprintable()
    else:
        assert outcome.get("users", [])[: len(case.users)] == case.users, outcome
        assert outcome["items"][: len(case.items)] == case.items
    assert outcome["seconds"] < 20  # a hang ends later; a busy machine takes its time


@pytest.mark.parametrize("case", [case for case in CASES if not case.slow], ids=lambda case: case.name)
def test_a_hostile_file(loaded, case):
    check(case, loaded[case.name])


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case.slow], ids=lambda case: case.name)
def test_a_large_hostile_file(tmp_path, case):
    check(case, outcomes(tmp_path, [case])[case.name])
