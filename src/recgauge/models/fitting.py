"""From a split to a fitted model: training rows first, then the rows of held-out users."""

import importlib
import inspect
import pkgutil

import numpy as np

from recgauge import models
from recgauge.data.split import Split
from recgauge.errors import ConfigError
from recgauge.models import FoldsIn, RatingPredictor, Recommender
from recgauge.models.fit_rows import rows_to_fit


def fit(
    model: Recommender | RatingPredictor, split: Split, fit_on: str = "train", *, rng: np.random.Generator
) -> Recommender | RatingPredictor:
    """Fit a model on the training rows; give it the fold-in rows of held-out users, if there are any.

    Parameters
    ----------
    model : Recommender or RatingPredictor
    split : Split
    fit_on : {"train", "all"}
        See `recgauge.models.fit_rows.rows_to_fit`; with ``all`` nobody is left to fold in.
    rng : numpy.random.Generator
        The stream of the fit stage.

    Returns
    -------
    Recommender or RatingPredictor
        The model itself.

    Raises
    ------
    ConfigError
        If users are held out and the model cannot fold them in; said before it is trained.
    FitError
        If training fails.

    Examples
    --------
    >>> from recgauge.data.interactions import Interactions
    >>> from recgauge.models.popularity import Popularity
    >>> from recgauge.splits.random_holdout import RandomRows
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> split = RandomRows(test_size=0.5).split(ratings, rng=np.random.default_rng(0))
    >>> fit(Popularity(), split, rng=np.random.default_rng(0)).score(np.array([0], np.int32)).shape
    (1, 3)
    """
    rows = rows_to_fit(split, fit_on)
    if split.fold_in is None or fit_on == "all":
        return model.fit(rows, rng=rng)
    if not isinstance(model, FoldsIn):
        raise ConfigError(
            f"split={split.name}: its test users are not in the training rows, and {type(model).__name__} "
            "cannot serve users whom it was not trained on (it has no fold_in). Choose a model that can: "
            f"{', '.join(models_that_fold_in())}; or a split that holds out rows, such as random_per_user."
        )
    fitted = model.fit(rows, rng=rng)
    folded: Recommender | RatingPredictor = fitted.fold_in(split.fold_in)
    return folded


def models_that_fold_in() -> list[str]:
    """Return the names of recgauge's models that can fold in users, as ``model=NAME`` has them.

    Examples
    --------
    >>> "svd" in models_that_fold_in()
    True
    """
    names = set()
    for module in pkgutil.iter_modules(models.__path__, f"{models.__name__}."):
        short = module.name.rsplit(".", 1)[1]
        if short.startswith("_"):
            continue
        for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if found.__module__ == module.name and callable(getattr(found, "fold_in", None)):
                names.add(short)
    return sorted(names)
