"""Metrics by class and by name. A metric is imported when it is first used.

``from recgauge.metrics import NDCG`` works for every class; `metric_class` finds one by its name, such as
``ndcg``.
"""

import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from recgauge.metrics.metric import Kind as Kind
from recgauge.metrics.metric import Metric as Metric
from recgauge.metrics.metric import RunMetric as RunMetric
from recgauge.metrics.metric import UserMetric as UserMetric
from recgauge.metrics.metric import check_suite as check_suite
from recgauge.metrics.metric import metric_key as metric_key
from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.metrics.beyond.catalogue import CatalogCoverage as CatalogCoverage
    from recgauge.metrics.beyond.catalogue import Entropy as Entropy
    from recgauge.metrics.beyond.catalogue import Gini as Gini
    from recgauge.metrics.beyond.catalogue import GiniComplement as GiniComplement
    from recgauge.metrics.beyond.catalogue import Herfindahl as Herfindahl
    from recgauge.metrics.beyond.catalogue import ItemPopularity as ItemPopularity
    from recgauge.metrics.beyond.catalogue import LongTailShare as LongTailShare
    from recgauge.metrics.beyond.catalogue import Personalization as Personalization
    from recgauge.metrics.beyond.catalogue import PredictionCoverage as PredictionCoverage
    from recgauge.metrics.beyond.catalogue import SeenShare as SeenShare
    from recgauge.metrics.beyond.catalogue import TailPercentage as TailPercentage
    from recgauge.metrics.beyond.catalogue import UnseenShare as UnseenShare
    from recgauge.metrics.beyond.catalogue import UserCount as UserCount
    from recgauge.metrics.beyond.catalogue import UserCoverage as UserCoverage
    from recgauge.metrics.beyond.diversity import Diversity as Diversity
    from recgauge.metrics.beyond.diversity import IntraListSimilarity as IntraListSimilarity
    from recgauge.metrics.beyond.diversity import PooledDiversity as PooledDiversity
    from recgauge.metrics.beyond.novelty import ExpectedFreeDiscovery as ExpectedFreeDiscovery
    from recgauge.metrics.beyond.novelty import (
        ExpectedPopularityComplement as ExpectedPopularityComplement,
    )
    from recgauge.metrics.beyond.novelty import HistorySerendipity as HistorySerendipity
    from recgauge.metrics.beyond.novelty import Novelty as Novelty
    from recgauge.metrics.beyond.novelty import PooledNovelty as PooledNovelty
    from recgauge.metrics.beyond.novelty import RankSerendipity as RankSerendipity
    from recgauge.metrics.beyond.novelty import UnpopularSerendipity as UnpopularSerendipity
    from recgauge.metrics.beyond.parity import LongTailCount as LongTailCount
    from recgauge.metrics.beyond.parity import PopularityOpportunity as PopularityOpportunity
    from recgauge.metrics.beyond.parity import PopularityParity as PopularityParity
    from recgauge.metrics.classes import ClassFScore as ClassFScore
    from recgauge.metrics.classes import ClassMetric as ClassMetric
    from recgauge.metrics.classes import ClassPrecision as ClassPrecision
    from recgauge.metrics.classes import ClassRecall as ClassRecall
    from recgauge.metrics.classes import LikedScore as LikedScore
    from recgauge.metrics.curves.full_ranking import AUC as AUC
    from recgauge.metrics.curves.full_ranking import FullRankingMetric as FullRankingMetric
    from recgauge.metrics.curves.full_ranking import StepAveragePrecision as StepAveragePrecision
    from recgauge.metrics.curves.list_areas import CompletedAUC as CompletedAUC
    from recgauge.metrics.curves.list_areas import LimitedAUC as LimitedAUC
    from recgauge.metrics.curves.list_areas import ListAUC as ListAUC
    from recgauge.metrics.curves.list_areas import PartialAUC as PartialAUC
    from recgauge.metrics.discounted import DCG as DCG
    from recgauge.metrics.discounted import NDCG as NDCG
    from recgauge.metrics.discounted import CumulativeGain as CumulativeGain
    from recgauge.metrics.discounted import ExpectedReciprocalRank as ExpectedReciprocalRank
    from recgauge.metrics.discounted import RankBiasedPrecision as RankBiasedPrecision
    from recgauge.metrics.discounted import ReciprocalRank as ReciprocalRank
    from recgauge.metrics.names import Directions as Directions
    from recgauge.metrics.precision import AveragePrecision as AveragePrecision
    from recgauge.metrics.precision import AverageRecall as AverageRecall
    from recgauge.metrics.precision import FScore as FScore
    from recgauge.metrics.precision import FScoreOfMeans as FScoreOfMeans
    from recgauge.metrics.precision import HitRate as HitRate
    from recgauge.metrics.precision import PooledPrecision as PooledPrecision
    from recgauge.metrics.precision import Precision as Precision
    from recgauge.metrics.precision import Recall as Recall
    from recgauge.metrics.precision import RPrecision as RPrecision
    from recgauge.metrics.rating import MAE as MAE
    from recgauge.metrics.rating import MSE as MSE
    from recgauge.metrics.rating import RMSE as RMSE
    from recgauge.metrics.rating import ConcordantPairs as ConcordantPairs
    from recgauge.metrics.rating import JudgedRatings as JudgedRatings
    from recgauge.metrics.rating import Kendall as Kendall
    from recgauge.metrics.rating import MedianAbsoluteError as MedianAbsoluteError
    from recgauge.metrics.rating import Minkowski as Minkowski
    from recgauge.metrics.rating import Pearson as Pearson
    from recgauge.metrics.rating import Pooled as Pooled
    from recgauge.metrics.rating import RatingMetric as RatingMetric
    from recgauge.metrics.rating import RSquared as RSquared
    from recgauge.metrics.rating import Spearman as Spearman
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
    "next_item": ("ndcg", "mrr", "hit_rate"),
    "ranking": ("ndcg", "recall", "map", "mrr", "hit_rate", "f1", "precision"),
    "recmetrics": (
        "mar", "map", "precision", "recall", "prediction_coverage", "personalization", "novelty",
        "intra_list_similarity",
    ),
}
# fmt: on
"""The files of conf/metrics that hold names only; `recgauge.evaluate` knows them, too."""


HEADLINE = ("ndcg", "recall", "map", "rmse", "mae")
"""The metrics to read first, by name."""


@cache
def metric_classes() -> tuple[type[Metric], ...]:
    """Import every metric of the package; return the classes that can be used, by name."""
    package = sys.modules[__name__]
    public = (getattr(package, name) for name in dir(package))
    leaves = [each for each in public if isinstance(each, type) and issubclass(each, Metric)]
    return tuple(sorted((leaf for leaf in leaves if hasattr(leaf, "name")), key=lambda leaf: leaf.name))


def metric_class(name: str) -> type[Metric] | None:
    """Return the metric class with this name, or None.

    Examples
    --------
    >>> metric_class("ndcg").__name__, metric_class("nothing")
    ('NDCG', None)
    """
    return next((leaf for leaf in metric_classes() if leaf.name == name), None)
