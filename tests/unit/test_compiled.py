"""Compiling is no part of training, and machine code is kept where that is safe and fresh."""

import json
import os
import subprocess
import sys

import pytest

from recgauge.utils import compiled as _compiled

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


@pytest.fixture
def package(tmp_path):
    """A module with a kernel that calls a helper in a file beside it."""
    header = "from recgauge.utils.compiled import compiled, njit\n"
    (tmp_path / "_helper.py").write_text(f"{header}@njit\ndef by(number):\n    return 2 * number\n")
    (tmp_path / "_doubling.py").write_text(
        f"{header}from _helper import by\n@compiled()\ndef double(number):\n    return by(number)\n"
    )
    return tmp_path


DOUBLED = "import _doubling; print(_doubling.double(21), dict(_doubling.double.stats.cache_hits) != {})"


def test_a_changed_helper_in_another_file_is_compiled_anew(package, tmp_path):
    cache = tmp_path / "cache"
    assert run(DOUBLED, cache, PYTHONPATH=str(package)) == "42 False\n"
    assert run(DOUBLED, cache, PYTHONPATH=str(package)) == "42 True\n"
    helper = package / "_helper.py"
    helper.write_text(helper.read_text().replace("2 * number", "3 * number"))
    assert run(DOUBLED, cache, PYTHONPATH=str(package)) == "63 False\n"


@pytest.fixture
def folders(monkeypatch, tmp_path):
    """The folders that may hold machine code: numba's, and the user's two."""
    monkeypatch.setattr(_compiled.config, "CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setattr(_compiled, "user_cache", lambda: tmp_path / "user")
    monkeypatch.setattr(_compiled, "user_temporary", lambda: None)
    _compiled._kernel_folder.cache_clear()
    yield tmp_path
    _compiled._kernel_folder.cache_clear()


def load(package):
    source = package / "_module.py"
    source.write_text("def twice(number):\n    return 2 * number\n")
    names = {"__name__": "module"}
    exec(compile(source.read_text(), str(source), "exec"), names)
    return _compiled.compiled()(names["twice"])


def test_a_folder_that_others_can_write_is_not_used(folders, tmp_path):
    load(tmp_path)
    (folder,) = (tmp_path / "numba").iterdir()
    folder.chmod(0o777)
    _compiled._kernel_folder.cache_clear()
    assert load(tmp_path)(21) == 42
    assert not list(folder.rglob("*.nbi"))
    assert list((tmp_path / "__pycache__").rglob("*.nbi"))
