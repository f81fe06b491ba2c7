"""Which rows a model is fitted on: the training rows, or every row where an article leaks."""

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.data.split import Split
from recgauge.utils.checks import check_choice

FIT_ON = ("train", "all")


def check_fit_on(fit_on: object) -> str:
    """Return `fit_on` if it names rows that a model can be fitted on.

    Raises
    ------
    ConfigError
        If it is unknown.
    """
    return str(check_choice("fit_on", fit_on, FIT_ON))


def rows_to_fit(split: Split, fit_on: str) -> Interactions:
    """Return the rows that a model learns from.

    Parameters
    ----------
    split : Split
    fit_on : {"train", "all"}
        ``train``: the training rows. ``all``: those of every part, test included. That is what some
        articles do, such as counting an item's popularity before they split; their numbers can only be
        repeated so. Such a run is marked, for its model has seen the answers.

    Returns
    -------
    Interactions
        For ``all`` in the order train, fold-in, validation, test, over the same ids.

    Examples
    --------
    >>> rows = Interactions.from_ids([1, 1, 2, 2], [1, 2, 1, 2])
    >>> split = Split("x", rows.take(np.array([0, 2])), None, rows.take(np.array([1, 3])))
    >>> len(rows_to_fit(split, "train")), len(rows_to_fit(split, "all"))
    (2, 4)
    """
    if check_fit_on(fit_on) == "train":
        return split.train
    parts = [p for p in (split.train, split.fold_in, split.validation, split.test) if p is not None]
    times = [part.timestamp for part in parts if part.timestamp is not None]
    return Interactions(
        np.concatenate([part.user for part in parts]),
        np.concatenate([part.item for part in parts]),
        np.concatenate([part.value for part in parts]),
        np.concatenate(times) if len(times) == len(parts) else None,
        split.train.user_ids,
        split.train.item_ids,
    )


def leak_mark(fit_on: str) -> str | None:
    """Return what a run must say of itself because of the rows its model saw, None if nothing."""
    if fit_on == "train":
        return None
    return "fit_on=all: the model was fitted on the test rows, too; compare with no honest run"
