"""What Microsoft recommenders computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

RECOMMENDERS = Convention(
    name="recommenders",
    about="Microsoft recommenders; users need a list and relevant items, but for nDCG.",
    notes="Proven with recommenders 1.2.1.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "r_precision": m.RPrecision(zero="nan"),
        "map": m.AveragePrecision(normalizer="min_relevant_k"),
        "map_full": m.AveragePrecision(),
        "ndcg": m.NDCG(gain="binary"),
        "ndcg_raw": m.NDCG(),
        "ndcg_exp": m.NDCG(gain="exponential", discount="ln"),
        "catalog_coverage": m.CatalogCoverage(catalog="train", intersect=False),
        "entropy": m.Entropy(),
        "distributional_coverage": m.Entropy(),
        "novelty": m.PooledNovelty(),
        "diversity": m.Diversity(similarity="cooccurrence"),
        "diversity_features": m.Diversity(),
        "serendipity": m.HistorySerendipity(),
        "serendipity_features": m.HistorySerendipity(similarity="features"),
        "serendipity_relevant": m.HistorySerendipity(relevance=True),
        "serendipity_features_relevant": m.HistorySerendipity(similarity="features", relevance=True),
        "mae": m.MAE(),
        "rmse": m.RMSE(),
    },
    policies=Policies(no_list="skip"),
    deviations={name: {"no_list": "zero"} for name in ("ndcg", "ndcg_raw", "ndcg_exp")},
)
