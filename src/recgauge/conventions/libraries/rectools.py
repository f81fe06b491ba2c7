"""What RecTools computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import (
    NDCG,
    AveragePrecision,
    CatalogCoverage,
    Diversity,
    FScore,
    HitRate,
    Novelty,
    PartialAUC,
    Popularity,
    Precision,
    RankSerendipity,
    Recall,
    ReciprocalRank,
)

RECTOOLS = Convention(
    name="rectools",
    about="RecTools' calc_metrics; its default nDCG compares with a list of k hits.",
    metrics={
        "precision": Precision(),
        "r_precision": Precision(denominator="min_relevant_k"),
        "recall": Recall(),
        "f1": FScore(),
        "hit_rate": HitRate(),
        "map": AveragePrecision(),
        "map_divide_by_k": AveragePrecision(normalizer="k"),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(gain="binary", ideal="k_ones"),
        "ndcg_achievable": NDCG(gain="binary"),
        "partial_auc": PartialAUC(),
        "pap": PartialAUC(positives="min_relevant_k"),
        "catalog_coverage": CatalogCoverage(),
        "diversity": Diversity(single=0),
        "intra_list_diversity": Diversity(single=0),
        "novelty": Novelty(),
        "mean_inv_user_freq": Novelty(),
        "popularity": Popularity(),
        "avg_rec_popularity": Popularity(),
        "popularity_share": Popularity(value="share"),
        "serendipity": RankSerendipity(),
        "rank_serendipity": RankSerendipity(),
    },
    policies=Policies(duplicates="distinct"),
    deviations={"serendipity": {"no_relevant": "zero"}, "rank_serendipity": {"no_relevant": "zero"}},
)
