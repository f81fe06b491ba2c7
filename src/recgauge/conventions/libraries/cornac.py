"""What Cornac computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention

CORNAC = Convention(
    name="cornac",
    about="Cornac's ranking metrics; its MRR refuses a list without a hit.",
    notes="Proven with Cornac 3.0.1.",
    metrics={
        "precision": m.Precision(zero="nan"),
        "recall": m.Recall(),
        "f1": m.FScore(),
        "hit_rate": m.HitRate(),
        "mrr": m.ReciprocalRank(miss="raise"),
        "ndcg": m.NDCG(gain="binary"),
        "ncrr": m.NDCG(gain="binary", discount="reciprocal", ideal="list_length"),
        "mae": m.MAE(),
        "mse": m.MSE(),
        "rmse": m.RMSE(),
    },
)
