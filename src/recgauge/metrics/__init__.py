"""Metrics by class and by name. A metric is imported when it is first used.

``from recgauge.metrics import NDCG`` works for every class; `metric_class` finds one by its name, such as
``ndcg``.
"""

import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from inspect import isabstract
from typing import TYPE_CHECKING

from recgauge.errors import MetricError
from recgauge.metrics.metric import Kind as Kind
from recgauge.metrics.metric import Metric as Metric
from recgauge.metrics.metric import RunMetric as RunMetric
from recgauge.metrics.metric import UserMetric as UserMetric
from recgauge.metrics.metric import check_suite as check_suite
from recgauge.metrics.metric import metric_key as metric_key
from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.metrics.average_precision import AveragePrecision as AveragePrecision
    from recgauge.metrics.average_precision import AverageRecall as AverageRecall
    from recgauge.metrics.beyond.concentration import Entropy as Entropy
    from recgauge.metrics.beyond.concentration import Gini as Gini
    from recgauge.metrics.beyond.concentration import GiniComplement as GiniComplement
    from recgauge.metrics.beyond.concentration import Herfindahl as Herfindahl
    from recgauge.metrics.beyond.concentration import Personalization as Personalization
    from recgauge.metrics.beyond.coverage import CatalogCoverage as CatalogCoverage
    from recgauge.metrics.beyond.coverage import PredictionCoverage as PredictionCoverage
    from recgauge.metrics.beyond.coverage import UserCoverage as UserCoverage
    from recgauge.metrics.beyond.diversity import Diversity as Diversity
    from recgauge.metrics.beyond.diversity import IntraListSimilarity as IntraListSimilarity
    from recgauge.metrics.beyond.diversity import PooledDiversity as PooledDiversity
    from recgauge.metrics.beyond.expected_discovery import ExpectedFreeDiscovery as ExpectedFreeDiscovery
    from recgauge.metrics.beyond.expected_discovery import (
        ExpectedPopularityComplement as ExpectedPopularityComplement,
    )
    from recgauge.metrics.beyond.known import ItemPopularity as ItemPopularity
    from recgauge.metrics.beyond.known import SeenShare as SeenShare
    from recgauge.metrics.beyond.known import UnseenShare as UnseenShare
    from recgauge.metrics.beyond.long_tail import LongTailShare as LongTailShare
    from recgauge.metrics.beyond.long_tail import TailPercentage as TailPercentage
    from recgauge.metrics.beyond.novelty import Novelty as Novelty
    from recgauge.metrics.beyond.novelty import PooledNovelty as PooledNovelty
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
    from recgauge.metrics.dcg import DCG as DCG
    from recgauge.metrics.dcg import CumulativeGain as CumulativeGain
    from recgauge.metrics.ndcg import NDCG as NDCG
    from recgauge.metrics.precision import PooledPrecision as PooledPrecision
    from recgauge.metrics.precision import Precision as Precision
    from recgauge.metrics.precision import RPrecision as RPrecision
    from recgauge.metrics.rating import RatingMetric as RatingMetric
    from recgauge.metrics.rating.correlations import Pearson as Pearson
    from recgauge.metrics.rating.correlations import RSquared as RSquared
    from recgauge.metrics.rating.correlations import Spearman as Spearman
    from recgauge.metrics.rating.errors import MAE as MAE
    from recgauge.metrics.rating.errors import MSE as MSE
    from recgauge.metrics.rating.errors import RMSE as RMSE
    from recgauge.metrics.rating.errors import MedianAbsoluteError as MedianAbsoluteError
    from recgauge.metrics.rating.errors import Minkowski as Minkowski
    from recgauge.metrics.rating.liked import LikedScore as LikedScore
    from recgauge.metrics.rating.pairs import ConcordantPairs as ConcordantPairs
    from recgauge.metrics.rating.pairs import Kendall as Kendall
    from recgauge.metrics.reading import ExpectedReciprocalRank as ExpectedReciprocalRank
    from recgauge.metrics.reading import RankBiasedPrecision as RankBiasedPrecision
    from recgauge.metrics.reading import ReciprocalRank as ReciprocalRank
    from recgauge.metrics.recall import FScore as FScore
    from recgauge.metrics.recall import FScoreOfMeans as FScoreOfMeans
    from recgauge.metrics.recall import HitRate as HitRate
    from recgauge.metrics.recall import Recall as Recall
else:
    __getattr__, __dir__ = lazy_names(__name__)

# fmt: off
SUITES: Mapping[str, tuple[str, ...]] = {
    "beyond_accuracy": (
        "catalog_coverage", "user_coverage", "prediction_coverage", "gini", "entropy", "personalization",
        "novelty", "popularity", "long_tail_share", "serendipity", "rank_serendipity", "seen_share",
    ),
    "curves": (
        "auc", "step_average_precision", "list_auc", "partial_auc", "pap", "limited_auc", "completed_auc",
    ),
    "diversity": ("diversity", "intra_list_similarity"),
    "ranking": ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg"),
    "recmetrics": (
        "mar", "map", "precision", "recall", "prediction_coverage", "personalization", "novelty",
        "intra_list_similarity",
    ),
}
# fmt: on
"""The files of conf/metrics that hold names only; `recgauge.evaluate` knows them, too."""


HEADLINE = ("ndcg", "recall", "map", "rmse", "mae")
"""The metrics to read first, by name."""
# fmt: off
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
    "f1_of_means": "FScoreOfMeans",
    "fcp": "ConcordantPairs",
    "gini": "Gini",
    "gini_complement": "GiniComplement",
    "herfindahl": "Herfindahl",
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
    "popularity": "ItemPopularity",
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
# fmt: on
"""Each metric's name and its class: one can be found without importing the others, which takes a second."""


def metric_class(name: str) -> type[Metric] | None:
    """Return the metric class with this name, or None; only the module of the class is imported.

    Examples
    --------
    >>> metric_class("ndcg").__name__, metric_class("nothing")
    ('NDCG', None)
    """
    found = NAMES.get(name)
    return None if found is None else _public(found)


@cache
def metric_classes() -> tuple[type[Metric], ...]:
    """Import every metric of the package; return the classes that can be used, by name and class name."""
    found = [leaf for leaf in map(_public, NAMES.values()) if not isabstract(leaf)]
    return tuple(sorted(found, key=lambda leaf: (leaf.name, leaf.__name__)))


def _public(name: str) -> type[Metric]:
    try:
        found: type[Metric] = getattr(sys.modules[__name__], name)
    except AttributeError as error:
        raise MetricError(f"{error}.") from None
    return found


def has_defaults(leaf: type[Metric]) -> bool:
    """Whether all parameters have defaults, so that the name alone defines the metric."""
    return all(f.default is not MISSING or f.default_factory is not MISSING for f in fields(leaf))
