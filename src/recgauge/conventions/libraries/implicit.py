"""What implicit computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.metrics import NDCG, AveragePrecision, CompletedAUC, PooledPrecision

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
