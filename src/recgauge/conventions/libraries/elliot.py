"""What Elliot computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import (
    NDCG,
    AveragePrecision,
    AverageRecall,
    CatalogCoverage,
    Entropy,
    ExpectedFreeDiscovery,
    ExpectedPopularityComplement,
    FScore,
    GiniComplement,
    HitRate,
    LimitedAUC,
    Popularity,
    Precision,
    Recall,
    ReciprocalRank,
)

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
