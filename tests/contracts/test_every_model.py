"""What every model promises; models are found, not listed."""

import importlib
import inspect
import pkgutil
from dataclasses import fields, replace

import numpy as np
import pytest

import recgauge
import recgauge.models
from conftest import make_checkerboard
from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, NotFittedError
from recgauge.evaluation.evaluate_ratings import predict_ratings
from recgauge.models import EpochModel, GivesLists, RatingPredictor, Recommender
from recgauge.models.recommend import recommend
from recgauge.models.saved import SavedModel

SMALL = {"n_factors": 2}  # settings that fit the small data of these tests


def all_models():
    found = set()
    for module in pkgutil.iter_modules(recgauge.models.__path__, "recgauge.models."):
        for name, thing in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if name.startswith("_"):  # stands for a model, is none
                continue
            # those that give lists score nothing; tests/unit/recorded and tests/unit/isolated are about them
            scores = not issubclass(thing, GivesLists)
            if issubclass(thing, Recommender) and not inspect.isabstract(thing) and scores:
                found.add(thing)
    return sorted(found, key=lambda thing: thing.__name__)


def build(kind):
    wanted = inspect.signature(kind).parameters
    return kind(**{name: value for name, value in SMALL.items() if name in wanted})


def fit(kind, train, seed=0):
    return build(kind).fit(train, rng=np.random.default_rng(seed))


def timed(train):
    """Give the rows times over a month, for models that look at them."""
    return replace(train, timestamp=(train.user + train.item) % 30 * 86_400)


@pytest.fixture
def checkerboard():
    train, withheld = make_checkerboard()
    return timed(train), withheld


every_model = pytest.mark.parametrize("kind", all_models(), ids=lambda kind: kind.__name__)


@every_model
def test_every_setting_is_checked(kind):
    for setting in fields(kind):
        with pytest.raises(ConfigError, match=f"^{kind.__name__}: {setting.name}"):
            kind(**{setting.name: object()})


@every_model
def test_scores_have_shape_and_dtype_and_can_be_written_to(kind, checkerboard):
    """The mask is written into the scores, so a model must not hand out its own arrays."""
    train, before = checkerboard[0], checkerboard[0].sha256()
    model, users = build(kind), np.array([3, 0, 5], dtype=np.int32)
    assert model.fit(train, rng=np.random.default_rng(0)) is model
    scores = model.score(users)
    assert scores.shape == (3, train.n_items)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    model.score(users)[:] = -1
    assert np.array_equal(model.score(users), scores)
    assert train.sha256() == before


@every_model
def test_scoring_before_fit_is_refused(kind):
    with pytest.raises(NotFittedError, match="fit"):
        build(kind).score(np.array([0], dtype=np.int32))


@every_model
def test_factors_give_the_scores(kind, checkerboard):
    model, users = fit(kind, checkerboard[0]), np.arange(6, dtype=np.int32)
    factors = model.factors()
    if factors is not None:
        product = factors.user[users].astype(np.float64) @ factors.item.T.astype(np.float64)
        np.testing.assert_allclose(model.score(users), product, rtol=1e-4, atol=1e-5)


@every_model
def test_users_and_items_without_rows_can_be_scored(kind):
    train = timed(make_checkerboard(12, 12)[0])
    wider = replace(train, user_ids=np.arange(14), item_ids=np.arange(15))
    scores = fit(kind, wider).score(np.array([0, 13], dtype=np.int32))
    assert scores.shape == (2, 15)
    assert np.isfinite(scores).all()


def of_taste(*, ratings):
    """The models that learn a user's taste, from rows alone or from ratings."""
    # Bias adds a part of the user and one of the item: who likes what else does not count
    without = {"Random", "RandomRating", "Popularity", "Bias"}
    found = [kind for kind in all_models() if issubclass(kind, RatingPredictor) == ratings]
    return pytest.mark.parametrize(
        "kind", [k for k in found if k.__name__ not in without], ids=lambda kind: kind.__name__
    )


@of_taste(ratings=False)
def test_the_withheld_item_comes_first(kind, checkerboard):
    train, withheld = checkerboard
    lists = recommend(fit(kind, train), np.arange(40, dtype=np.int32), 1, excluded=train.to_csr())
    assert np.array_equal(lists.items[:, 0], withheld)


@of_taste(ratings=True)
def test_the_withheld_item_of_the_users_colour_is_rated_higher(kind):
    """Users rate their own colour 5 and the other one 1; each has yet to rate an item of both."""
    user, item = (grid.ravel() for grid in np.meshgrid(np.arange(40), np.arange(40), indexing="ij"))
    own, other = user % 40, (user + 1) % 40
    kept = (item != own) & (item != other)
    value = np.where(user % 2 == item % 2, 5.0, 1.0)[kept]
    train = Interactions(user[kept], item[kept], value, None, np.arange(40), np.arange(40))
    scores = fit(kind, timed(train)).score(np.arange(40, dtype=np.int32))
    users = np.arange(40)
    assert (scores[users, users] > scores[users, (users + 1) % 40] + 1.0).all()


@pytest.mark.parametrize(
    "kind", [k for k in all_models() if issubclass(k, RatingPredictor)], ids=lambda kind: kind.__name__
)
def test_ratings_may_all_be_equal(kind, checkerboard):
    """As in purchases, where every row has the same weight."""
    train = replace(checkerboard[0], value=np.full(len(checkerboard[0]), 3.0, np.float32))
    predictions = predict_ratings(fit(kind, train), train, (3.0, 3.0))
    assert (predictions.predicted == 3.0).all()


@every_model
def test_blocks_threads_and_the_order_of_users_change_no_list(kind):
    train = timed(make_checkerboard(60, 300)[0])
    model, users = fit(kind, train), np.arange(60, dtype=np.int32)
    lists = recommend(model, users, 5, excluded=train.to_csr())
    order = np.random.default_rng(5).permutation(users)
    others = recommend(model, order, 5, excluded=train.to_csr(), memory_mib=1, n_threads=1)
    assert np.array_equal(others.items, lists.items[order])
    assert np.array_equal(others.scores, lists.scores[order])


@every_model
def test_permuted_items_have_permuted_scores(kind):
    rng = np.random.default_rng(11)
    user, item = np.nonzero(rng.random((30, 24)) < 0.3)
    value = rng.integers(1, 6, len(user)).astype(np.float64)
    rows = Interactions(user, item, value, None, np.arange(30), np.arange(24))
    train, users = timed(rows), np.arange(30, dtype=np.int32)
    scores = fit(kind, train).score(users)
    if not np.array_equal(scores, fit(kind, train, seed=1).score(users)):
        pytest.skip("what is drawn at the start belongs to positions, so another order is another draw")
    place = rng.permutation(24)
    moved = replace(train, item=place[train.item].astype(train.item.dtype))
    np.testing.assert_allclose(fit(kind, moved).score(users)[:, place], scores, rtol=1e-3, atol=1e-4)


@every_model
def test_saved_and_loaded_it_gives_the_same_lists(kind, checkerboard, tmp_path):
    train, _ = checkerboard
    model, seen = fit(kind, train), CandidateItems(excluded=train.to_csr())
    SavedModel(model, train.user_ids, train.item_ids, seen).save(tmp_path / "model")
    again = SavedModel.load(tmp_path / "model")
    users = np.arange(train.n_users, dtype=np.int32)
    lists = recommend(model, users, 5, candidates=seen)
    loaded = again.lists(train.user_ids, 5)
    assert np.array_equal(loaded.items, lists.items)
    assert np.array_equal(loaded.scores, lists.scores)


@pytest.mark.parametrize(
    "kind", [k for k in all_models() if hasattr(k, "with_histories")], ids=lambda kind: kind.__name__
)
def test_lists_follow_the_histories_given_and_no_code_of_a_user(kind, checkerboard):
    train, users = checkerboard[0], np.array([9, 5], np.int32)
    model = fit(kind, train)
    scores = model.score(users)
    rows = train.take(np.isin(train.user, users))
    asked = replace(rows, user=(rows.user == 5).astype(np.int32), user_ids=np.array(["nine", "five"]))
    assert np.array_equal(model.with_histories(asked).score(np.array([0, 1], np.int32)), scores)
    assert np.array_equal(model.score(users), scores)


@pytest.mark.parametrize(
    "kind", [k for k in all_models() if issubclass(k, EpochModel)], ids=lambda kind: kind.__name__
)
def test_between_epochs_it_is_the_model_of_fewer_epochs(kind, checkerboard):
    def of_epochs(n):
        model = build(kind)
        model.n_epochs = n
        return model

    train, users = checkerboard[0], np.arange(10, dtype=np.int32)
    model, losses, scores = of_epochs(3), [], []
    for loss in model.epochs(train, rng=np.random.default_rng(3)):
        losses.append(loss)
        scores.append(model.score(users))
    assert len(losses) == 3
    assert np.isfinite(losses).all()
    for n, found in enumerate(scores, 1):
        fewer = of_epochs(n).fit(train, rng=np.random.default_rng(3))
        assert np.array_equal(found, fewer.score(users))


@every_model
def test_fitted_again_it_forgets_the_first_rows(kind, checkerboard):
    train, users = checkerboard[0], np.arange(10, dtype=np.int32)
    model = fit(kind, train.take(np.arange(len(train) // 2)))
    model.fit(train, rng=np.random.default_rng(3))
    assert np.array_equal(model.score(users), fit(kind, train, seed=3).score(users))
