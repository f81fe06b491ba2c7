"""What RecTools computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

RECTOOLS = Convention(
    name="rectools",
    about="RecTools' calc_metrics; its default nDCG compares with a list of k hits.",
    notes="Proven with RecTools 0.19.0.",
    metrics={
        "precision": m.Precision(),
        "r_precision": m.Precision(denominator="min_relevant_k"),
        "recall": m.Recall(),
        "f1": m.FScore(),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(),
        "map_divide_by_k": m.AveragePrecision(normalizer="k"),
        "mrr": m.ReciprocalRank(),
        "ndcg": m.NDCG(gain="binary", ideal="k_ones"),
        "ndcg_achievable": m.NDCG(gain="binary"),
        "partial_auc": m.PartialAUC(),
        "pap": m.PartialAUC(positives="min_relevant_k"),
        "catalog_coverage": m.CatalogCoverage(),
        "diversity": m.Diversity(single=0),
        "intra_list_diversity": m.Diversity(single=0),
        "novelty": m.Novelty(),
        "mean_inv_user_freq": m.Novelty(),
        "popularity": m.ItemPopularity(),
        "avg_rec_popularity": m.ItemPopularity(),
        "popularity_share": m.ItemPopularity(value="share"),
        "serendipity": m.RankSerendipity(),
        "rank_serendipity": m.RankSerendipity(),
    },
    policies=Policies(duplicates="distinct"),
    deviations={"serendipity": {"no_relevant": "zero"}, "rank_serendipity": {"no_relevant": "zero"}},
)
