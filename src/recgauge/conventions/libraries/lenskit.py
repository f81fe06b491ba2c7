"""What LensKit computes under its names; each row is proven by values that it gave."""

from recgauge.conventions import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.dcg import DCG
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.precision import Precision
from recgauge.metrics.rank_biased_precision import RankBiasedPrecision
from recgauge.metrics.rating.mae import MAE
from recgauge.metrics.rating.rmse import RMSE
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank

LENSKIT = Convention(
    name="lenskit",
    about="LensKit's list metrics; undefined users are NaN and left out of the mean.",
    metrics={
        "precision": Precision(denominator="list", zero="nan"),
        "recall": Recall(denominator="min_relevant_k"),
        "hit_rate": HitRate(),
        "map": AveragePrecision(normalizer="min_relevant_list", zero="nan"),
        "mrr": ReciprocalRank(),
        "dcg": DCG(gain="binary", discount="jarvelin2"),
        "dcg_graded": DCG(discount="jarvelin2"),
        "ndcg": NDCG(gain="binary", discount="jarvelin2"),
        "ndcg_graded": NDCG(discount="jarvelin2"),
        "rbp": RankBiasedPrecision(p=0.85),
        "rbp_normalized": RankBiasedPrecision(p=0.85, normalization="ideal"),
        "mae": MAE(aggregate="user"),
        "rmse": RMSE(aggregate="user"),
    },
    policies=Policies(no_relevant="nan"),
    deviations={
        "precision": {"no_relevant": "zero"},
        "dcg": {"no_relevant": "zero"},
        "dcg_graded": {"no_relevant": "zero"},
    },
)
