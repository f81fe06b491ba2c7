import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models.slope_one import SlopeOne


@pytest.fixture
def train():
    """Ratings of distinct pairs; the last user and the last item have none."""
    rng = np.random.default_rng(5)
    user, item = np.nonzero(rng.random((29, 19)) < 0.15)
    value = rng.integers(1, 11, len(user)) / 2
    rows = Interactions(user, item, value, None, np.arange(30), np.arange(20))
    return rows.take(rng.permutation(len(rows)))


def fit(train):
    return SlopeOne().fit(train, rng=np.random.default_rng(0))


def by_definition(rows, served):
    """All predictions for the users of `served`, by loops."""
    ratings, theirs = ({} for _ in range(2))
    for table, source in ((ratings, rows), (theirs, served)):
        for user, item, value in zip(source.user, source.item, source.value, strict=True):
            table.setdefault(int(user), {})[int(item)] = float(value)
    predicted = np.full((rows.n_users, rows.n_items), np.nan)
    for u, own in theirs.items():
        for i in set(map(int, rows.item)):
            deviations = []
            for j in own:
                both = [known[i] - known[j] for known in ratings.values() if i in known and j in known]
                deviations += [np.mean(both)] if both else []
            predicted[u, i] = np.mean(list(own.values())) + (np.mean(deviations) if deviations else 0.0)
    return predicted


def test_predictions_are_those_of_the_definition(train):
    users, items = (codes.ravel() for codes in np.mgrid[:30, :20])
    predicted = fit(train).predict(users.astype(np.int32), items.astype(np.int32)).reshape(30, 20)
    np.testing.assert_allclose(predicted, by_definition(train, train), rtol=1e-6)


def test_scores_are_predictions_and_the_users_mean_for_unknown_items(train):
    expected = by_definition(train, train)
    means = [(train.value[train.user == u] if u in train.user else train.value).mean() for u in range(30)]
    expected = np.where(np.isnan(expected), np.array(means)[:, None], expected)
    np.testing.assert_allclose(fit(train).score(np.arange(30, dtype=np.int32)), expected, rtol=1e-6)


def test_memory_that_cannot_be_had_is_refused():
    rows = Interactions([0], [0], [1.0], None, np.arange(1), np.arange(10_000_000))
    with pytest.raises(FitError, match=r"SlopeOne: deviations between 10,000,000 items need .*n_core"):
        fit(rows)
