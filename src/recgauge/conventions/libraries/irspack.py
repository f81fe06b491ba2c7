"""What irspack computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import (
    NDCG,
    AveragePrecision,
    CatalogCoverage,
    Entropy,
    Gini,
    HitRate,
    Precision,
    Recall,
)

IRSPACK = Convention(
    name="irspack",
    about="irspack's evaluate_recommendation_df: only users who have both a list and relevant items.",
    metrics={
        "precision": Precision(denominator="list"),
        "recall": Recall(),
        "recall_with_cutoff": Recall(denominator="min_relevant_list"),
        "hit_rate": HitRate(),
        "map": AveragePrecision(),
        "ndcg": NDCG(gain="binary", ideal="list_length"),
        "catalog_coverage": CatalogCoverage(),
        "appeared_item": CatalogCoverage(scale="count"),
        "entropy": Entropy(base="e"),
        "gini": Gini(),
        "gini_index": Gini(),
    },
    policies=Policies(lists_of="relevant", no_list="skip", ties="item_code"),
)
