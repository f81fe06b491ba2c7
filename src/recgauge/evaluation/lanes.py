"""Which function measures a metric: ranked lists, predicted ratings, class labels or full rankings."""

from collections.abc import Iterable, Mapping

from recgauge.conventions import Definition
from recgauge.errors import ConfigError
from recgauge.metrics import Metric, RunMetric, UserMetric
from recgauge.metrics.classes import ClassMetric
from recgauge.metrics.curves.auc import FullRankingMetric
from recgauge.metrics.rating import RatingMetric

_ELSEWHERE: tuple[tuple[type[Metric], str], ...] = (
    (RatingMetric, "measures predicted ratings, not lists; pass it to recgauge.evaluate_ratings"),
    (ClassMetric, "measures class labels, not lists; call its value(actual, predicted)"),
    (
        FullRankingMetric,
        "needs the scores of all candidates, not lists; choose list_auc or partial_auc, or give its value() "
        "what recgauge.metrics.curves.places.place_block returns",
    ),
)


def check_list_metrics(suite: Mapping[str, Definition]) -> None:
    """Refuse metrics that do not measure ranked lists, and say what does measure them.

    Parameters
    ----------
    suite : mapping of str to Definition

    Raises
    ------
    ConfigError
        If there is one.
    """
    for name, definition in suite.items():
        for kind, place in _ELSEWHERE:
            if isinstance(definition.metric, kind):
                raise ConfigError(f"metrics: {name!r} {place}.")
        if not isinstance(definition.metric, (UserMetric, RunMetric)):
            raise ConfigError(
                f"metrics: {name!r} must be a UserMetric or a RunMetric to measure lists, "
                f"got {type(definition.metric).__name__}."
            )


def names_by_lane(metrics: Mapping[str, Metric]) -> tuple[list[str], list[str]]:
    """Return the names of the metrics of lists and those of ratings, each sorted.

    Examples
    --------
    >>> from recgauge.metrics.precision import Precision
    >>> from recgauge.metrics.rating.mae import MAE
    >>> names_by_lane({"precision": Precision(), "mae": MAE()})
    (['precision'], ['mae'])
    """
    return (
        _names(metrics, (UserMetric, RunMetric)),
        _names(metrics, (RatingMetric,)),
    )


def _names(metrics: Mapping[str, Metric], kinds: Iterable[type[Metric]]) -> list[str]:
    return sorted(name for name, metric in metrics.items() if isinstance(metric, tuple(kinds)))
