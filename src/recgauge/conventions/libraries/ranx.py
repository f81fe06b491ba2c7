"""What ranx computes under its names; each row is proven by values that it gave."""

from recgauge.conventions import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.dcg import DCG
from recgauge.metrics.f_score import FScore
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.precision import Precision
from recgauge.metrics.r_precision import RPrecision
from recgauge.metrics.rank_biased_precision import RankBiasedPrecision
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank

RANX = Convention(
    name="ranx",
    about="ranx.evaluate with make_comparable=True; it puts ties in no order in lists of over 15 items.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "f1": FScore(),
        "hit_rate": HitRate(),
        "r_precision": RPrecision(),
        "map": AveragePrecision(),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(),
        "ndcg_burges": NDCG(gain="exponential"),
        "dcg": DCG(),
        "dcg_burges": DCG(gain="exponential"),
        "rbp": RankBiasedPrecision(gain="linear"),
    },
    policies=Policies(no_positive_grade="zero"),
)
