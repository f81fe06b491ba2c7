"""What RePlay computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.conventions.libraries import BINARY_AT_K
from recgauge.judging import Policies

REPLAY = Convention(
    name="replay",
    about="RePlay's metrics over dictionaries; every user of the ground truth counts.",
    notes="Proven with RePlay 0.22.0.",
    metrics={
        **BINARY_AT_K,
        "list_auc": m.ListAUC(),
        "roc_auc": m.ListAUC(),
        "catalog_coverage": m.CatalogCoverage(catalog="train"),
        "coverage": m.CatalogCoverage(catalog="train"),
        "novelty": m.UnseenShare(empty="unseen"),
        "unseen_share": m.UnseenShare(empty="unseen"),
        "surprisal": m.Novelty(divisor="k", scale="log_users"),
    },
    policies=Policies(no_relevant="zero"),
)
