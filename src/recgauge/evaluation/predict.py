"""Predicted ratings and the held-out ones, made once for all rating metrics."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError, SchemaError, ScoreError
from recgauge.models import RatingPredictor
from recgauge.utils.checks import BoolArray, FloatArray, IntArray, check_real, read_only


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

    Raises
    ------
    SchemaError
        If columns differ in length or a rating is not finite.
    """

    user: IntArray
    item: IntArray
    actual: FloatArray
    predicted: FloatArray
    impossible: BoolArray
    partly_unknown: BoolArray
    n_clipped: int = 0

    def __post_init__(self) -> None:
        for name in ("user", "item", "actual", "predicted", "impossible", "partly_unknown"):
            column = getattr(self, name)
            if column.shape != (len(self.user),):
                raise SchemaError(
                    f"RatingPredictions: {name} must have shape ({len(self.user)},) like user, "
                    f"got {column.shape}."
                )
            object.__setattr__(self, name, read_only(column))
        for name in ("actual", "predicted"):
            if not np.isfinite(getattr(self, name)).all():
                raise SchemaError(f"RatingPredictions: {name} must be finite in every row.")

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
    predictor = _as_predictor(model)
    bounds = _check_scale(scale)
    if len(held_out) == 0:
        raise EmptySplitError("No rating can be predicted: the held-out part has no rows. Hold out more.")
    known = predictor.known()
    if (len(known.users), len(known.items)) != (held_out.n_users, held_out.n_items):
        raise SchemaError(
            f"predict_ratings: the model was fitted over {len(known.users)} users and {len(known.items)} "
            f"items, held_out is over {held_out.n_users} and {held_out.n_items}; use parts of one split."
        )
    raw = predictor.predict(held_out.user, held_out.item)
    _check_predictions(type(model).__name__, raw, len(held_out))
    n_known = known.users[held_out.user].astype(np.int8) + known.items[held_out.item]
    impossible = np.isnan(raw) | (n_known == 0)
    filled = np.where(impossible, np.float32(known.mean), raw).astype(np.float32)
    clipped = filled if bounds is None else np.clip(filled, np.float32(bounds[0]), np.float32(bounds[1]))
    return RatingPredictions(
        held_out.user,
        held_out.item,
        held_out.value,
        clipped,
        impossible,
        (n_known == 1) & ~impossible,
        int((clipped != filled).sum()),
    )


def _as_predictor(model: object) -> RatingPredictor:
    if isinstance(model, RatingPredictor):
        return model
    raise ConfigError(
        f"Rating metrics: model {type(model).__name__} ranks items but predicts no ratings. "
        "Choose a rating predictor, such as model=bias or model=biased_mf, or leave out metrics=rating."
    )


def _check_scale(scale: tuple[float, float] | None) -> tuple[float, float] | None:
    if scale is None:
        return None
    if len(scale) != 2:
        raise ConfigError(f"scale must be the lowest and the highest rating, got {scale!r}.")
    low = check_real("scale: the lowest rating", scale[0], low=-np.inf, high=np.inf)
    return low, check_real("scale: the highest rating", scale[1], low=low, high=np.inf)


def _check_predictions(name: str, predicted: FloatArray, n_rows: int) -> None:
    if predicted.shape != (n_rows,):
        raise ScoreError(f"{name}: predict must return shape ({n_rows},), got {predicted.shape}.")
    if np.isinf(predicted).any():
        raise ScoreError(f"{name}: predictions must be finite, or NaN where impossible; got infinity.")
