"""What several models promise alike: settings that are checked, scores that are predictions, users folded in,
nothing that threads change, memory that is told of before work starts.
"""

import numpy as np
import pytest

from recgauge import models
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, FitError
from recgauge.models.bias import Bias
from recgauge.models.biased_mf import BiasedMF
from recgauge.models.bpr import BPR
from recgauge.models.ease import EASE
from recgauge.models.ials import IALS
from recgauge.models.item_knn import ItemKNN
from recgauge.models.p3alpha import P3alpha
from recgauge.models.rp3beta import RP3beta
from recgauge.models.slim import SLIM
from recgauge.models.svd_pp import SVDpp
from recgauge.utils import resources


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (BiasedMF, "n_epochs", 1.5),
        (EASE, "l2", 0),
        (RP3beta, "beta", -0.1),
        (IALS, "nu", 2),
        (ItemKNN, "alpha", -1.5),
    ],
)
def test_settings_out_of_bounds_are_refused_by_name(kind, name, value):
    with pytest.raises(ConfigError, match=f"^{kind.__name__}: {name} must be"):
        kind(**{name: value})


@pytest.mark.parametrize("model", [Bias(), BiasedMF(n_factors=3), SVDpp(n_factors=3)], ids=repr)
def test_scores_are_predictions_and_the_mean_for_the_unknown(model, train):
    model.fit(train, rng=np.random.default_rng(0))
    scores = model.score(np.arange(30, dtype=np.int32))
    predicted = model.predict(train.user, train.item)
    np.testing.assert_allclose(scores[train.user, train.item], predicted, rtol=1e-5)
    assert scores[29, 19] == pytest.approx(train.value.mean(), rel=1e-6)


@pytest.mark.parametrize(
    "model", [BPR(learning_rate=1e20), BiasedMF(learning_rate=5.0), SVDpp(learning_rate=5.0)], ids=repr
)
def test_divergence_is_told_with_the_epoch_and_the_remedy(model, train):
    with pytest.raises(FitError, match=r"diverged in epoch \d+ of .*Lower learning_rate"):
        model.fit(train, rng=np.random.default_rng(0))


SERVED = [EASE(), EASE(max_items=8), ItemKNN(), P3alpha(), RP3beta(), SLIM()]


@pytest.mark.parametrize("model", SERVED, ids=repr)
def test_a_new_user_with_the_rows_of_another_has_their_scores_and_moves_no_others(model, train):
    model.fit(train, rng=np.random.default_rng(0))
    before, own = model.score(np.arange(29, dtype=np.int32)), train.take(train.user == 4)
    new = Interactions(np.full(len(own), 29), own.item, own.value, None, train.user_ids, train.item_ids)
    after = model.fold_in(new).score(np.arange(30, dtype=np.int32))
    assert np.array_equal(after[:29], before)
    np.testing.assert_allclose(after[29], before[4], rtol=1e-6)


SMALL_BLOCKS = {"ials.ROWS_AT_A_TIME": 7, "item_knn.usable_cpus": lambda: 3}
IN_BLOCKS = [IALS(5, 3), ItemKNN(k=7), P3alpha(top_k=20), RP3beta(top_k=20), SLIM()]


@pytest.mark.parametrize("model", IN_BLOCKS, ids=repr)
def test_threads_and_blocks_change_no_bit(model, part, monkeypatch):
    users = np.arange(300, dtype=np.int32)
    monkeypatch.setattr(resources, "usable_cpus", lambda: 1)
    whole = model.fit(part, rng=np.random.default_rng(0)).score(users)
    monkeypatch.setattr(resources, "usable_cpus", lambda: 3)
    for name, value in SMALL_BLOCKS.items():
        monkeypatch.setattr(f"recgauge.models.{name}", value)
    assert np.array_equal(model.fit(part, rng=np.random.default_rng(0)).score(users), whole)


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (
            EASE(),
            r"EASE: weights of 1,500 x 1,500 items need 9,000,000 bytes \(9 MB\).*1 MB can be had.*max_items",
        ),
        (SLIM(), "SLIM: pairs of 1,500 items need .* bytes"),
        (P3alpha(), "P3alpha: weights of 1,500 items need 3,600,000 bytes.*top_k"),
        (RP3beta(), "RP3beta: weights of 1,500 items need 3,600,000 bytes.*top_k"),
    ],
)
def test_memory_that_is_not_there_is_told_before_work_starts(model, told, demo, monkeypatch):
    monkeypatch.setattr(models, "free_memory", lambda: 1_000_000)
    with pytest.raises(FitError, match=told):
        model.fit(demo.interactions, rng=np.random.default_rng(0))
