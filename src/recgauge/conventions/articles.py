"""What five articles on evaluating recommenders compute, each under a name that says what it is about."""

from dataclasses import replace

from recgauge.conventions import Convention
from recgauge.conventions.libraries.capri import CAPRI
from recgauge.conventions.libraries.recmetrics import RECMETRICS
from recgauge.judging.policies import Policies
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.beyond.coverage import CatalogCoverage, PredictionCoverage
from recgauge.metrics.beyond.diversity import PooledDiversity
from recgauge.metrics.beyond.novelty import Novelty
from recgauge.metrics.beyond.popularity import Popularity
from recgauge.metrics.beyond.serendipity import UnpopularSerendipity
from recgauge.metrics.cumulative_gain import CumulativeGain
from recgauge.metrics.dcg import DCG
from recgauge.metrics.expected_reciprocal_rank import ExpectedReciprocalRank
from recgauge.metrics.f_score import FScore
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.precision import Precision
from recgauge.metrics.rank_biased_precision import RankBiasedPrecision
from recgauge.metrics.rating.liked import LikedScore
from recgauge.metrics.rating.mae import MAE
from recgauge.metrics.rating.minkowski import Minkowski
from recgauge.metrics.rating.mse import MSE
from recgauge.metrics.rating.pearson import Pearson
from recgauge.metrics.rating.rmse import RMSE
from recgauge.metrics.rating.spearman import Spearman
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank

OFFLINE_METRICS = Convention(
    name="article_offline_metrics",
    about="A blog from precision to nDCG: AP by hits; where its code crashes, the user is undefined.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "f1": FScore(zero="nan"),
        "map": AveragePrecision(normalizer="hits", zero="nan"),
        "mrr": ReciprocalRank(),
        "cg": CumulativeGain(),
        "ndcg": NDCG(),
    },
    policies=Policies(no_relevant="zero", duplicates="every"),
    deviations={
        "recall": {"no_relevant": "nan", "duplicates": "first"},
        "precision": {"duplicates": "first"},
        "ndcg": {"no_relevant": "nan"},
    },
)

SYSTEM_EVALUATION = Convention(
    name="article_system_evaluation",
    about="A long article from MAE to serendipity: precision by list length, the ideal list of nDCG not cut.",
    metrics={
        "precision": Precision(denominator="list"),
        "recall": Recall(),
        "hit_rate": HitRate(),
        "map": AveragePrecision(),
        "map_rounded": AveragePrecision(),
        "mrr": ReciprocalRank(),
        "dcg": DCG(gain="binary"),
        "ndcg": NDCG(gain="binary", ideal="full"),
        "ndcg_rounded": NDCG(gain="binary", ideal="full"),
        "mae": MAE(),
        "mse": MSE(),
        "rmse": RMSE(),
        "pearson": Pearson(),
        "spearman": Spearman(),
        "rbp": RankBiasedPrecision(),
        "err": ExpectedReciprocalRank(),
        "catalog_coverage": CatalogCoverage(),
        "catalog_coverage_train": CatalogCoverage(catalog="train"),
        "prediction_coverage": PredictionCoverage(),
        "diversity": PooledDiversity(),
        "novelty": Novelty(),
        "popularity": Popularity(),
        "serendipity": UnpopularSerendipity(),
    },
    policies=Policies(no_relevant="zero"),
    deviations={"map_rounded": {"round_mean": 2}, "ndcg_rounded": {"round": 2}},
)

CAPRI_METRICS = replace(
    CAPRI,
    name="article_capri",
    about="CAPRI's page on its metrics: the same as CAPRI's own evaluator.",
    metrics={
        **CAPRI.metrics,
        "catalog_coverage_train": CatalogCoverage(scale="percent", catalog="train", intersect=False),
    },
)

RECMETRICS_GUIDE = replace(
    RECMETRICS,
    name="article_recmetrics",
    about="The article that introduces recmetrics; its MAP divides by min(relevant, k).",
    metrics={
        **RECMETRICS.metrics,
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "prediction_coverage_train": CatalogCoverage(scale="percent", catalog="train", intersect=False),
    },
)

AVERAGES = {
    **{
        f"{score}_{average}": LikedScore(score=score, average=average)
        for score in ("precision", "recall", "f1")
        for average in ("micro", "macro", "weighted", "binary")
    },
    **{f"{score}_samples": LikedScore("user", score, "binary") for score in ("precision", "recall", "f1")},
}
"""Of the labels liked and not liked; where a row is a user with several labels, the average over samples."""

NDCG_NOTE = Convention(
    name="article_ndcg_note",
    about="A note with two nDCG methods: the list's own gains re-sorted, stretched from worst to best.",
    metrics={
        "mae": MAE(),
        "rmse": RMSE(),
        "minkowski": Minkowski(),
        **AVERAGES,
        "dcg": DCG(),
        "dcg_method0": DCG(discount="jarvelin2"),
        "ndcg": NDCG(ideal="own_list", normalization="minmax"),
        "ndcg_method0": NDCG(discount="jarvelin2", ideal="own_list", normalization="minmax"),
        "ndcg_plain": NDCG(ideal="own_list"),
        "ndcg_plain_method0": NDCG(discount="jarvelin2", ideal="own_list"),
        "ndcg_2": NDCG(),
        "ndcg_2_method0": NDCG(discount="jarvelin2"),
        "ndcg_2_minmax": NDCG(normalization="minmax"),
        "ndcg_2_minmax_method0": NDCG(discount="jarvelin2", normalization="minmax"),
    },
    policies=Policies(no_relevant="zero"),
)

ARTICLES = (OFFLINE_METRICS, SYSTEM_EVALUATION, CAPRI_METRICS, RECMETRICS_GUIDE, NDCG_NOTE)
