"""What RePlay computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import (
    NDCG,
    AveragePrecision,
    CatalogCoverage,
    HitRate,
    ListAUC,
    Novelty,
    Precision,
    Recall,
    ReciprocalRank,
    UnseenShare,
)

REPLAY = Convention(
    name="replay",
    about="RePlay's metrics over dictionaries; every user of the ground truth counts.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "hit_rate": HitRate(),
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(gain="binary"),
        "list_auc": ListAUC(),
        "roc_auc": ListAUC(),
        "catalog_coverage": CatalogCoverage(catalog="train"),
        "coverage": CatalogCoverage(catalog="train"),
        "novelty": UnseenShare(empty="unseen"),
        "unseen_share": UnseenShare(empty="unseen"),
        "surprisal": Novelty(divisor="k", scale="log_users"),
    },
    policies=Policies(no_relevant="zero"),
)
