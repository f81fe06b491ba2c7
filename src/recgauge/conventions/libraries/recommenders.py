"""What Microsoft recommenders computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import (
    MAE,
    NDCG,
    RMSE,
    AveragePrecision,
    CatalogCoverage,
    Diversity,
    Entropy,
    HistorySerendipity,
    PooledNovelty,
    Precision,
    Recall,
    RPrecision,
)

RECOMMENDERS = Convention(
    name="recommenders",
    about="Microsoft recommenders; users need a list and relevant items, but for nDCG.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "r_precision": RPrecision(zero="nan"),
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "map_full": AveragePrecision(),
        "ndcg": NDCG(gain="binary"),
        "ndcg_raw": NDCG(),
        "ndcg_exp": NDCG(gain="exponential", discount="ln"),
        "catalog_coverage": CatalogCoverage(catalog="train", intersect=False),
        "entropy": Entropy(),
        "distributional_coverage": Entropy(),
        "novelty": PooledNovelty(),
        "diversity": Diversity(similarity="cooccurrence"),
        "diversity_features": Diversity(),
        "serendipity": HistorySerendipity(),
        "serendipity_features": HistorySerendipity(similarity="features"),
        "serendipity_relevant": HistorySerendipity(relevance=True),
        "serendipity_features_relevant": HistorySerendipity(similarity="features", relevance=True),
        "mae": MAE(),
        "rmse": RMSE(),
    },
    policies=Policies(no_list="skip"),
    deviations={name: {"no_list": "zero"} for name in ("ndcg", "ndcg_raw", "ndcg_exp")},
)
