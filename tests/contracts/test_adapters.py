"""What models of other libraries promise; without the library a test is skipped and says so."""

import importlib
import os
from importlib.metadata import PackageNotFoundError, version
from typing import get_args

import numpy as np
import pytest
from omegaconf import OmegaConf

from finished import composed
from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, FitError, NotFittedError
from recgauge.models.adapters.cornac import Cornac
from recgauge.models.adapters.implicit import Implicit
from recgauge.models.adapters.irspack import Irspack
from recgauge.models.adapters.surprise import Surprise
from recgauge.models.recommend import recommend
from recgauge.models.saved import SavedModel
from recgauge.runs.environment import read_beside
from recgauge.sweeps.compose import compose as make
from recgauge.sweeps.tuning import tune
from recgauge.utils.progress import Progress

ADAPTERS = (Implicit, Irspack, Surprise, Cornac)


def is_there(kind):
    try:
        return bool(version(kind.library))
    except PackageNotFoundError:
        return False


EVERY = [
    (kind, algorithm)
    for kind in ADAPTERS
    if is_there(kind) or os.environ.get("RECGAUGE_REQUIRE_PEERS")
    for algorithm in get_args(importlib.import_module(kind.__module__).Algorithm)
]
every_model = pytest.mark.parametrize(
    ("kind", "algorithm"), EVERY, ids=lambda one: getattr(one, "__name__", one)
)
every_adapter = pytest.mark.parametrize("kind", ADAPTERS, ids=lambda kind: kind.__name__)
pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries, about themselves


def needs(kind):
    """Skip where the library is not installed; with RECGAUGE_REQUIRE_PEERS=1 that is a failure."""
    if not is_there(kind):
        reason = f"{kind.library} is not installed: pip install 'recgauge[{kind.extra}]'"
        (pytest.fail if os.environ.get("RECGAUGE_REQUIRE_PEERS") else pytest.skip)(reason)


@pytest.fixture(scope="module")
def train():
    """Ratings of 40 users and 25 items; one user and one item more have none."""
    rng = np.random.default_rng(1)
    user, item = np.nonzero(rng.random((40, 25)) < 0.3)
    value = rng.integers(1, 6, len(user)).astype(np.float64)
    return Interactions(user, item, value, None, np.arange(41), np.arange(26))


def fitted(kind, algorithm, train, seed=0, **settings):
    needs(kind)
    return kind(algorithm, settings).fit(train, rng=np.random.default_rng(seed))


@every_model
def test_a_model_of_another_library_keeps_the_contract(kind, algorithm, train):
    before = train.sha256()
    model, users = fitted(kind, algorithm, train), np.arange(41, dtype=np.int32)
    scores = model.score(users)
    assert scores.shape == (41, 26)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    assert scores[:40].std() > 0
    assert np.array_equal(fitted(kind, algorithm, train).score(users), scores)
    np.testing.assert_allclose(model.score(users[7:8])[0], scores[7], rtol=1e-5, atol=1e-6)
    assert train.sha256() == before
    lists = recommend(model, users, 5, excluded=train.to_csr())
    best = np.sort(np.where(train.to_csr().toarray() != 0, -np.inf, scores), axis=1)[:, :-6:-1]
    np.testing.assert_allclose(lists.scores, best, rtol=1e-4, atol=1e-5)


@every_model
def test_saved_it_recommends_the_same_without_its_library(kind, algorithm, train, tmp_path):
    model, seen = fitted(kind, algorithm, train), CandidateItems(excluded=train.to_csr())
    if model.factors() is None and model.item_weights() is None:
        pytest.skip("the library's own object gives the scores, and cannot be saved")
    SavedModel(model, train.user_ids, train.item_ids, seen).save(tmp_path / "model")
    again = SavedModel.load(tmp_path / "model").lists(train.user_ids, 5)
    lists = recommend(model, np.arange(41, dtype=np.int32), 5, candidates=seen)
    assert np.array_equal(again.items, lists.items)
    assert np.array_equal(again.scores, lists.scores)


@every_adapter
def test_a_missing_package_names_the_command_that_installs_it(kind, train, monkeypatch):
    monkeypatch.setattr(kind, "library", "no-such-package-of-recgauge")
    with pytest.raises(
        ConfigError, match=rf"not installed. Install it with: pip install 'recgauge\[{kind.extra}\]'"
    ):
        kind().fit(train, rng=np.random.default_rng(0))


@every_adapter
def test_a_setting_that_the_model_does_not_have_is_refused_with_those_it_has(kind, train):
    with pytest.raises(
        ConfigError, match=f"{kind.__name__}: settings: .* has no setting no_such to choose; it has "
    ):
        fitted(kind, kind().algorithm, train, no_such=1)


@every_adapter
def test_what_recgauge_gives_is_refused_with_its_own_setting(kind):
    needs(kind)
    name = next(name for name in kind.ours if "seed" in name or "state" in name)
    with pytest.raises(ConfigError, match=f"{name} is given by recgauge: see seed and model.n_threads"):
        kind(settings={name: 1}).check_ready()


def test_a_search_changes_settings_of_the_library(monkeypatch, tmp_path):
    needs(Implicit)
    monkeypatch.chdir(tmp_path)
    words = ("model.settings.iterations=2", "search.settings.factors.high=20", "tune.trials=3")
    chosen = composed("model=implicit_als", "tune=random", "split.validation_size=0.1", *words)
    typed = OmegaConf.to_object(chosen)
    trials = tune(typed, (*words, "model.settings.alpha=1.0"), make(typed), Progress()).trials
    assert set(trials[0].settings) == {"settings.factors", "settings.regularization"}
    assert [trial.state for trial in trials] == ["finished"] * 3
    assert len({trial.value for trial in trials}) == 3
    chosen = composed("model=implicit_als", "tune=random", "+search.settings.no_such=[1,2]")
    typed = OmegaConf.to_object(chosen)
    with pytest.raises(ConfigError, match=r"no_such: 1 is no value .* has no setting no_such"):
        tune(typed, (), make(typed), Progress())


@every_adapter
def test_scores_before_fit_and_no_rows_are_refused(kind, train):
    with pytest.raises(NotFittedError):
        kind().score(np.array([0], np.int32))
    needs(kind)
    with pytest.raises(FitError, match="at least one training row"):
        kind().fit(train.take(np.array([], np.int64)), rng=np.random.default_rng(0))


@every_adapter
def test_the_version_of_the_library_is_recorded_and_counts(kind):
    needs(kind)
    model = {"_target_": f"{kind.__module__}.{kind.__name__}", "settings": {}}
    assert read_beside({"model": model})[kind.library] == version(kind.library)


def test_what_a_library_says_is_told_with_its_name(train):
    needs(Irspack)
    with pytest.raises(FitError, match=r"Irspack: irspack .*, algorithm=IALS: "):
        fitted(Irspack, "IALS", train, solver_type="no_such")
