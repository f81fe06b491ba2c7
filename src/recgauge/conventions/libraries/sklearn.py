"""What scikit-learn computes under its names; each row is proven by values that it gave."""

from recgauge.conventions import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.dcg import DCG
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.rating.mae import MAE
from recgauge.metrics.rating.median_absolute_error import MedianAbsoluteError
from recgauge.metrics.rating.mse import MSE
from recgauge.metrics.rating.r_squared import RSquared
from recgauge.metrics.rating.rmse import RMSE

SKLEARN = Convention(
    name="sklearn",
    about="scikit-learn's ndcg_score and average_precision_score, user by user; equal scores share places.",
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
