"""What trec_eval and the other programs behind ir_measures compute; each row is proven by their values."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

PRINTED = {"score_precision": "double", "round": 5, "rounding": "printf"}

TREC = Convention(
    name="trec",
    about="ir_measures: trec_eval, exponential nDCG and ERR as gdeval prints them, RBP of cwl_eval.",
    notes="Proven with ir_measures 0.4.3.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "hit_rate": m.HitRate(),
        "r_precision": m.RPrecision(),
        "map": m.AveragePrecision(),
        "mrr": m.ReciprocalRank(),
        "mrr_ms_marco": m.ReciprocalRank(),
        "ndcg": m.NDCG(),
        "ndcg_exp": m.NDCG(gain="exponential"),
        "rbp": m.RankBiasedPrecision(),
        "err": m.ExpectedReciprocalRank(),
    },
    policies=Policies(no_positive_grade="zero", ties="id_descending", score_precision="single"),
    deviations={
        "mrr_ms_marco": {"ties": "item_code", "score_precision": "double"},
        "rbp": {"ties": "stable"},
        "ndcg_exp": PRINTED,
        "err": PRINTED,
    },
)
