"""How filters give rows other values, and how they read a count that may be a share."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recgauge.data.dataset import Dataset, Feedback
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError


def with_values(
    dataset: Dataset,
    values: npt.NDArray[np.floating],
    *,
    feedback: Feedback,
    relevant_from: float | None,
    scale: tuple[float, float] | None = None,
) -> Dataset:
    """Return the data set with other values.

    Parameters
    ----------
    dataset : Dataset
    values : ndarray of float, shape (n,)
    feedback : {"explicit", "implicit"}
    relevant_from : float or None
        In terms of the new values.
    scale : (float, float) or None
        Lowest and highest rating that there can be; None: those that occur.
    """
    rows = dataset.interactions
    revalued = Interactions(rows.user, rows.item, values, rows.timestamp, rows.user_ids, rows.item_ids)
    return replace(
        dataset, interactions=revalued, feedback=feedback, relevant_from=relevant_from, scale=scale
    )


def check_amount(subject: str, amount: object) -> int | float:
    """Return a count (a whole number of at least 1) or a share (strictly between 0 and 1).

    Raises
    ------
    ConfigError
        If it is neither.
    """
    if isinstance(amount, int) and not isinstance(amount, bool) and amount >= 1:
        return amount
    if isinstance(amount, float) and 0 < amount < 1:
        return amount
    raise ConfigError(
        f"{subject} must be a count (a whole number >= 1) or a share (between 0 and 1), got {amount!r}."
    )


def count_of(amount: int | float, total: int) -> int:
    """Return how many of `total` an amount means; a share is rounded down."""
    # a hair of tolerance, so that 0.29 of 100 is 29 although the product is 28.999999999999996
    return amount if isinstance(amount, int) else int(total * amount + 1e-9)


def amount_text(amount: int | float, things: str) -> str:
    """Return an amount in words.

    Examples
    --------
    >>> amount_text(100, "items"), amount_text(0.01, "items")
    ('100 items', '1% of the items')
    """
    return f"{amount:,} {things}" if isinstance(amount, int) else f"{amount * 100:g}% of the {things}"
