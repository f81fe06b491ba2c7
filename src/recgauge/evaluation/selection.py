"""Resolves the metrics and cutoffs that were requested; refuses repeated names and typos."""

from collections.abc import Mapping, Sequence

from recgauge.conventions import Convention, Definition
from recgauge.conventions.standard import standard_metric
from recgauge.errors import ConfigError
from recgauge.judging.policies import Policies
from recgauge.metrics import SUITES, Kind, Metric, check_suite
from recgauge.utils.checks import check_cutoffs

_NOT_LISTS: Mapping[Kind, str] = {
    "ratings": "measures predicted ratings, not lists; pass it to recgauge.evaluate_ratings",
    "full rankings": "needs the scores of all candidates, not lists: ask for it in a run, as "
    "metrics=[curves] does, or choose list_auc or partial_auc",
    "class labels": "measures class labels, not lists; call its value(actual, predicted)",
}
"""Kind of metric to what a message says about it."""

Metrics = str | Metric | Sequence[str | Metric] | Mapping[str, str | Metric]


def select_metrics(metrics: Metrics, convention: Convention) -> dict[str, Definition]:
    """Return ``{result name: definition}``, names defined by `convention`.

    Examples
    --------
    >>> from recgauge.conventions import get_convention
    >>> list(select_metrics(("ap", "ndcg"), get_convention("recbole")))
    ['ap', 'ndcg']
    """
    if isinstance(metrics, (str, Metric)):
        metrics = _suite(metrics) if isinstance(metrics, str) and metrics in SUITES else (metrics,)
    if isinstance(metrics, Mapping):
        named = list(metrics.items())
    else:
        named = [(metric.name if isinstance(metric, Metric) else metric, metric) for metric in metrics]
    suite: dict[str, Definition] = {}
    for name, metric in named:
        if name in suite:
            raise ConfigError(
                f"metrics: {name!r} is requested twice; pass a mapping of distinct result names to metrics."
            )
        if not isinstance(metric, (str, Metric)):
            raise ConfigError(f"metrics: expected names or metrics, got {type(metric).__name__}: {metric!r}.")
        if isinstance(metric, str):
            suite[name] = convention.definition(metric)
        else:
            suite[name] = Definition(metric, convention.policies)
    check_suite({name: definition.metric for name, definition in suite.items()})
    return suite


def _suite(name: str) -> tuple[str, ...]:
    """Return the names of a suite that lists are enough for; a run can compute the others, too."""
    named = ((one, standard_metric(one)) for one in SUITES[name])
    return tuple(one for one, metric in named if metric is None or metric.kind == "lists")


def check_measures_lists(suite: Mapping[str, Definition]) -> None:
    """Refuse metrics that measure something other than ranked lists, and say what evaluates them.

    Raises
    ------
    ConfigError
        If there is one.
    """
    for name, definition in suite.items():
        kind: Kind | None = getattr(definition.metric, "kind", None)
        if kind is not None and kind in _NOT_LISTS:
            raise ConfigError(f"metrics: {name!r} {_NOT_LISTS[kind]}.")
        if kind != "lists":
            raise ConfigError(
                f"metrics: {name!r} must be a UserMetric or a RunMetric to measure lists, "
                f"got {type(definition.metric).__name__}."
            )


def with_policies(
    metrics: Mapping[str, Metric | Definition], policies: Policies | None
) -> dict[str, Definition]:
    """Return metrics as definitions; one without policies takes the given ones, else the default ones."""
    check_suite({n: m.metric if isinstance(m, Definition) else m for n, m in metrics.items()})
    return {
        name: metric if isinstance(metric, Definition) else Definition(metric, policies or Policies())
        for name, metric in metrics.items()
    }


def check_all_cutoffs(cutoffs: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return distinct cutoffs in ascending order, None for the whole list last."""
    numbers = [k for k in cutoffs if k is not None] if isinstance(cutoffs, Sequence) else cutoffs
    if isinstance(cutoffs, Sequence) and None in cutoffs:
        return (*(check_cutoffs("cutoffs", numbers) if numbers else ()), None)
    return check_cutoffs("cutoffs", numbers)


def possible_cutoffs(metric: Metric, ks: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Leave out cutoffs at which a metric has no value for anybody, such as pairs in lists of one item."""
    possible = tuple(k for k in ks if k is None or k >= metric.smallest_k)
    if not possible:
        raise ConfigError(
            f"cutoffs: {metric.label} needs one >= {metric.smallest_k}, got {', '.join(map(str, ks))}."
        )
    return possible
