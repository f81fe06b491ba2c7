"""Which metrics and cutoffs an evaluation was asked for: names resolved, doubles and typos refused."""

from collections.abc import Mapping, Sequence

from recgauge.conventions import Convention, Definition
from recgauge.errors import ConfigError
from recgauge.judging.policies import Policies
from recgauge.metrics import Metric, check_suite
from recgauge.utils.checks import check_cutoffs

SUITES: Mapping[str, tuple[str, ...]] = {
    "ranking": ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg"),
    "beyond_accuracy": (
        "catalog_coverage", "user_coverage", "prediction_coverage", "gini", "entropy", "personalization",
        "novelty", "popularity", "long_tail_share", "serendipity", "rank_serendipity", "seen_share",
    ),
    "diversity": ("diversity", "intra_list_similarity"),
    "curves": ("list_auc", "partial_auc", "pap", "limited_auc", "completed_auc"),
}  # fmt: skip
"""Suites of lists by name, as under conf/metrics."""

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
        metrics = SUITES.get(metrics, (metrics,)) if isinstance(metrics, str) else (metrics,)
    if isinstance(metrics, Mapping):
        named = list(metrics.items())
    else:
        named = [(metric.name if isinstance(metric, Metric) else metric, metric) for metric in metrics]
    suite: dict[str, Definition] = {}
    for name, metric in named:
        if name in suite:
            raise ConfigError(
                f"metrics: {name!r} is asked for twice; pass a mapping of distinct result names to metrics."
            )
        if not isinstance(metric, (str, Metric)):
            raise ConfigError(f"metrics: expected names or metrics, got {type(metric).__name__}: {metric!r}.")
        if isinstance(metric, str):
            suite[name] = convention.definition(metric)
        else:
            suite[name] = Definition(metric, convention.policies)
    check_suite({name: definition.metric for name, definition in suite.items()})
    return suite


def with_policies(
    metrics: Mapping[str, Metric | Definition], policies: Policies | None
) -> dict[str, Definition]:
    """Return metrics as definitions; one that comes without policies takes the given ones or the house's."""
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
