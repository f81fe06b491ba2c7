"""What trec_eval and gdeval computes under its names; each row is proven by values that it gave."""

from recgauge.conventions import Convention
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.expected_reciprocal_rank import ExpectedReciprocalRank
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.precision import Precision
from recgauge.metrics.r_precision import RPrecision
from recgauge.metrics.rank_biased_precision import RankBiasedPrecision
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank
from recgauge.policies import Policies

TREC = Convention(
    name="trec",
    about="trec_eval, as pytrec_eval calls it; exponential nDCG and ERR as gdeval prints them.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "hit_rate": HitRate(),
        "r_precision": RPrecision(),
        "map": AveragePrecision(),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(),
        "ndcg_exp": NDCG(gain="exponential"),
        "rbp": RankBiasedPrecision(),
        "err": ExpectedReciprocalRank(),
    },
    policies=Policies(ties="id_descending"),
    deviations={"ndcg_exp": {"round": 5}, "err": {"round": 5}},
)
