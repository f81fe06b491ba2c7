"""What LensKit computes under its names; each row is proven by values that it gave."""

from dataclasses import replace

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

LENSKIT = Convention(
    name="lenskit",
    about="LensKit's list metrics; undefined users are NaN and left out of the mean.",
    notes="Proven with LensKit 2025.8.1; what 2026.2 changed is `lenskit_2026`.",
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

LENSKIT_2026 = replace(
    LENSKIT,
    name="lenskit_2026",
    about="LensKit since 2026.2; the same, but DCG of users without relevant items is undefined, too.",
    notes=(
        "Proven with LensKit 2026.4.0, list by list and by the means of its MeasurementCollector. Its "
        "average precision stops with a ZeroDivisionError at a user without relevant items; here such a user "
        "is undefined."
    ),
    deviations={"precision": {"no_relevant": "zero"}},
)
