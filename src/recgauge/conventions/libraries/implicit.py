"""What implicit computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention

IMPLICIT = Convention(
    name="implicit",
    about="implicit's ranking_metrics_at_k; its precision pools all users.",
    notes="Proven with implicit 0.7.3.",
    metrics={
        "precision": m.PooledPrecision(),
        "map": m.AveragePrecision(normalizer="min_relevant_k"),
        "ndcg": m.NDCG(gain="binary"),
        "auc": m.CompletedAUC(),
        "completed_auc": m.CompletedAUC(),
    },
)
