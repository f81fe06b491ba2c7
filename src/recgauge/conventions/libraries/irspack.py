"""What irspack computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

IRSPACK = Convention(
    name="irspack",
    about="irspack's evaluate_recommendation_df: only users who have both a list and relevant items.",
    notes="Proven with irspack 0.5.2.",
    metrics={
        "precision": m.Precision(denominator="list"),
        "recall": m.Recall(),
        "recall_with_cutoff": m.Recall(denominator="min_relevant_list"),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(),
        "ndcg": m.NDCG(gain="binary", ideal="list_length"),
        "catalog_coverage": m.CatalogCoverage(),
        "appeared_item": m.CatalogCoverage(scale="count"),
        "entropy": m.Entropy(base="e"),
        "gini": m.Gini(),
        "gini_index": m.Gini(),
    },
    policies=Policies(lists_of="relevant", no_list="skip", ties="item_code"),
)
