"""What RecBole computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

RECBOLE = Convention(
    name="recbole",
    about="RecBole's top-k metrics.",
    notes="Proven with RecBole 1.2.1.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(normalizer="min_relevant_k"),
        "mrr": m.ReciprocalRank(),
        "ndcg": m.NDCG(gain="binary"),
        "catalog_coverage": m.CatalogCoverage(),
        "item_coverage": m.CatalogCoverage(),
        "entropy": m.Entropy(base="e", divisor="recommended"),
        "shannon_entropy": m.Entropy(base="e", divisor="recommended"),
        "gini": m.Gini(),
        "gini_index": m.Gini(),
        "popularity": m.Popularity(divisor="k"),
        "average_popularity": m.Popularity(divisor="k"),
        "tail_percentage": m.TailPercentage(),
        "mae": m.MAE(),
        "rmse": m.RMSE(),
    },
    policies=Policies(lists_of="relevant"),
)
