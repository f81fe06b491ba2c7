"""The house's own convention: every metric with its defaults, and a few named settings."""

from functools import cache

from recgauge.conventions import Convention
from recgauge.metrics import Metric
from recgauge.metrics.beyond.diversity import Diversity
from recgauge.metrics.curves.partial_auc import PartialAUC
from recgauge.metrics.discovery import default_metrics
from recgauge.metrics.ndcg import NDCG


@cache
def standard_metrics() -> dict[str, Metric]:
    """Return the house's definitions by name."""
    named: dict[str, Metric] = {
        "ndcg_exp": NDCG(gain="exponential"),
        "ndcg_binary": NDCG(gain="binary"),
        "list_diversity": Diversity(similarity="matrix"),
        "pap": PartialAUC(positives="min_relevant_k"),
    }
    return {**default_metrics(), **named}


STANDARD = Convention(
    name="standard",
    about="trec_eval's definitions; users without relevant items are left out and counted.",
)
