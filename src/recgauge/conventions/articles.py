"""What five articles on evaluating recommenders compute, each under a name that says what it is about.

The sources, in the order below; the texts themselves are no part of recgauge:

1. A blog post on offline metrics for recommender systems, from precision at k to nDCG; author and address are
   not known here.
2. "Recommendation System Evaluation", a blog article of 3 October 2023.
3. CAPRI (CapriRecSys/CAPRI), the documentation page "Evaluation Metrics".
4. Claire Longo, "Evaluation Metrics for Recommender Systems", Towards Data Science, 23 November 2018,
   with the library recmetrics.
5. A note on recommendation metrics: MAE, RMSE, Minkowski, averages of precision, recall and F1, and two DCG
   methods; the author is not known here.
"""

from dataclasses import replace

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.conventions.libraries.capri import CAPRI
from recgauge.conventions.libraries.recmetrics import RECMETRICS
from recgauge.judging import Policies

ARTICLE_OFFLINE_METRICS = Convention(
    name="article_offline_metrics",
    about="A blog from precision to nDCG: AP by hits; where its code crashes, the user is undefined.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "f1": m.FScore(zero="nan"),
        "map": m.AveragePrecision(normalizer="hits", zero="nan"),
        "mrr": m.ReciprocalRank(),
        "cg": m.CumulativeGain(),
        "ndcg": m.NDCG(),
    },
    policies=Policies(no_relevant="zero", duplicates="every"),
    deviations={
        "recall": {"no_relevant": "nan", "duplicates": "first"},
        "precision": {"duplicates": "first"},
        "ndcg": {"no_relevant": "nan"},
    },
)

ARTICLE_SYSTEM_EVALUATION = Convention(
    name="article_system_evaluation",
    about="A long article from MAE to serendipity: precision by list length, the ideal list of nDCG not cut.",
    metrics={
        "precision": m.Precision(denominator="list"),
        "recall": m.Recall(),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(),
        "map_rounded": m.AveragePrecision(),
        "mrr": m.ReciprocalRank(),
        "dcg": m.DCG(gain="binary"),
        "ndcg": m.NDCG(gain="binary", ideal="full"),
        "ndcg_rounded": m.NDCG(gain="binary", ideal="full"),
        "mae": m.MAE(),
        "mse": m.MSE(),
        "rmse": m.RMSE(),
        "pearson": m.Pearson(),
        "spearman": m.Spearman(),
        "rbp": m.RankBiasedPrecision(),
        "err": m.ExpectedReciprocalRank(),
        "catalog_coverage": m.CatalogCoverage(),
        "catalog_coverage_train": m.CatalogCoverage(catalog="train"),
        "prediction_coverage": m.PredictionCoverage(),
        "diversity": m.PooledDiversity(),
        "novelty": m.Novelty(),
        "popularity": m.ItemPopularity(),
        "serendipity": m.UnpopularSerendipity(),
    },
    policies=Policies(no_relevant="zero"),
    deviations={"map_rounded": {"round_mean": 2}, "ndcg_rounded": {"round": 2}},
)

ARTICLE_CAPRI = replace(
    CAPRI,
    name="article_capri",
    about="CAPRI's page on its metrics: the same as CAPRI's own evaluator.",
    metrics={
        **CAPRI.metrics,
        "catalog_coverage_train": m.CatalogCoverage(scale="percent", catalog="train", intersect=False),
    },
)

ARTICLE_RECMETRICS = replace(
    RECMETRICS,
    name="article_recmetrics",
    about="The article that introduces recmetrics; its MAP divides by min(relevant, k).",
    metrics={
        **RECMETRICS.metrics,
        "map": m.AveragePrecision(normalizer="min_relevant_k"),
        "prediction_coverage_train": m.CatalogCoverage(scale="percent", catalog="train", intersect=False),
    },
)

AVERAGES = {
    **{
        f"{score}_{average}": m.LikedScore(score=score, average=average)
        for score in ("precision", "recall", "f1")
        for average in ("micro", "macro", "weighted", "binary")
    },
    **{f"{score}_samples": m.LikedScore("user", score, "binary") for score in ("precision", "recall", "f1")},
}
"""Of the labels liked and not liked; where a row is a user with several labels, the average over samples."""

ARTICLE_NDCG_NOTE = Convention(
    name="article_ndcg_note",
    about="A note with two nDCG methods: the list's own gains re-sorted, stretched from worst to best.",
    metrics={
        "mae": m.MAE(),
        "rmse": m.RMSE(),
        "minkowski": m.Minkowski(),
        **AVERAGES,
        "dcg": m.DCG(),
        "dcg_method0": m.DCG(discount="jarvelin2"),
        "ndcg": m.NDCG(ideal="own_list", normalization="minmax"),
        "ndcg_method0": m.NDCG(discount="jarvelin2", ideal="own_list", normalization="minmax"),
        "ndcg_plain": m.NDCG(ideal="own_list"),
        "ndcg_plain_method0": m.NDCG(discount="jarvelin2", ideal="own_list"),
        "ndcg_2": m.NDCG(),
        "ndcg_2_method0": m.NDCG(discount="jarvelin2"),
        "ndcg_2_minmax": m.NDCG(normalization="minmax"),
        "ndcg_2_minmax_method0": m.NDCG(discount="jarvelin2", normalization="minmax"),
    },
    policies=Policies(no_relevant="zero"),
)
