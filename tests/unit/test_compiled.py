"""Compiling is no part of training, and a later process compiles nothing."""

import json
import os
import subprocess
import sys

import pytest

RUNS = """
import json, sys
from time import perf_counter
from numba.core.event import RecordingListener, install_listener
import recgauge.models
from recgauge import AllItems, Demo, RandomRows, get_convention
from recgauge.experiment import Experiment, run_experiment
from recgauge.models import RatingPredictor

standard = get_convention("standard")
for name in sys.argv[1:]:
    model = getattr(recgauge.models, name)()
    metrics = {"ndcg": standard.definition("ndcg")}
    if isinstance(model, RatingPredictor):
        metrics["rmse"] = standard.definition("rmse")
    split = RandomRows(test_size=0.2)
    more = {"sanity": True, "curves": True} if len(sys.argv) > 2 else {}
    run = Experiment(Demo(), split, AllItems(), model, metrics, (10,), **more)
    listener, start = RecordingListener(), perf_counter()
    with install_listener("numba:compile", listener):
        seconds = run_experiment(run).seconds
    took, compiling, n_open = perf_counter() - start, 0.0, 0
    for time, event in sorted(listener.buffer, key=lambda entry: entry[0]):
        n_open += 1 if event.is_start else -1
        if event.is_start and n_open == 1:
            begin = time
        elif n_open == 0:
            compiling += time - begin
    print(json.dumps([name, seconds, took, compiling]))
"""


def run(code, cache, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def names_of_models():
    import recgauge.models
    from recgauge.models import GivesLists, Recommender

    kinds = [getattr(recgauge.models, name) for name in recgauge.models.__all__]
    own = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Recommender))
    concrete = (kind for kind in own if not kind.__abstractmethods__ and not issubclass(kind, GivesLists))
    return sorted(kind.__name__ for kind in concrete)


def check(models, cache):
    """All other stages take at most what is left of a run without compiling; yield the seconds of that."""
    for line in run(RUNS, cache, *models).splitlines():
        name, seconds, took, compiling = json.loads(line)
        assert seconds["compile"] >= compiling, name
        assert sum(seconds.values()) <= took, name
        yield compiling


@pytest.mark.slow
def test_compiling_any_model_counts_for_no_other_stage_and_a_later_process_compiles_nothing(tmp_path):
    seconds = list(check(names_of_models(), tmp_path))
    assert sum(taken > 0 for taken in seconds) > 10
    assert not any(check(names_of_models(), tmp_path))
