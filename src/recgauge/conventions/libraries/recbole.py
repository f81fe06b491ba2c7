"""What RecBole computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.conventions.libraries import BINARY_AT_K
from recgauge.judging import Policies

RECBOLE = Convention(
    name="recbole",
    about="RecBole's top-k metrics.",
    notes="Proven with RecBole 1.2.1.",
    metrics={
        **BINARY_AT_K,
        "catalog_coverage": m.CatalogCoverage(),
        "item_coverage": m.CatalogCoverage(),
        "entropy": m.Entropy(base="e", divisor="recommended"),
        "shannon_entropy": m.Entropy(base="e", divisor="recommended"),
        "gini": m.Gini(),
        "gini_index": m.Gini(),
        "popularity": m.ItemPopularity(divisor="k"),
        "average_popularity": m.ItemPopularity(divisor="k"),
        "tail_percentage": m.TailPercentage(),
        "mae": m.MAE(),
        "rmse": m.RMSE(),
    },
    policies=Policies(lists_of="relevant"),
)
