"""What implicit computes under its names; each row is proven by values that it gave."""

from recgauge.conventions import Convention
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.curves.completed_auc import CompletedAUC
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.pooled_precision import PooledPrecision

IMPLICIT = Convention(
    name="implicit",
    about="implicit's ranking_metrics_at_k; its precision pools all users.",
    metrics={
        "precision": PooledPrecision(),
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "ndcg": NDCG(gain="binary"),
        "auc": CompletedAUC(),
        "completed_auc": CompletedAUC(),
    },
)
