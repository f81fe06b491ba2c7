"""What scikit-learn computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import DCG, MAE, MSE, NDCG, RMSE, AveragePrecision, MedianAbsoluteError, RSquared

SKLEARN = Convention(
    name="sklearn",
    about="scikit-learn's ndcg_score and average_precision_score, user by user; equal scores share ranks.",
    metrics={
        "map": AveragePrecision(),
        "dcg": DCG(),
        "ndcg": NDCG(),
        "ndcg_exp": NDCG(gain="exponential"),
        "mae": MAE(),
        "mse": MSE(),
        "rmse": RMSE(),
        "median_absolute_error": MedianAbsoluteError(),
        "r2": RSquared(),
    },
    policies=Policies(no_positive_grade="zero", no_list="skip", ties="average", threshold=0.0),
)
