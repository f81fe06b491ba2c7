"""What trec_eval and the other programs behind ir_measures compute; each row is proven by their values."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import (
    NDCG,
    AveragePrecision,
    ExpectedReciprocalRank,
    HitRate,
    Precision,
    RankBiasedPrecision,
    Recall,
    ReciprocalRank,
    RPrecision,
)

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
