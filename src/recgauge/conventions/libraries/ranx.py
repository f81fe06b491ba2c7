"""What ranx computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

RANX = Convention(
    name="ranx",
    about="ranx.evaluate with make_comparable=True; it puts ties in no order in lists of over 15 items.",
    notes="Proven with ranx 0.3.21.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "f1": m.FScore(),
        "hit_rate": m.HitRate(),
        "r_precision": m.RPrecision(),
        "map": m.AveragePrecision(),
        "mrr": m.ReciprocalRank(),
        "ndcg": m.NDCG(),
        "ndcg_burges": m.NDCG(gain="exponential"),
        "dcg": m.DCG(),
        "dcg_burges": m.DCG(gain="exponential"),
        "rbp": m.RankBiasedPrecision(gain="linear"),
    },
    policies=Policies(no_positive_grade="zero"),
)
