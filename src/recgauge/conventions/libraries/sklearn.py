"""What scikit-learn computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

SKLEARN = Convention(
    name="sklearn",
    about="scikit-learn's ndcg_score and average_precision_score, user by user; equal scores share ranks.",
    notes="Proven with scikit-learn 1.9.1.",
    metrics={
        "map": m.AveragePrecision(),
        "dcg": m.DCG(),
        "ndcg": m.NDCG(),
        "ndcg_exp": m.NDCG(gain="exponential"),
        "mae": m.MAE(),
        "mse": m.MSE(),
        "rmse": m.RMSE(),
        "median_absolute_error": m.MedianAbsoluteError(),
        "r2": m.RSquared(),
    },
    policies=Policies(no_positive_grade="zero", no_list="skip", ties="average", threshold=0.0),
)
