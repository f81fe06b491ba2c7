"""What RecBole computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import (
    MAE,
    NDCG,
    RMSE,
    AveragePrecision,
    CatalogCoverage,
    Entropy,
    Gini,
    HitRate,
    Popularity,
    Precision,
    Recall,
    ReciprocalRank,
    TailPercentage,
)

RECBOLE = Convention(
    name="recbole",
    about="RecBole's top-k metrics.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "hit_rate": HitRate(),
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(gain="binary"),
        "catalog_coverage": CatalogCoverage(),
        "item_coverage": CatalogCoverage(),
        "entropy": Entropy(base="e", divisor="recommended"),
        "shannon_entropy": Entropy(base="e", divisor="recommended"),
        "gini": Gini(),
        "gini_index": Gini(),
        "popularity": Popularity(divisor="k"),
        "average_popularity": Popularity(divisor="k"),
        "tail_percentage": TailPercentage(),
        "mae": MAE(),
        "rmse": RMSE(),
    },
    policies=Policies(lists_of="relevant"),
)
