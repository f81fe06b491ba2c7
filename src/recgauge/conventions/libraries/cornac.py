"""What Cornac computes under its names; each row is proven by values that it gave."""

from recgauge.conventions import Convention
from recgauge.metrics.f_score import FScore
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.precision import Precision
from recgauge.metrics.rating.mae import MAE
from recgauge.metrics.rating.mse import MSE
from recgauge.metrics.rating.rmse import RMSE
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank

CORNAC = Convention(
    name="cornac",
    about="Cornac's ranking metrics; its MRR refuses a list without a hit.",
    metrics={
        "precision": Precision(zero="nan"),
        "recall": Recall(),
        "f1": FScore(),
        "hit_rate": HitRate(),
        "mrr": ReciprocalRank(miss="raise"),
        "ndcg": NDCG(gain="binary"),
        "ncrr": NDCG(gain="binary", discount="reciprocal", ideal="list_length"),
        "mae": MAE(),
        "mse": MSE(),
        "rmse": RMSE(),
    },
)
