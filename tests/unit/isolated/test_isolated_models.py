"""What models of environments of their own promise, with a stand-in for the library under this Python."""

import os
import platform
import re
import signal
import sys
import threading
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

from finished import experiment_of
from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.errors import (
    ConfigError,
    FitError,
    MissingDataError,
    MissingLibraryError,
    ModelError,
    NotFittedError,
)
from recgauge.guards.checks import check_lengths
from recgauge.isolated.process import WORKERS
from recgauge.models.isolated import Isolated, LensKit, RecBole, RecTools
from recgauge.models.recommend import recommend

BESIDE = Path(__file__).parent
USERS = np.arange(7, dtype=np.int32)


@dataclass(eq=False)
class Pretend(Isolated):
    library: ClassVar[str] = "Pretend"

    name: str = "Dot"

    def command(self):
        return [sys.executable, str(BESIDE / "pretend_library.py")]


@pytest.fixture
def train():
    """Rows of 6 users and 9 items, the first item everybody's; one user and one item more have none."""
    rng = np.random.default_rng(1)
    chosen = rng.random((6, 9)) < 0.3
    chosen[:, 0] = True
    chosen[0, 8] = chosen[1, 1] = True
    user, item = np.nonzero(chosen)
    return Interactions(user, item, np.ones(len(user)), None, np.arange(7), np.arange(10))


def fitted(train, seed=0, kind=Pretend, **options):
    return kind(**options).fit(train, rng=np.random.default_rng(seed))


def expected(table, k, held):
    """Return the k best of each row by score, then code, among those that are held."""
    lists = np.full((len(table), k), -1)
    for row, (scores, allowed) in enumerate(zip(table, held, strict=True)):
        items = np.flatnonzero(allowed & ~np.isnan(scores))
        best = items[np.lexsort((items, -scores[items]))][:k]
        lists[row, : len(best)] = best
    return lists


def candidates_of(kind, train):
    seen = train.to_csr()
    rng = np.random.default_rng(3)
    own = sparse.csr_array(rng.random((7, 10)) < 0.5)
    return {
        "seen": CandidateItems(excluded=seen),
        "everything": CandidateItems(),
        "named": CandidateItems(excluded=seen, items=np.array([1, 3, 4, 5, 9], np.int32)),
        "own": CandidateItems(per_user=own),
    }[kind]


@pytest.mark.parametrize("kind", ["seen", "everything", "named", "own"])
def test_lists_are_the_best_candidates_of_the_run_by_the_librarys_scores(kind, train, tmp_path):
    model = fitted(train, settings={"table": str(tmp_path / "table.npy")})
    candidates, table = candidates_of(kind, train), np.load(tmp_path / "table.npy")
    lists = recommend(model, USERS, 4, candidates=candidates)
    every = np.arange(10, dtype=np.int32)
    held = np.array([candidates.holds(np.full(10, user, np.int32), every) for user in USERS])
    assert np.array_equal(lists.items, expected(table, 4, held))
    row, column = np.nonzero(lists.items >= 0)
    assert np.array_equal(lists.scores[row, column], table[USERS[row], lists.items[row, column]])
    assert np.isneginf(lists.scores[lists.items < 0]).all()
    some = recommend(model, USERS[[4, 2]], 4, candidates=candidates)
    assert np.array_equal(some.items, lists.items[[4, 2]])


def test_users_and_items_without_rows_are_in_no_list_and_counted(train):
    candidates = CandidateItems(excluded=train.to_csr())
    lists = recommend(fitted(train), USERS, 3, candidates=candidates)
    assert 9 not in lists.items
    assert lists.lengths.tolist() == [3, 3, 3, 3, 3, 3, 0]
    guard = check_lengths(lists, candidates, train)
    assert (guard.name, guard.level, guard.value) == ("short_lists", "warning", 1 / 7)
    assert "1 of 7 lists end before the largest cutoff, 1 are empty" in guard.message
    assert check_lengths(lists.of(USERS[:6]), candidates, train).level == "note"


def test_seed_and_settings_decide_and_the_same_seed_gives_the_same_lists(train):
    first, again, other = (recommend(fitted(train, seed), USERS, 5) for seed in (0, 0, 1))
    assert np.array_equal(first.items, again.items)
    assert not np.array_equal(first.items, other.items)


def test_what_the_library_prints_is_in_the_log(train, tmp_path):
    model = Pretend(n_threads=3)
    model.log = tmp_path / "run" / "library.log"
    model.fit(train, rng=np.random.default_rng(0))
    text = (tmp_path / "run" / "library.log").read_text()
    assert "the library says hello" in text
    assert recommend(model, USERS, 2).items.shape == (7, 2)  # what it prints does not disturb the answers


TROUBLE = {
    "die in fit": (FitError, r"Pretend: its process ended with exit code 3.*something terrible"),
    "raise": (FitError, r"Pretend: its process ended with exit code 1\. Its last lines:.*no such luck"),
    "die in lists": (FitError, r"ended with exit code 4"),
    "infinite": (FitError, r"infinite scores"),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_whatever_goes_wrong_in_the_library_is_one_error(trouble, train):
    kind, message = TROUBLE[trouble]
    candidates = CandidateItems(excluded=train.to_csr())
    with pytest.raises(kind, match=f"(?s){message}"):
        recommend(fitted(train, settings={"trouble": trouble}), USERS, 4, candidates=candidates)


def test_a_library_that_hangs_is_ended(train):
    with pytest.raises(FitError, match=r"timeout=1 seconds.*model.timeout"):
        fitted(train, settings={"trouble": "hang"}, timeout=1)


def test_ctrl_c_ends_the_other_process_too(train):
    model = Pretend(settings={"trouble": "hang"})

    def interrupt():
        while model._worker is None:
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(train, rng=np.random.default_rng(0))
    process = model._worker._process
    assert process.poll() is not None
    assert not model._worker.folder.exists()


def test_the_other_process_ends_when_this_side_is_gone(train):
    model = fitted(train)
    process = model._worker._process
    process.stdin.close()
    assert process.wait(timeout=30) == 1
    assert not model._worker.folder.exists()


def test_a_model_that_does_not_exist_is_refused_with_those_that_do(train):
    with pytest.raises(ConfigError, match=r"model: Pretend: name: it has Dot; got 'Bot'"):
        fitted(train, name="Bot")


def test_no_scores_no_rows_and_nothing_before_fit(train):
    with pytest.raises(NotFittedError):
        Pretend().score(USERS)
    with pytest.raises(NotFittedError):
        Pretend().lists(USERS, 3, CandidateItems())
    with pytest.raises(ModelError, match="not the scores of all items"):
        fitted(train).score(USERS)
    with pytest.raises(FitError, match="at least one training row"):
        fitted(train.take(np.array([], np.int64)))


@pytest.mark.parametrize("kind", [RecBole, LensKit, RecTools])
def test_a_library_is_pinned_to_one_version_by_its_script_and_nothing_names_an_index(kind):
    script = (WORKERS / f"train_{kind.library.lower()}.py").read_text()
    pins = re.findall(r'"([^"]+)"', script.split("# ///")[1].partition("dependencies = ")[2])
    assert all("==" in pin and "://" not in pin for pin in pins)
    assert any(re.match(rf"{kind.library.lower()}(\[\w+\])?==", pin) for pin in pins)
    assert "requires-python = " in script


def test_without_uv_the_words_that_install_it_are_named(monkeypatch):
    monkeypatch.setattr("sysconfig.get_path", lambda _: "")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match=r"Install it with: pip install 'recgauge\[isolated\]'$"):
        RecBole().check_ready()


def test_a_library_that_cannot_be_installed_names_what_to_type_where_there_is_a_network(train, tmp_path):
    uv = tmp_path / "uv.py"
    uv.write_text("import sys; sys.exit('error: the network is disabled')")

    class Offline(Pretend):
        def command(self):
            return [sys.executable, str(uv)]

    with pytest.raises(
        MissingLibraryError, match=r"(?s)network is disabled.*a network: uv sync --script .*uv\.py$"
    ):
        fitted(train, kind=Offline)


def test_what_needs_all_scores_is_refused_before_any_work(tmp_path):
    (tmp_path / "recs.csv").touch()
    with pytest.raises(
        ConfigError, match="Recorded gives lists, not the scores of all items, which metrics=auc"
    ):
        compose_recorded(tmp_path / "recs.csv", "metrics=[ranking,curves]")


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("gone.csv", MissingDataError, "model.path=.*gone.csv: there is no such file"),
        ("*.csv", ConfigError, "names 2 files"),
    ],
)
def test_a_file_of_lists_that_is_not_there_is_refused_before_any_work(tmp_path, name, error, said):
    (tmp_path / "one.csv").touch()
    (tmp_path / "two.csv").touch()
    with pytest.raises(error, match=said):
        compose_recorded(tmp_path / name)


def compose_recorded(path, *words):
    experiment_of("model=recorded", f"model.path='{path}'", *words)


def test_versions_of_the_library_and_its_python_are_told(train):
    versions = {name: version(name) for name in ("numpy", "pandas")}
    assert fitted(train).worker.versions == versions | {"python": platform.python_version()}
