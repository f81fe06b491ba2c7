"""What RePlay computes under its names; each row is proven by values that it gave."""

from recgauge.conventions import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.beyond.coverage import CatalogCoverage
from recgauge.metrics.beyond.novelty import Novelty
from recgauge.metrics.beyond.seen_share import UnseenShare
from recgauge.metrics.curves.list_auc import ListAUC
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.precision import Precision
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank

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
