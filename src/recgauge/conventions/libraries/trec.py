"""What trec_eval and the other programs behind ir_measures compute; each row is proven by their values."""

from recgauge.conventions import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.expected_reciprocal_rank import ExpectedReciprocalRank
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.precision import Precision
from recgauge.metrics.r_precision import RPrecision
from recgauge.metrics.rank_biased_precision import RankBiasedPrecision
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank

PRINTED = {"score_precision": "double", "round": 5, "rounding": "printf"}

TREC = Convention(
    name="trec",
    about="ir_measures: trec_eval, exponential nDCG and ERR as gdeval prints them, RBP of cwl_eval.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "hit_rate": HitRate(),
        "r_precision": RPrecision(),
        "map": AveragePrecision(),
        "mrr": ReciprocalRank(),
        "mrr_ms_marco": ReciprocalRank(),
        "ndcg": NDCG(),
        "ndcg_exp": NDCG(gain="exponential"),
        "rbp": RankBiasedPrecision(),
        "err": ExpectedReciprocalRank(),
    },
    policies=Policies(no_positive_grade="zero", ties="id_descending", score_precision="single"),
    deviations={
        "mrr_ms_marco": {"ties": "item_code", "score_precision": "double"},
        "rbp": {"ties": "stable"},
        "ndcg_exp": PRINTED,
        "err": PRINTED,
    },
)
