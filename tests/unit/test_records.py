"""Records of runs: what MLflow is told of them, and fingerprints."""

from copy import deepcopy

import pytest

from recgauge.experiment import run_experiment
from recgauge.filters.rows import NCore
from recgauge.runs.protocol import protocol
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import NUMERIC, fingerprint, part
from records import record_with
from small_runs import experiment


@pytest.fixture(scope="module")
def result():
    return run_experiment(experiment(("ndcg", "recall"), cutoffs=(5, 10), filters=(NCore(10),)))


@pytest.fixture(scope="module")
def record(result):
    names = dict.fromkeys(("dataset", "split", "candidates", "conventions"), "x") | {"model": "popularity"}
    return RunRecord.from_result(
        result,
        names=names,
        seed=0,
        command="python run.py",
        settings={"seed": 0},
        environment={"python": "3"},
    )


SETTINGS = {
    "dataset": {"_target_": "recgauge.datasets.table.Table", "path": "a.csv", "relevant_from": 4},
    "filters": {"n_core": {"n": 5}},
    "split": {"test_size": 0.2},
    "candidates": {"_target_": "x"},
    "model": {"n_factors": 16},
    "metrics": {"ndcg": "ndcg"},
    "conventions": {"_target_": "y"},
    "cutoffs": [10],
    "conventions_table": False,
    "seed": 0,
    "tracking": {"uri": "sqlite:///a.db"},
    "data": {"mirror": "here"},
    "engine": {"memory_mib": 256},
    "artifacts": {"lists": True},
    "reuse": True,
    "force": False,
    "study": None,
    "allowed_targets": [],
}


def changed(*path, to):
    settings = deepcopy(SETTINGS)
    node = settings
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = to
    return settings


def of(settings=SETTINGS, digest="d" * 64, version=1, sources=()):
    return fingerprint(settings, digest, version, dict(sources))


@pytest.mark.parametrize(
    "settings",
    [
        changed("dataset", "relevant_from", to=3),
        changed("filters", to={}),
        changed("split", "test_size", to=0.3),
        changed("candidates", "_target_", to="z"),
        changed("model", "n_factors", to=17),
        changed("metrics", to={}),
        changed("cutoffs", to=[10, 20]),
        changed("seed", to=1),
        changed("a_setting_of_tomorrow", to=True),
    ],
)
def test_what_can_change_a_result_changes_the_fingerprint(settings):
    assert of(settings) != of()


@pytest.mark.parametrize(
    "settings",
    [
        changed("tracking", "uri", to="http://server"),
        changed("data", "mirror", to="there"),
        changed("artifacts", "lists", to=False),
        changed("dataset", "path", to="moved/a.csv"),
        changed("dataset", "prepared", to=False),
        changed("study", to={"name": "x"}),
        changed("allowed_targets", to=["mine"]),
        part(SETTINGS, *NUMERIC),
    ],
)
def test_what_cannot_does_not(settings):
    assert of(settings) == of()


def test_a_fingerprint_stays_that_of_runs_that_are_stored():
    assert of() == "f7eeb5eb0286cb0dfeab294dcc62de98f8318080f35bae3ff8f002f1fc67ed0e"


def test_the_order_of_filters_counts():
    first, second = {"a": {"n": 5}, "b": {"n": 5}}, {"b": {"n": 5}, "a": {"n": 5}}
    assert of(changed("filters", to=first)) != of(changed("filters", to=second))


def test_data_version_and_what_is_read_beside_count():
    others = [
        of(digest="e" * 64),
        of(version=2),
        of(sources={"mine.Model": "1"}),
        of(sources={"mine.Model": "2"}),
    ]
    assert len({of(), *others}) == 5


def test_a_record_that_lacks_a_setting_is_compared_as_one_that_leaves_it_out():
    plain = record_with(settings={"split": {"name": "random"}})
    newer = record_with(settings={"split": {"name": "random", "whole": None}})
    chosen = record_with(settings={"split": {"name": "random", "whole": "session"}})
    assert protocol([plain]) == protocol([newer]) != protocol([chosen])
