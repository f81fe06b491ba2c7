"""What LensKit computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import (
    DCG,
    MAE,
    NDCG,
    RMSE,
    AveragePrecision,
    HitRate,
    Precision,
    RankBiasedPrecision,
    Recall,
    ReciprocalRank,
)

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
