"""Data, splits, candidates and lists do not depend on the processor, on threads or on Python's hash seed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.e2e

# Training that sums in an order which processors choose: factors differ in their last bits, lists where two
# items are closer than that.
ROUNDED = {
    "svd": "the basis of its search is kept orthogonal through BLAS",
    "ease": "LAPACK's rounding depends on the processor and its threads",
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


MACHINES = {
    "no vector code": without_vector_code(),
    "one thread": {"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
    "two threads": {"OPENBLAS_NUM_THREADS": "2", "PYTHONHASHSEED": "1"},
}


@pytest.fixture(scope="module")
def found():
    """What each machine prints; `this` is the processor as it is."""
    script = Path(__file__).with_name("machine_digests.py")
    printed = {}
    for machine, variables in {"this": {}, **MACHINES}.items():
        environment = os.environ | {"PYTHONHASHSEED": "0"} | variables
        done = subprocess.run(
            [sys.executable, str(script)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{machine}: {done.stderr}"
        printed[machine] = json.loads(done.stdout)
    return printed


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("stage", ["data", "splits", "candidates"])
def test_what_is_trained_and_tested_on_is_the_same(found, machine, stage):
    assert found[machine][stage] == found["this"][stage]


@pytest.mark.parametrize("machine", MACHINES)
def test_lists_are_the_same(found, machine):
    for model, here in found["this"]["models"].items():
        there = found[machine]["models"][model]
        if model not in ROUNDED:
            assert there["lists"] == here["lists"], model
        assert len(set(there["lists"].values())) <= 1, f"{model}: lists depend on the number of threads"


@pytest.mark.parametrize("machine", MACHINES)
def test_values_are_the_same(found, machine):
    for model, here in found["this"]["models"].items():
        there = found[machine]["models"][model]["values"]
        assert there.keys() == here["values"].keys()
        tolerance = TOLERANCE if model in ROUNDED else 1e-12
        for key, value in here["values"].items():
            assert there[key] == pytest.approx(value, rel=tolerance, abs=tolerance), f"{model} {key}"


def test_every_model_is_tried(found):
    assert {"svd", "popularity", "random", "bias", "biased_mf"} <= found["this"]["models"].keys()
    assert all(done["values"] for done in found["this"]["models"].values())
