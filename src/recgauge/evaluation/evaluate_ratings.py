"""Predicted ratings and the held-out ones, and every rating metric of them, pooled or per user."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.conventions import STANDARD, Definition
from recgauge.data.columns import aligned, numbers
from recgauge.data.ids import IdArray, as_ids, encode
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError, MetricError, SchemaError, ScoreError
from recgauge.evaluation import Evaluation, MetricResult, mean_and_stderr
from recgauge.evaluation.evaluate import Metrics, select_metrics
from recgauge.metrics import Metric
from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.models import RatingPredictor
from recgauge.utils.checks import (
    BoolArray,
    DoubleArray,
    FloatArray,
    IntArray,
    LongArray,
    check_real,
    read_only,
)


@dataclass(frozen=True, slots=True, eq=False)
class RatingPredictions:
    """Held-out ratings and what a model predicted for them, row by row.

    Parameters
    ----------
    user, item : ndarray of int32, shape (n,)
        Codes.
    actual, predicted : ndarray of float32, shape (n,)
        Finite; predictions are on the scale.
    impossible : ndarray of bool, shape (n,)
        True where the model had nothing to go by, so that the mean of the training ratings is used instead.
    partly_unknown : ndarray of bool, shape (n,)
        True where only the user or only the item has training ratings.
    n_clipped : int
        Predictions that were moved onto the scale.
    """

    user: IntArray
    item: IntArray
    actual: FloatArray
    predicted: FloatArray
    impossible: BoolArray
    partly_unknown: BoolArray
    n_clipped: int = 0

    def __len__(self) -> int:
        return len(self.user)

    def counts(self) -> dict[str, int]:
        """Return how many rows there are, and how many were impossible, partly unknown or clipped."""
        return {
            "ratings_predicted": len(self),
            "ratings_impossible": int(self.impossible.sum()),
            "ratings_partly_unknown": int(self.partly_unknown.sum()),
            "ratings_clipped": self.n_clipped,
        }


def predict_ratings(
    model: object, held_out: Interactions, scale: tuple[float, float] | None
) -> RatingPredictions:
    """Predict every held-out rating, clip to the scale and count what the model did not know.

    Parameters
    ----------
    model : RatingPredictor
        Fitted on interactions over the same ids.
    held_out : Interactions
        Test or validation rows; their values are the actual ratings.
    scale : (float, float) or None
        Lowest and highest rating; None: predictions are left as they are.

    Returns
    -------
    RatingPredictions
        In the order of `held_out`.

    Raises
    ------
    ConfigError
        If the model predicts no ratings, or the scale is not a low and a high number.
    EmptySplitError
        If there is nothing to predict.
    SchemaError
        If the model was fitted over other ids.
    ScoreError
        If predictions have a wrong shape or are infinite.

    Examples
    --------
    >>> from recgauge.models.bias import Bias
    >>> train = Interactions.from_ids(["a", "a", "b"], ["x", "y", "x"], [5.0, 3.0, 4.0])
    >>> model = Bias(method="user_mean").fit(train, rng=np.random.default_rng(0))
    >>> predict_ratings(model, train, (1.0, 5.0)).predicted.tolist()
    [4.0, 4.0, 4.0]
    """
    if not isinstance(model, RatingPredictor):
        raise ConfigError(
            f"Rating metrics: model {type(model).__name__} ranks items but predicts no ratings. "
            "Choose a rating predictor, such as model=bias or model=biased_mf, or measure lists: "
            "metrics=ranking."
        )
    if scale is not None:
        if len(scale) != 2:
            raise ConfigError(f"scale must be the lowest and the highest rating, got {scale!r}.")
        low = check_real("scale: the lowest rating", scale[0], low=-np.inf, high=np.inf)
        check_real("scale: the highest rating", scale[1], low=low, high=np.inf)
    if len(held_out) == 0:
        raise EmptySplitError("No rating can be predicted: the held-out part has no rows. Hold out more.")
    trained = model.training()
    if (len(trained.users), len(trained.items)) != (held_out.n_users, held_out.n_items):
        raise SchemaError(
            f"predict_ratings: the model was fitted over {len(trained.users)} users and {len(trained.items)} "
            f"items, held_out is over {held_out.n_users} and {held_out.n_items}; use parts of one split."
        )
    raw = _raw_predictions(model, held_out)
    n_trained = trained.users[held_out.user].astype(np.int8) + trained.items[held_out.item]
    impossible = np.isnan(raw) | (n_trained == 0)
    filled = np.where(impossible, np.float32(trained.mean), raw).astype(np.float32)
    clipped = filled if scale is None else np.clip(filled, np.float32(scale[0]), np.float32(scale[1]))
    return RatingPredictions(
        held_out.user,
        held_out.item,
        held_out.value,
        clipped,
        impossible,
        (n_trained == 1) & ~impossible,
        int((clipped != filled).sum()),
    )


def _raw_predictions(model: RatingPredictor, held_out: Interactions) -> npt.NDArray[Any]:
    """Return what a model predicts for each row, finite or NaN; a model may be anybody's."""
    raw, name = model.predict(held_out.user, held_out.item), type(model).__name__
    if not isinstance(raw, np.ndarray) or raw.dtype.kind not in "fiu":
        kind = raw.dtype if isinstance(raw, np.ndarray) else type(raw).__name__
        raise ScoreError(f"{name}: predict must return an array of numbers, got {kind}.")
    if raw.shape != (len(held_out),):
        raise ScoreError(f"{name}: predict must return shape ({len(held_out)},), got {raw.shape}.")
    if np.isinf(raw).any():
        raise ScoreError(f"{name}: predictions must be finite, or NaN where impossible; got infinity.")
    return raw


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
        Ratings of the same rows, finite, at least one. Series of pandas are paired by their indexes, which
        must hold the same labels; arrays and lists by place.
    users : array-like, shape (n,), optional
        Id of the user of each row, likewise; metrics per user need it.
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
        If `actual`, `predicted` and `users` differ in length or in their indexes, are empty or hold missing
        values.
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
    suite = select_metrics(metrics, STANDARD)
    named = {"actual": actual, "predicted": predicted} | ({} if users is None else {"users": users})
    by_row = aligned(named)
    columns = _ratings("actual", by_row["actual"]), _ratings("predicted", by_row["predicted"])
    if len(columns[0]) != len(columns[1]):
        raise SchemaError(
            f"predicted must have one rating for each of the {len(columns[0])} of actual, "
            f"got {len(columns[1])}."
        )
    if users is None:
        judged = JudgedRatings(*columns, np.array([0, len(columns[0])]))
        return _evaluate(suite, judged, None, {})
    user_ids, owner = _users(by_row["users"], len(columns[0]))
    return _evaluate(suite, JudgedRatings.by_user(*columns, owner), user_ids, {})


def evaluate_predictions(
    metrics: Mapping[str, Definition], predictions: RatingPredictions, user_ids: npt.NDArray[Any]
) -> Evaluation:
    """Measure what `recgauge.evaluation.evaluate_ratings.predict_ratings` returned.

    Parameters
    ----------
    metrics : mapping of str to Definition
        Result name to a `RatingMetric`.
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
    if users.max(initial=-1) >= len(user_ids):
        raise SchemaError(f"predictions: user code {users.max()} has no id; there are {len(user_ids):,}.")
    judged = JudgedRatings.by_user(
        predictions.actual.astype(np.float64), predictions.predicted.astype(np.float64), owner
    )
    return _evaluate(metrics, judged, user_ids[users], predictions.counts())


def _evaluate(
    suite: Mapping[str, Definition],
    judged: JudgedRatings,
    user_ids: npt.NDArray[Any] | None,
    counts: Mapping[str, int],
) -> Evaluation:
    results = tuple(_result(key, each.metric, judged, user_ids is not None) for key, each in suite.items())
    ids = np.array([], dtype=np.int64) if user_ids is None else user_ids
    undefined = {
        f"users_undefined_{result.key}": int(np.isnan(result.per_user).sum())
        for result in results
        if result.per_user is not None
    }
    rows = {"ratings_evaluated": len(judged.actual), "users_evaluated": len(ids)}
    return Evaluation(ids, results, rows | dict(counts) | {k: n for k, n in undefined.items() if n})


def _result(key: str, metric: Metric, judged: JudgedRatings, has_users: bool) -> MetricResult:
    if not isinstance(metric, RatingMetric):
        raise ConfigError(
            f"metrics: {key!r} does not measure predicted ratings; recgauge.evaluate measures lists."
        )
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
    pooled = metric.pooled(judged) if has_users else None
    definition, better = metric.definition(), metric.higher_is_better
    return MetricResult(key, key, None, value, stderr, per_user, definition, better, n_users, pooled)


def _ratings(name: str, values: npt.ArrayLike) -> DoubleArray:
    column = numbers(name, values)
    if column.ndim != 1 or len(column) == 0:
        raise SchemaError(f"{name} must be one column with at least one rating, got shape {column.shape}.")
    return column


def _users(users: npt.ArrayLike, n_rows: int) -> tuple[IdArray, LongArray]:
    column = as_ids("users", users)
    if column.shape != (n_rows,):
        raise SchemaError(f"users must have one id for each of the {n_rows} ratings, got {column.shape}.")
    ids, (owner,) = encode([column], in_order=False)
    return ids, owner.astype(np.int64)
