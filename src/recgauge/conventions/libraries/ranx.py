"""What ranx computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import (
    DCG,
    NDCG,
    AveragePrecision,
    FScore,
    HitRate,
    Precision,
    RankBiasedPrecision,
    Recall,
    ReciprocalRank,
    RPrecision,
)

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
