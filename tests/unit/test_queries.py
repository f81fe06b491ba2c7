"""Several queries of a user: means and their spread, against numpy and against what comparisons take."""

import numpy as np
import pytest

from recgauge.comparison.user_values import UserValues
from recgauge.evaluation import Evaluation, MetricResult
from recgauge.evaluation.queries import of_users
from recgauge.runs.finished import RunValues

KEY = "hit_rate_at_5"


def queries(values, owner):
    entry = MetricResult(
        KEY, "hit_rate", 5, float(values.mean()), None, values, "HitRate()@5", True, len(owner)
    )
    return Evaluation(np.arange(len(owner)), (entry,), {"users_evaluated": len(owner)})


def evaluated(values, owner, average):
    n_users = int(owner.max()) + 1
    names = np.array([f"u{code}" for code in range(n_users)])
    return of_users(queries(values, owner), owner, names, average, n_users)


@pytest.fixture
def drawn(rng):
    """Users whose number of queries is far from equal, and whose hits come together."""
    counts = rng.integers(1, 40, 60)
    owner = np.repeat(np.arange(60, dtype=np.int32), counts)
    rate = rng.random(60)
    return [(rng.random(len(owner)) < rate[owner]).astype(float) for _ in range(2)], owner


def test_the_spread_is_that_of_samples_of_users(drawn, rng):
    (values, _), owner = drawn
    (over_queries,), (over_users,) = (evaluated(values, owner, by).results for by in ("query", "user"))
    sums, counts = np.bincount(owner, values), np.bincount(owner)
    assert over_queries.value == values.mean()
    assert over_users.value == pytest.approx((sums / counts).mean(), abs=1e-15)
    samples = rng.integers(60, size=(20_000, 60))
    assert over_queries.stderr == pytest.approx(
        np.std(sums[samples].sum(axis=1) / counts[samples].sum(axis=1)), rel=0.05
    )
    assert over_users.stderr == pytest.approx(np.std((sums / counts)[samples].mean(axis=1)), rel=0.05)
    alone = values.std(ddof=1) / np.sqrt(len(values))
    assert over_queries.stderr > 2 * alone  # queries of a user are alike


def test_comparisons_take_the_number_its_spread_and_each_users_own_mean(drawn):
    values, owner = drawn
    runs = {}
    for name, own in zip("ab", values, strict=True):
        evaluation = evaluated(own, owner, "query")
        (result,) = evaluation.results
        runs[name] = RunValues(evaluation.users, {KEY: result.per_user}, pooled={KEY: result.pooled})
        counts, sums = np.bincount(owner), np.bincount(owner, own)
        assert result.per_user.tolist() == (sums / counts).tolist()
        assert evaluation.counts["queries_evaluated"] == len(owner)
        assert evaluation.counts["users_evaluated"] == 60
    table = UserValues.of(runs)
    for row, own in enumerate(values):
        shares = table.contributions[0, row]
        (result,) = evaluated(own, owner, "query").results
        assert shares.mean() == pytest.approx(own.mean(), abs=1e-12)
        assert shares.std(ddof=1) / np.sqrt(60) == pytest.approx(result.stderr, rel=1e-9)
