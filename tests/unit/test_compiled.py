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
    metrics = {name: standard.definition(name) for name in ("ndcg", "auc")}
    if isinstance(model, RatingPredictor):
        metrics["rmse"] = standard.definition("rmse")
    split = RandomRows(test_size=0.2)
    run = Experiment(Demo(), split, AllItems(), model, metrics, (10,), sanity=True)
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

MODELS = ("BPR", "ItemKNN", "RatingKNN", "SLIM")


def check(cache):
    """All other stages take at most what is left of a run without compiling; yield the seconds of that."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    words = [sys.executable, "-c", RUNS, *MODELS]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        name, seconds, took, compiling = json.loads(line)
        assert seconds["compile"] >= compiling, name
        assert sum(seconds.values()) <= took, name
        yield compiling


@pytest.mark.slow
def test_compiling_any_model_counts_for_no_other_stage_and_a_later_process_compiles_nothing(tmp_path):
    assert sum(seconds > 0 for seconds in check(tmp_path)) >= 2
    assert not any(check(tmp_path))
