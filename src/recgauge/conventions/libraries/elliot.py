"""What Elliot computes under its names; each row is proven by values that it gave."""

from recgauge.conventions import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.average_recall import AverageRecall
from recgauge.metrics.beyond.concentration import Entropy, GiniComplement
from recgauge.metrics.beyond.coverage import CatalogCoverage
from recgauge.metrics.beyond.expected_discovery import ExpectedFreeDiscovery, ExpectedPopularityComplement
from recgauge.metrics.beyond.popularity import Popularity
from recgauge.metrics.curves.limited_auc import LimitedAUC
from recgauge.metrics.f_score import FScore
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.precision import Precision
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank

ELLIOT = Convention(
    name="elliot",
    about="Elliot; its MAP and MAR average over every rank, not over hits.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "f1": FScore(),
        "hit_rate": HitRate(),
        "map": AveragePrecision(normalizer="k", at="ranks"),
        "mar": AverageRecall(),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(gain="exponential"),
        "ndcg_rendle": NDCG(gain="binary"),
        "limited_auc": LimitedAUC(),
        "lauc": LimitedAUC(),
        "catalog_coverage": CatalogCoverage(scale="count"),
        "item_coverage": CatalogCoverage(scale="count"),
        "gini": GiniComplement(normalizer="n_minus_1"),
        "gini_index": GiniComplement(normalizer="n_minus_1"),
        "entropy": Entropy(weight="users"),
        "shannon_entropy": Entropy(weight="users"),
        "popularity": Popularity(),
        "arp": Popularity(),
        "efd": ExpectedFreeDiscovery(),
        "epc": ExpectedPopularityComplement(),
    },
    policies=Policies(lists_of="relevant"),
)
