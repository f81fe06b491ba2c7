"""Errors over all ratings: their bootstrap over users, paired, against plain numpy."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recgauge import evaluate_ratings
from recgauge.comparison import Procedure, Rounded, RunValues, UserValues, compare, compare_values, read_run
from recgauge.comparison.resampling import bootstrap_means, bootstrap_pooled
from recgauge.errors import ConfigError, SchemaError
from recgauge.metrics.rating import Pooled
from records import metric, record_with

USERS = 120


@pytest.fixture
def rows(rng):
    """Users with 1 to 30 ratings each, and errors of two models that depend on the user."""
    users = np.repeat(np.arange(USERS), rng.integers(1, 31, USERS))
    difficulty = rng.gamma(2.0, 0.3, USERS)[users]
    actual = rng.integers(1, 6, len(users)).astype(float)
    errors = {name: difficulty * rng.normal(shift, 1.0, len(users)) for name, shift in (("a", 0), ("b", 0.3))}
    return users, actual, {name: actual + error for name, error in errors.items()}


def by_user(users, powers):
    return np.bincount(users, weights=powers, minlength=USERS)


def evaluations(rows):
    users, actual, predicted = rows
    suite = ["rmse", "mae", "mse"]
    return {
        name: evaluate_ratings(actual, each, users=users, metrics=suite) for name, each in predicted.items()
    }


def test_numbers_intervals_and_pairs_are_those_of_plain_numpy(rows):
    users, actual, predicted = rows
    found = compare(evaluations(rows), n_resamples=2000, interval="percentile", tests=("t", "bootstrap"))
    counts = by_user(users, np.ones(len(users)))
    # the weights of every sample: means of one column for each user
    weights = bootstrap_means(Rounded.of(np.eye(USERS)[None]), 2000, 0)[:, 0] * USERS
    assert weights.sum(axis=1) == pytest.approx(np.full(2000, USERS))
    for key, power, root in (("rmse", 2, 0.5), ("mae", 1, 1.0), ("mse", 2, 1.0)):
        result = found.result(key)
        sums = {name: by_user(users, np.abs(actual - each) ** power) for name, each in predicted.items()}
        drawn = {name: ((weights @ each) / (weights @ counts)) ** root for name, each in sums.items()}
        for name, each in sums.items():
            row = result.row(name)
            assert row.mean == pytest.approx((each.sum() / counts.sum()) ** root, rel=1e-12)
            assert (row.low, row.high) == pytest.approx(np.quantile(drawn[name], [0.025, 0.975]), rel=1e-8)
        pair = result.pair("a", "b")
        sign = 1 if pair.a == "a" else -1
        differences = sign * (drawn["a"] - drawn["b"])
        assert (pair.low, pair.high) == pytest.approx(np.quantile(differences, [0.025, 0.975]), rel=1e-7)
        assert pair.stderr == pytest.approx(
            differences.std(), rel=0.06
        )  # the delta method beside the bootstrap
        own = {name: (each / counts) ** root for name, each in sums.items()}
        assert pair.better == np.mean(own[pair.a] < own[pair.b])
        assert result.over_rows
        assert not result.higher_is_better


def test_folds_are_pooled_each_and_then_averaged(rng):
    sums, counts = rng.random((2, 50)) * 9, rng.integers(1, 9, (2, 50)).astype(float)

    def run(factor):
        parts = [Pooled(sums[f] * factor, counts[f], 0.5) for f in (0, 1)]
        return [
            RunValues(np.arange(50), {"rmse": part.per_user()}, fold=f, pooled={"rmse": part})
            for f, part in enumerate(parts)
        ]

    (result,) = compare_values(
        [UserValues.of({"a": run(1.0), "b": run(1.21)})], Procedure(n_resamples=300)
    ).results
    numbers = np.sqrt(sums.sum(axis=1) / counts.sum(axis=1))
    assert result.row("a").mean == pytest.approx(numbers.mean(), rel=1e-12)
    assert result.row("a").repeats.means == pytest.approx(numbers)
    assert result.row("b").mean == pytest.approx(1.1 * numbers.mean(), rel=1e-12)
    assert result.pairs[0].p_folds is not None
    drawn, observed = bootstrap_pooled([Pooled(sums, counts, 0.5)], 100, 0)
    assert drawn.shape == (100, 1)
    assert observed[0] == pytest.approx(numbers.mean(), rel=1e-9)


def test_a_pooled_error_is_not_compared_with_values_per_user(rows):
    pooled = evaluations(rows)["a"]
    frame = RunValues(np.arange(USERS), {"rmse": np.ones(USERS)})
    with pytest.raises(ConfigError, match=r"rmse of a is over all ratings.*Give all runs in one way"):
        compare({"a": pooled, "b": frame}, metrics=["rmse"])


def test_a_stored_run_has_them_from_its_predictions(rows, tmp_path):
    users, actual, predicted = rows
    columns = {"user_id": users, "rating": actual, "predicted": predicted["a"]}
    pq.write_table(pa.table(columns), tmp_path / "predictions.parquet")
    pq.write_table(pa.table({"user_id": np.arange(USERS)[::-1]}), tmp_path / "per_user.parquet")
    value = float(np.sqrt(np.mean((actual - predicted["a"]) ** 2)))

    def recorded(value):
        entry = metric("rmse", None, value, definition="RMSE(aggregate=pooled)", higher_is_better=False)
        (tmp_path / "record.json").write_text(record_with(entry).to_json(), encoding="utf-8")
        return read_run(tmp_path)

    run = recorded(value)
    assert float(run.pooled["rmse"].value()) == pytest.approx(value, rel=1e-12)
    alone = {"rmse": evaluations(rows)["a"].results[0].pooled.per_user()[::-1]}
    assert run.values["rmse"] == pytest.approx(alone["rmse"])
    with pytest.raises(SchemaError, match=r"predictions.parquet: rmse of its rows is .* damaged"):
        recorded(value + 1e-6)
