"""The default definitions: every metric with its defaults, and a few named settings."""

from collections.abc import Callable, Mapping

from recgauge import metrics
from recgauge.metrics import Metric, has_defaults, metric_class, metric_classes

NAMED: Mapping[str, Callable[[], Metric]] = {
    "ndcg_exp": lambda: metrics.NDCG(gain="exponential"),
    "ndcg_binary": lambda: metrics.NDCG(gain="binary"),
    "list_diversity": lambda: metrics.Diversity(similarity="matrix"),
    "pap": lambda: metrics.PartialAUC(positives="min_relevant_k"),
}
"""Names of settings that differ from a class's defaults."""


def standard_metric(name: str) -> Metric | None:
    """Return the default definition of a name, or None; imports that metric only.

    Examples
    --------
    >>> standard_metric("ndcg_exp").definition(), standard_metric("nothing")
    ('nDCG(gain=exponential, discount=log2, ideal=at_k)', None)
    """
    if name in NAMED:
        return NAMED[name]()
    leaf = metric_class(name)
    return None if leaf is None or not has_defaults(leaf) else leaf()


def standard_metrics() -> dict[str, Metric]:
    """Return every default definition by name. Imports every metric."""
    defaults = {leaf.name: leaf() for leaf in metric_classes() if has_defaults(leaf)}
    return {**defaults, **{name: make() for name, make in NAMED.items()}}
