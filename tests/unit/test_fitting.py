from dataclasses import dataclass, is_dataclass
from typing import get_args

import numpy as np
import pytest

from recgauge import models
from recgauge.data.catalogue import Catalogue
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, ModelError
from recgauge.models import Recommender
from recgauge.models.bias import Bias, Method
from recgauge.models.recommend import fit
from recgauge.models.recorded import Recorded
from recgauge.models.svd import SVD
from recgauge.splits.folds import StrongGeneralisation
from recgauge.utils.randomness import stream


@pytest.fixture(scope="module")
def held_out(demo):
    rows = demo.interactions
    few = rows.take((rows.user < 400) & (rows.item < 500))
    rows = Interactions(few.user, few.item, few.value, None, np.arange(400), np.arange(500))
    return StrongGeneralisation(n_test=50, n_validation=25).split(rows, rng=stream(0, "split"))


def fitted(model, split):
    return fit(model, split, rng=np.random.default_rng(0))


@dataclass(eq=False)
class Stubborn(Recommender):
    """Cannot serve users whom it was not trained on."""

    def fit(self, train, *, rng):
        pytest.fail("it must be refused before it is trained")

    def score(self, users):
        raise NotImplementedError


def test_a_model_that_cannot_fold_in_is_refused_before_training_with_those_that_can(held_out):
    with pytest.raises(
        ConfigError, match=r"Stubborn cannot serve .* bias, biased_mf, .* popularity, random, .* svd"
    ):
        fitted(Stubborn(), held_out)


class Forgetful(Bias):
    def fit(self, train, *, rng):
        super().fit(train, rng=rng)


def test_a_fit_that_does_not_return_the_model_is_refused_with_what_to_write(held_out):
    with pytest.raises(ModelError, match=r"^Forgetful\.fit returned None; end it with return self\.$"):
        fitted(Forgetful(), held_out)


KINDS = [getattr(models, name) for name in models.__all__]


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in KINDS
        if hasattr(kind, "fold_in")
        and is_dataclass(kind)
        and kind is not Recorded
        and not getattr(kind(), "uses_order", False)  # refused: nothing orders the rows of this split
    ],
)
def test_folding_in_keeps_what_was_learnt(held_out, kind):
    trained = np.unique(held_out.train.user)[:20]
    before = kind().fit(held_out.train, rng=np.random.default_rng(0)).score(trained)
    model = fitted(kind(), held_out)
    assert np.array_equal(model.score(trained), before)
    scores = model.score(held_out.test_users)
    assert scores.shape == (len(held_out.test_users), held_out.train.n_items)
    assert np.isfinite(scores).all()


TURNED = [SVD(values="rating"), SVD(values="binary"), *(Bias(method=method) for method in get_args(Method))]


@pytest.mark.parametrize("model", TURNED, ids=repr)
def test_the_rows_of_trained_users_are_folded_in_as_they_were_trained(demo, model):
    expected = model.fit(demo.interactions, rng=np.random.default_rng(0)).factors().user.copy()
    np.testing.assert_allclose(model.fold_in(demo.interactions).factors().user, expected, atol=1e-3)


def test_fold_in_rows_are_a_users_past_but_not_popularity(held_out):
    catalogue = Catalogue.from_train(held_out.train, fold_in=held_out.fold_in)
    plain = Catalogue.from_train(held_out.train)
    assert np.array_equal(catalogue.train_users, plain.train_users)
    assert np.array_equal(catalogue.train_counts, plain.train_counts)
    user = held_out.test_users[0]
    assert plain.seen[[user]].nnz == 0
    assert catalogue.seen[[user]].nnz == held_out.fold_in.user_counts()[user]
