"""Training in epochs, watched: loss and validation value after each epoch, and an early end."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recgauge.conventions import Definition
from recgauge.data.split import Split
from recgauge.errors import ConfigError, nearest
from recgauge.evaluation.evaluate_ratings import evaluate_predictions, predict_ratings
from recgauge.evaluation.ranking_task import RankingTask
from recgauge.metrics import HEADLINE
from recgauge.metrics.names import as_key, headline_cutoff, label, split_key, without_label
from recgauge.metrics.rating import RatingMetric
from recgauge.models import EpochModel, FoldsIn, RatingPredictor, Recommender
from recgauge.models.recommend import rows_to_fit
from recgauge.utils.checks import check_int
from recgauge.utils.progress import Progress


@dataclass(frozen=True, slots=True)
class EpochPoint:
    """What was seen after an epoch.

    Parameters
    ----------
    epoch : int
        From 1.
    loss : float
        Training loss, as the model defines it.
    metric : str
        Result key of the watched metric.
    value : float or None
        The watched metric on validation rows; None in epochs in which nobody looked.
    """

    epoch: int
    loss: float
    metric: str
    value: float | None


@dataclass(frozen=True)
class Learning:
    """What is watched while a model learns in epochs, and when training ends early.

    Parameters
    ----------
    metric : str or None
        Result key of the run's metrics, such as ``ndcg_at_10``, taken on validation rows; None: nDCG
        at 10, or RMSE for models that predict ratings, where they are among the metrics.
    every : int
        Epochs between two looks, >= 1.
    patience : int or None
        Epochs without a better value after which training ends; the model is then that of the best epoch.
        None: all epochs are run, and the model is that of the last.

    Raises
    ------
    ConfigError
        If a number is not valid.
    """

    metric: str | None = None
    every: int = 1
    patience: int | None = None

    def __post_init__(self) -> None:
        check_int("learning.every", self.every, minimum=1)
        if self.patience is not None:
            check_int("learning.patience", self.patience, minimum=1)


@dataclass(frozen=True, eq=False)
class Watched:
    """One metric of a model that can be taken between two epochs.

    Parameters
    ----------
    key : str
        Result key, such as ``ndcg_at_10``.
    definition : Definition
    k : int or None
        The cutoff of a metric of lists.
    split : Split
        The split whose test part holds the validation rows.
    task : RankingTask or None
        How lists are made and measured; None for a rating metric.
    scale : (float, float) or None
        Lowest and highest rating; None without a rating metric.
    """

    key: str
    definition: Definition
    k: int | None
    split: Split
    task: RankingTask | None
    scale: tuple[float, float] | None

    def value(self, model: Recommender | RatingPredictor) -> float:
        """Return the value of a model that can score; the model stays as it is."""
        if self.split.fold_in is not None and isinstance(model, FoldsIn):
            model = copy.deepcopy(model).fold_in(self.split.fold_in)
        watched = {"watched": self.definition}
        if self.scale is not None:
            predictions = predict_ratings(model, self.split.test, self.scale)
            evaluation = evaluate_predictions(watched, predictions, self.split.test.user_ids)
            return evaluation.results[0].value
        if self.task is None or self.k is None or not isinstance(model, Recommender):
            raise TypeError(f"{self.key}: needs lists, a cutoff, and a model that makes them.")
        task = replace(self.task, metrics=watched, cutoffs=(self.k,))
        return task.evaluate(watched, task.recommend(model, Progress())).results[0].value


def watched_metric(
    key: str | None, metrics: Mapping[str, Definition], cutoffs: Sequence[int], *, rates: bool = False
) -> tuple[str, Definition, int | None]:
    """Return a result key with its definition and cutoff.

    By default the result that choices go by if nobody names one: nDCG at 10 where it is among the results;
    with `rates`, of a model that predicts ratings, RMSE where that is among them.

    Raises
    ------
    ConfigError
        If a run with these metrics and cutoffs has no such result.

    Examples
    --------
    >>> from recgauge.conventions import get_convention
    >>> standard = get_convention("standard")
    >>> metrics = {name: standard.definition(name) for name in ("recall", "ndcg")}
    >>> watched_metric(None, metrics, (5, 10, 20))[0]
    'ndcg_at_10'
    """
    if key is None:
        preferred = ("rmse", *HEADLINE) if rates else HEADLINE
        key = next((name for name in preferred if name in metrics), next(iter(metrics)))
        if not isinstance(metrics[key].metric, RatingMetric):
            key = f"{key}_at_{headline_cutoff(cutoffs)}"
    key = as_key(key if key.partition("@")[0] in metrics else without_label(key))
    name, k = split_key(key)
    of_lists = k in cutoffs
    definition = metrics.get(name if of_lists else key)
    if definition is None or of_lists == isinstance(definition.metric, RatingMetric):
        known = nearest(name, metrics) or next(iter(metrics))
        remedy = f"Choose {known}"
        if not isinstance(metrics[known].metric, RatingMetric):
            remedy += f"@{headline_cutoff(cutoffs)}"
            if known == name and k is not None:
                remedy += f", or add cutoffs=[{','.join(map(str, sorted({*cutoffs, k})))}]"
        raise ConfigError(
            f"{label(key)} is not a result of this run. Its metrics are {', '.join(metrics)}. {remedy}."
        )
    return key, definition, k if of_lists else None


def fit_watched(
    model: Recommender | RatingPredictor,
    split: Split,
    learning: Learning,
    watched: Watched,
    *,
    rng: np.random.Generator,
    progress: Progress | None = None,
    watch: Callable[[EpochPoint], None] | None = None,
) -> tuple[Recommender | RatingPredictor, tuple[EpochPoint, ...]]:
    """Fit a model that learns in epochs on the training rows, and look at it on the way.

    Parameters
    ----------
    model : Recommender or RatingPredictor
        One that learns in epochs (`EpochModel`).
    split : Split
        Its training rows are learned from, its fold-in rows are given afterwards.
    learning : Learning
    watched : Watched
    rng : numpy.random.Generator
        The stream of the fit stage.
    progress : Progress, optional
    watch : callable, optional
        Called after every epoch; an error that it raises ends the training.

    Returns
    -------
    model : Recommender or RatingPredictor
        That of the last epoch, or of the best one with `patience`.
    points : tuple of EpochPoint

    Raises
    ------
    ConfigError
        If the model does not learn in epochs.
    FitError
        If training fails.
    """
    if not isinstance(model, EpochModel):
        raise ConfigError(
            f"learning: {type(model).__name__} does not learn in epochs, so there is no curve. "
            "Leave learning out, or choose a model with n_epochs, such as model=biased_mf."
        )
    rows = rows_to_fit(split, "train", model)
    sign = 1.0 if watched.definition.metric.higher_is_better else -1.0
    best: Recommender | RatingPredictor = model
    best_value, best_epoch = -np.inf, 0
    points: list[EpochPoint] = []
    with (progress or Progress()).step("fit", model.n_epochs, "epochs") as advance:
        for epoch, loss in enumerate(model.epochs(rows, rng=rng), start=1):
            looks = epoch % learning.every == 0 or epoch == model.n_epochs
            points.append(EpochPoint(epoch, loss, watched.key, watched.value(model) if looks else None))
            if watch is not None:
                watch(points[-1])
            advance(1)
            if learning.patience is None or points[-1].value is None:
                continue
            if sign * points[-1].value > best_value:
                best, best_value, best_epoch = copy.deepcopy(model), sign * points[-1].value, epoch
            elif epoch - best_epoch >= learning.patience:
                break
    if split.fold_in is not None and isinstance(best, FoldsIn):
        best = best.fold_in(split.fold_in)
    return best, tuple(points)
