"""From actual and predicted ratings to numbers: every rating metric, pooled or per user."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.conventions import canonical_name, standard_metric, standard_metrics
from recgauge.errors import ConfigError, MetricError, SchemaError
from recgauge.evaluation import Evaluation, MetricResult, mean_and_stderr
from recgauge.evaluation.predict import RatingPredictions
from recgauge.metrics import check_suite
from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.utils.checks import DoubleArray, read_only

Metrics = Iterable[str | RatingMetric] | Mapping[str, RatingMetric]


def evaluate_ratings(
    actual: npt.ArrayLike,
    predicted: npt.ArrayLike,
    *,
    users: npt.ArrayLike | None = None,
    metrics: Metrics = ("mae", "rmse"),
) -> Evaluation:
    """Measure predicted ratings from anywhere against the actual ones.

    Parameters
    ----------
    actual, predicted : array-like of float, shape (n,)
        Ratings of the same rows, finite, at least one.
    users : array-like, shape (n,), optional
        Id of the user of each row; metrics per user need it.
    metrics : iterable of str or RatingMetric, or mapping of str to RatingMetric
        Names with default parameters (mae, mse, rmse, minkowski, median_absolute_error, r2, pearson,
        spearman, kendall, fcp, liked_score), metrics with their own, or a suite with names of your choice.

    Returns
    -------
    Evaluation
        `values()` has keys without a cutoff, such as ``rmse``. `per_user(key)` is there for metrics with
        ``aggregate="user"``. `counts` says how many users a metric left out as undefined.

    Raises
    ------
    ConfigError
        If a metric is unknown, or needs users that are not given.
    SchemaError
        If `actual`, `predicted` and `users` differ in length, are empty or hold missing values.
    MetricError
        If a metric is undefined for all users.

    Examples
    --------
    >>> evaluation = evaluate_ratings([4, 2, 5], [3, 2, 3], users=["ann", "ann", "bob"])
    >>> evaluation.values()
    {'mae': 1.0, 'rmse': 1.2909944487358056}
    >>> from recgauge.metrics import MAE
    >>> by_user = {"mae_user": MAE(aggregate="user")}
    >>> evaluate_ratings(
    ...     [4, 2, 5], [3, 2, 3], users=["ann", "ann", "bob"], metrics=by_user
    ... ).per_user("mae_user").tolist()
    [0.5, 2.0]
    """
    suite = _suite(metrics)
    columns = _ratings("actual", actual), _ratings("predicted", predicted)
    if len(columns[0]) != len(columns[1]):
        raise SchemaError(
            f"predicted must have one rating for each of the {len(columns[0])} of actual, "
            f"got {len(columns[1])}."
        )
    if users is None:
        judged = JudgedRatings(*columns, np.array([0, len(columns[0])]))
        return _evaluate(suite, judged, None, {})
    user_ids, owner = _users(users, len(columns[0]))
    return _evaluate(suite, JudgedRatings.by_user(*columns, owner), user_ids, {})


def evaluate_predictions(
    metrics: Mapping[str, RatingMetric], predictions: RatingPredictions, user_ids: npt.NDArray[Any]
) -> Evaluation:
    """Measure what `recgauge.evaluation.predict.predict_ratings` returned.

    Parameters
    ----------
    metrics : mapping of str to RatingMetric
        Result name to definition.
    predictions : RatingPredictions
    user_ids : ndarray
        Ids of all user codes.

    Returns
    -------
    Evaluation
        `counts` also says what was impossible, partly unknown or clipped.

    Raises
    ------
    ConfigError
        If a name cannot be used.
    MetricError
        If a metric is undefined for all users.
    """
    users, owner = np.unique(predictions.user, return_inverse=True)
    judged = JudgedRatings.by_user(
        predictions.actual.astype(np.float64), predictions.predicted.astype(np.float64), owner
    )
    return _evaluate(_suite(metrics), judged, user_ids[users], predictions.counts())


def _evaluate(
    suite: Mapping[str, RatingMetric],
    judged: JudgedRatings,
    user_ids: npt.NDArray[Any] | None,
    counts: Mapping[str, int],
) -> Evaluation:
    results = tuple(_result(key, metric, judged, user_ids is not None) for key, metric in suite.items())
    ids = np.array([], dtype=np.int64) if user_ids is None else user_ids
    undefined = {
        f"users_undefined_{result.key}": int(np.isnan(result.per_user).sum())
        for result in results
        if result.per_user is not None
    }
    rows = {"ratings_evaluated": len(judged.actual), "users_evaluated": len(ids)}
    return Evaluation(ids, results, rows | dict(counts) | {k: n for k, n in undefined.items() if n})


def _result(key: str, metric: RatingMetric, judged: JudgedRatings, has_users: bool) -> MetricResult:
    if not has_users and (metric.needs_users or metric.aggregate == "user"):
        raise ConfigError(f"{key}: {metric.definition()} is a metric of users; pass users=, one id per row.")
    per_user = metric.per_group(judged) if metric.aggregate == "user" else None
    value = metric.value(judged)
    if not np.isfinite(value):
        raise MetricError(
            f"{key}: {metric.definition()} is undefined for these {len(judged.actual)} ratings, such as "
            "a correlation where all are equal. Leave it out, or evaluate more ratings."
        )
    stderr, n_users = None, len(judged.counts)
    if per_user is not None:
        defined = per_user[~np.isnan(per_user)]
        stderr, n_users, per_user = mean_and_stderr(defined)[1], len(defined), read_only(per_user)
    return MetricResult(
        key=key,
        name=key,
        k=None,
        value=value,
        stderr=stderr,
        per_user=per_user,
        definition=metric.definition(),
        higher_is_better=metric.higher_is_better,
        n_users=n_users,
        pooled=metric.pooled(judged) if has_users else None,
    )


def _suite(metrics: Metrics) -> dict[str, RatingMetric]:
    if isinstance(metrics, Mapping):
        suite = dict(metrics)
    else:
        chosen = [_metric(metric) for metric in ([metrics] if isinstance(metrics, str) else metrics)]
        suite = {metric.name: metric for metric in chosen}
        if len(suite) < len(chosen):
            raise ConfigError(
                "metrics: two share a name; pass a mapping that names each, such as "
                '{"mae": MAE(), "mae_user": MAE(aggregate="user")}.'
            )
    for name, metric in check_suite(suite).items():
        if not isinstance(metric, RatingMetric):
            raise ConfigError(f"metrics: {name} must be a rating metric, got {type(metric).__name__}.")
    return suite


def rating_metrics() -> dict[str, RatingMetric]:
    """Return every rating metric by name, each with its default parameters."""
    return {name: metric for name, metric in standard_metrics().items() if isinstance(metric, RatingMetric)}


def _metric(metric: str | RatingMetric) -> RatingMetric:
    if not isinstance(metric, str):
        return metric
    found = standard_metric(metric)
    if isinstance(found, RatingMetric):
        return found
    problem = "is unknown"
    if found is not None or standard_metric(canonical_name(metric)) is not None:
        problem = "does not measure predicted ratings; recgauge.evaluate measures ranked lists"
    raise ConfigError(f"metrics: {metric!r} {problem}. Rating metrics are {', '.join(rating_metrics())}.")


def _ratings(name: str, values: npt.ArrayLike) -> DoubleArray:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"{name} must be an array of numbers, got {type(values).__name__}.") from error
    if column.ndim != 1 or len(column) == 0:
        raise SchemaError(f"{name} must be one column with at least one rating, got shape {column.shape}.")
    if not np.isfinite(column).all():
        row = int(np.flatnonzero(~np.isfinite(column))[0])
        raise SchemaError(f"{name} must be finite, got {column[row]} in row {row}; drop or fill such rows.")
    return column


def _users(users: npt.ArrayLike, n_rows: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    column = np.asarray(users)
    if column.shape != (n_rows,):
        raise SchemaError(f"users must have one id for each of the {n_rows} ratings, got {column.shape}.")
    if (column != column).any():
        raise SchemaError("users must not hold missing ids (NaN).")
    try:
        ids, owner = np.unique(column, return_inverse=True)
    except TypeError as error:
        raise SchemaError("users must be ids of one sortable type, without missing ones.") from error
    return ids, owner.astype(np.int64)
