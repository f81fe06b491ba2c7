"""What Cornac computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.metrics import MAE, MSE, NDCG, RMSE, FScore, HitRate, Precision, Recall, ReciprocalRank

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
