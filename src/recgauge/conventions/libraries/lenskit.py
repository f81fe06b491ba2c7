"""What LensKit computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

LENSKIT = Convention(
    name="lenskit",
    about="LensKit's list metrics; undefined users are NaN and left out of the mean.",
    metrics={
        "precision": m.Precision(denominator="list", zero="nan"),
        "recall": m.Recall(denominator="min_relevant_k"),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(normalizer="min_relevant_list", zero="nan"),
        "mrr": m.ReciprocalRank(),
        "dcg": m.DCG(gain="binary", discount="jarvelin2"),
        "dcg_graded": m.DCG(discount="jarvelin2"),
        "ndcg": m.NDCG(gain="binary", discount="jarvelin2"),
        "ndcg_graded": m.NDCG(discount="jarvelin2"),
        "rbp": m.RankBiasedPrecision(p=0.85),
        "rbp_normalized": m.RankBiasedPrecision(p=0.85, normalization="ideal"),
        "mae": m.MAE(aggregate="user"),
        "rmse": m.RMSE(aggregate="user"),
    },
    policies=Policies(no_relevant="nan"),
    deviations={
        "precision": {"no_relevant": "zero"},
        "dcg": {"no_relevant": "zero"},
        "dcg_graded": {"no_relevant": "zero"},
    },
)
