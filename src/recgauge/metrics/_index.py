"""Where each metric class is, and what each suite has. Written by `make docs`; do not edit."""
# fmt: off
# ruff: noqa: E501, I001

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recgauge.metrics.average_precision import AveragePrecision as AveragePrecision
    from recgauge.metrics.average_precision import AverageRecall as AverageRecall
    from recgauge.metrics.beyond.concentration import Entropy as Entropy
    from recgauge.metrics.beyond.concentration import Gini as Gini
    from recgauge.metrics.beyond.concentration import GiniComplement as GiniComplement
    from recgauge.metrics.beyond.coverage import CatalogCoverage as CatalogCoverage
    from recgauge.metrics.beyond.coverage import PredictionCoverage as PredictionCoverage
    from recgauge.metrics.beyond.coverage import UserCoverage as UserCoverage
    from recgauge.metrics.beyond.diversity import Diversity as Diversity
    from recgauge.metrics.beyond.diversity import IntraListSimilarity as IntraListSimilarity
    from recgauge.metrics.beyond.diversity import PooledDiversity as PooledDiversity
    from recgauge.metrics.beyond.expected_discovery import ExpectedFreeDiscovery as ExpectedFreeDiscovery
    from recgauge.metrics.beyond.expected_discovery import ExpectedPopularityComplement as ExpectedPopularityComplement
    from recgauge.metrics.beyond.long_tail import LongTailShare as LongTailShare
    from recgauge.metrics.beyond.long_tail import TailPercentage as TailPercentage
    from recgauge.metrics.beyond.novelty import Novelty as Novelty
    from recgauge.metrics.beyond.novelty import PooledNovelty as PooledNovelty
    from recgauge.metrics.beyond.personalization import Personalization as Personalization
    from recgauge.metrics.beyond.popularity import Popularity as Popularity
    from recgauge.metrics.beyond.seen_share import SeenShare as SeenShare
    from recgauge.metrics.beyond.seen_share import UnseenShare as UnseenShare
    from recgauge.metrics.beyond.serendipity import HistorySerendipity as HistorySerendipity
    from recgauge.metrics.beyond.serendipity import RankSerendipity as RankSerendipity
    from recgauge.metrics.beyond.serendipity import UnpopularSerendipity as UnpopularSerendipity
    from recgauge.metrics.classes import ClassFScore as ClassFScore
    from recgauge.metrics.classes import ClassMetric as ClassMetric
    from recgauge.metrics.classes import ClassPrecision as ClassPrecision
    from recgauge.metrics.classes import ClassRecall as ClassRecall
    from recgauge.metrics.curves.areas import AUC as AUC
    from recgauge.metrics.curves.areas import FullRankingMetric as FullRankingMetric
    from recgauge.metrics.curves.areas import StepAveragePrecision as StepAveragePrecision
    from recgauge.metrics.curves.list_areas import CompletedAUC as CompletedAUC
    from recgauge.metrics.curves.list_areas import LimitedAUC as LimitedAUC
    from recgauge.metrics.curves.list_areas import ListAUC as ListAUC
    from recgauge.metrics.curves.list_areas import PartialAUC as PartialAUC
    from recgauge.metrics.dcg import CumulativeGain as CumulativeGain
    from recgauge.metrics.dcg import DCG as DCG
    from recgauge.metrics.expected_reciprocal_rank import ExpectedReciprocalRank as ExpectedReciprocalRank
    from recgauge.metrics.f_score import FScore as FScore
    from recgauge.metrics.hit_rate import HitRate as HitRate
    from recgauge.metrics.ndcg import NDCG as NDCG
    from recgauge.metrics.precision import PooledPrecision as PooledPrecision
    from recgauge.metrics.precision import Precision as Precision
    from recgauge.metrics.r_precision import RPrecision as RPrecision
    from recgauge.metrics.rank_biased_precision import RankBiasedPrecision as RankBiasedPrecision
    from recgauge.metrics.rating import RatingMetric as RatingMetric
    from recgauge.metrics.rating.correlations import Pearson as Pearson
    from recgauge.metrics.rating.correlations import RSquared as RSquared
    from recgauge.metrics.rating.correlations import Spearman as Spearman
    from recgauge.metrics.rating.errors import MAE as MAE
    from recgauge.metrics.rating.errors import MSE as MSE
    from recgauge.metrics.rating.errors import MedianAbsoluteError as MedianAbsoluteError
    from recgauge.metrics.rating.errors import Minkowski as Minkowski
    from recgauge.metrics.rating.errors import RMSE as RMSE
    from recgauge.metrics.rating.liked import LikedScore as LikedScore
    from recgauge.metrics.rating.pairs import ConcordantPairs as ConcordantPairs
    from recgauge.metrics.rating.pairs import Kendall as Kendall
    from recgauge.metrics.recall import Recall as Recall
    from recgauge.metrics.reciprocal_rank import ReciprocalRank as ReciprocalRank

CLASSES: Mapping[str, str] = {
    "AUC": "recgauge.metrics.curves.areas",
    "AveragePrecision": "recgauge.metrics.average_precision",
    "AverageRecall": "recgauge.metrics.average_precision",
    "CatalogCoverage": "recgauge.metrics.beyond.coverage",
    "ClassFScore": "recgauge.metrics.classes",
    "ClassMetric": "recgauge.metrics.classes",
    "ClassPrecision": "recgauge.metrics.classes",
    "ClassRecall": "recgauge.metrics.classes",
    "CompletedAUC": "recgauge.metrics.curves.list_areas",
    "ConcordantPairs": "recgauge.metrics.rating.pairs",
    "CumulativeGain": "recgauge.metrics.dcg",
    "DCG": "recgauge.metrics.dcg",
    "Diversity": "recgauge.metrics.beyond.diversity",
    "Entropy": "recgauge.metrics.beyond.concentration",
    "ExpectedFreeDiscovery": "recgauge.metrics.beyond.expected_discovery",
    "ExpectedPopularityComplement": "recgauge.metrics.beyond.expected_discovery",
    "ExpectedReciprocalRank": "recgauge.metrics.expected_reciprocal_rank",
    "FScore": "recgauge.metrics.f_score",
    "FullRankingMetric": "recgauge.metrics.curves.areas",
    "Gini": "recgauge.metrics.beyond.concentration",
    "GiniComplement": "recgauge.metrics.beyond.concentration",
    "HistorySerendipity": "recgauge.metrics.beyond.serendipity",
    "HitRate": "recgauge.metrics.hit_rate",
    "IntraListSimilarity": "recgauge.metrics.beyond.diversity",
    "Kendall": "recgauge.metrics.rating.pairs",
    "LikedScore": "recgauge.metrics.rating.liked",
    "LimitedAUC": "recgauge.metrics.curves.list_areas",
    "ListAUC": "recgauge.metrics.curves.list_areas",
    "LongTailShare": "recgauge.metrics.beyond.long_tail",
    "MAE": "recgauge.metrics.rating.errors",
    "MSE": "recgauge.metrics.rating.errors",
    "MedianAbsoluteError": "recgauge.metrics.rating.errors",
    "Minkowski": "recgauge.metrics.rating.errors",
    "NDCG": "recgauge.metrics.ndcg",
    "Novelty": "recgauge.metrics.beyond.novelty",
    "PartialAUC": "recgauge.metrics.curves.list_areas",
    "Pearson": "recgauge.metrics.rating.correlations",
    "Personalization": "recgauge.metrics.beyond.personalization",
    "PooledDiversity": "recgauge.metrics.beyond.diversity",
    "PooledNovelty": "recgauge.metrics.beyond.novelty",
    "PooledPrecision": "recgauge.metrics.precision",
    "Popularity": "recgauge.metrics.beyond.popularity",
    "Precision": "recgauge.metrics.precision",
    "PredictionCoverage": "recgauge.metrics.beyond.coverage",
    "RMSE": "recgauge.metrics.rating.errors",
    "RPrecision": "recgauge.metrics.r_precision",
    "RSquared": "recgauge.metrics.rating.correlations",
    "RankBiasedPrecision": "recgauge.metrics.rank_biased_precision",
    "RankSerendipity": "recgauge.metrics.beyond.serendipity",
    "RatingMetric": "recgauge.metrics.rating",
    "Recall": "recgauge.metrics.recall",
    "ReciprocalRank": "recgauge.metrics.reciprocal_rank",
    "SeenShare": "recgauge.metrics.beyond.seen_share",
    "Spearman": "recgauge.metrics.rating.correlations",
    "StepAveragePrecision": "recgauge.metrics.curves.areas",
    "TailPercentage": "recgauge.metrics.beyond.long_tail",
    "UnpopularSerendipity": "recgauge.metrics.beyond.serendipity",
    "UnseenShare": "recgauge.metrics.beyond.seen_share",
    "UserCoverage": "recgauge.metrics.beyond.coverage",
}
"""Class to module."""

NAMES: Mapping[str, str] = {
    "auc": "AUC",
    "catalog_coverage": "CatalogCoverage",
    "cg": "CumulativeGain",
    "class_f1": "ClassFScore",
    "class_precision": "ClassPrecision",
    "class_recall": "ClassRecall",
    "completed_auc": "CompletedAUC",
    "dcg": "DCG",
    "diversity": "Diversity",
    "efd": "ExpectedFreeDiscovery",
    "entropy": "Entropy",
    "epc": "ExpectedPopularityComplement",
    "err": "ExpectedReciprocalRank",
    "f1": "FScore",
    "fcp": "ConcordantPairs",
    "gini": "Gini",
    "gini_complement": "GiniComplement",
    "history_serendipity": "HistorySerendipity",
    "hit_rate": "HitRate",
    "intra_list_similarity": "IntraListSimilarity",
    "kendall": "Kendall",
    "liked_score": "LikedScore",
    "limited_auc": "LimitedAUC",
    "list_auc": "ListAUC",
    "long_tail_share": "LongTailShare",
    "mae": "MAE",
    "map": "AveragePrecision",
    "mar": "AverageRecall",
    "median_absolute_error": "MedianAbsoluteError",
    "micro_precision": "PooledPrecision",
    "minkowski": "Minkowski",
    "mrr": "ReciprocalRank",
    "mse": "MSE",
    "ndcg": "NDCG",
    "novelty": "Novelty",
    "partial_auc": "PartialAUC",
    "pearson": "Pearson",
    "personalization": "Personalization",
    "pooled_diversity": "PooledDiversity",
    "pooled_novelty": "PooledNovelty",
    "popularity": "Popularity",
    "precision": "Precision",
    "prediction_coverage": "PredictionCoverage",
    "r2": "RSquared",
    "r_precision": "RPrecision",
    "rank_serendipity": "RankSerendipity",
    "rbp": "RankBiasedPrecision",
    "recall": "Recall",
    "rmse": "RMSE",
    "seen_share": "SeenShare",
    "serendipity": "UnpopularSerendipity",
    "spearman": "Spearman",
    "step_average_precision": "StepAveragePrecision",
    "tail_percentage": "TailPercentage",
    "unseen_share": "UnseenShare",
    "user_coverage": "UserCoverage",
}
"""Name of a metric to its class."""

SUITES: Mapping[str, tuple[str, ...]] = {
    "beyond_accuracy": (
        "catalog_coverage", "user_coverage", "prediction_coverage", "gini", "entropy",
        "personalization", "novelty", "popularity", "long_tail_share", "serendipity",
        "rank_serendipity", "seen_share",
    ),
    "curves": (
        "auc", "step_average_precision", "list_auc", "partial_auc", "pap", "limited_auc",
        "completed_auc",
    ),
    "diversity": (
        "diversity", "intra_list_similarity",
    ),
    "ranking": (
        "precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg",
    ),
    "recmetrics": (
        "mar", "map", "precision", "recall", "prediction_coverage", "personalization", "novelty",
        "intra_list_similarity",
    ),
}
"""Suites that hold names only, as under conf/metrics."""
