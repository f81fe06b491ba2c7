"""Data, splits, candidates and lists do not depend on the processor, on threads or on Python's hash seed."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
import pytest
from omegaconf import OmegaConf

from e2e.program import Workplace
from recgauge.sweeps.places import conf_folder

pytestmark = [pytest.mark.e2e, pytest.mark.slow]  # without vector code all kernels are compiled anew

# Training that sums in an order which processors choose, never threads: factors differ in their last bits,
# lists where two items are closer than that.
ROUNDED = {
    "svd": "the basis of its search is kept orthogonal through BLAS",
    "ease": "BLAS's rounding depends on the processor",
    "biased_mf": "its kernel sums over factors in vectors as wide as the processor's",
}
TOLERANCE = 1e-6
ELSEWHERE = {"adapters", "isolated", "recorded"}  # models of other libraries are theirs to keep the same
NEEDS_SETTINGS = {"published", "allow_list", "sampled_file", "temporal_date"}


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


def options(group):
    files = (conf_folder() / group).glob("*.yaml")
    own = (
        path.stem
        for path in files
        if not ELSEWHERE & set(OmegaConf.load(path).get("_target_", "").split("."))
    )
    return sorted(set(own) - NEEDS_SETTINGS)


@cache
def outcomes(machine, group):
    """Return what the jobs of a sweep over a group's options have on a machine, by the option."""
    words = ["-m", f"{group}={','.join(options(group))}", "cutoffs=[10]", "tracking=off", "hydra.sweep.dir=."]
    of_models = ["metrics=all", "split=temporal_per_user"]  # some models need users' rows in their order
    words += of_models if group == "model" else ["model=popularity", "guards.override=[coverage]"]
    with TemporaryDirectory() as folder:
        sweep = Workplace(Path(folder)).start_fresh(*words, **MACHINES[machine])
        _, err = sweep.communicate(timeout=1800)
        assert sweep.returncode == 0, err
        return dict(map(outcome, Path(folder).glob("*/record.json"), [group] * len(options(group))))


def outcome(file, group):
    record = json.loads(file.read_text())
    rows = {name: record[name] for name in ("dataset", "split", "candidates_sha256")}
    lists = file.with_name("recommendations.parquet")
    lists = pq.read_table(lists, columns=["user_id", "item_id", "rank"]) if lists.is_file() else None
    values = {entry["key"]: entry["value"] for entry in record["results"]}
    return record["names"][group], (rows, lists, values)


@pytest.mark.parametrize("group", ["model", "split", "candidates"])
@pytest.mark.parametrize("machine", ["two threads", "no vector code"])
def test_rows_lists_and_values_are_the_same(machine, group):
    expected = outcomes("this", group)
    assert len(expected) == len(options(group)) > 3
    assert outcomes(machine, group).keys() == expected.keys()
    for name, (rows, lists, values) in outcomes(machine, group).items():
        is_rounded = machine == "no vector code" and name in ROUNDED
        assert rows == expected[name][0], name
        assert is_rounded or lists == expected[name][1], name
        tolerance = TOLERANCE if is_rounded else 1e-12
        assert values == pytest.approx(expected[name][2], rel=tolerance, abs=tolerance), name
