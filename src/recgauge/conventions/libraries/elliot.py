"""What Elliot computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

ELLIOT = Convention(
    name="elliot",
    about="Elliot; its MAP and MAR average over every rank, not over hits.",
    notes="Proven with Elliot, commit fc27efedad.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "f1": m.FScore(),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(normalizer="k", at="ranks"),
        "mar": m.AverageRecall(),
        "mrr": m.ReciprocalRank(),
        "ndcg": m.NDCG(gain="exponential"),
        "ndcg_rendle": m.NDCG(gain="binary"),
        "limited_auc": m.LimitedAUC(),
        "lauc": m.LimitedAUC(),
        "catalog_coverage": m.CatalogCoverage(scale="count"),
        "item_coverage": m.CatalogCoverage(scale="count"),
        "gini": m.GiniComplement(normalizer="n_minus_1"),
        "gini_index": m.GiniComplement(normalizer="n_minus_1"),
        "entropy": m.Entropy(weight="users"),
        "shannon_entropy": m.Entropy(weight="users"),
        "popularity": m.ItemPopularity(),
        "arp": m.ItemPopularity(),
        "efd": m.ExpectedFreeDiscovery(),
        "epc": m.ExpectedPopularityComplement(),
    },
    policies=Policies(lists_of="relevant"),
)
