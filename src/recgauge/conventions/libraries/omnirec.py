"""What OmniRec computes under its names, up to 1.0 and since 1.1; each row is proven by values it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

_NEW = {
    "precision": m.Precision(),
    "recall": m.Recall(denominator="min_relevant_k"),
    "hit_rate": m.HitRate(),
    "ndcg": m.NDCG(gain="binary"),
    "mae": m.MAE(),
    "rmse": m.RMSE(),
}

OMNIREC = Convention(
    name="omnirec",
    about="OmniRec up to 1.0; its nDCG compares with a list of k hits, its recall divides by at most k.",
    notes=(
        "Proven with OmniRec 1.0.0. Every user with a list counts, with 0 where nothing is relevant; recall "
        "is 0/0 for such a user, so that OmniRec's own mean is then NaN: here it is the mean of the others."
    ),
    metrics={**_NEW, "ndcg": m.NDCG(gain="binary", ideal="k_ones")},
    policies=Policies(no_relevant="zero", no_list="skip"),
    deviations={"recall": {"no_relevant": "nan"}},
)

OMNIREC_1_1 = Convention(
    name="omnirec_1_1",
    about="OmniRec since 1.1; the ideal of its nDCG has at most as many hits as the user has relevant items.",
    notes="Proven with OmniRec 1.1.0. Only users who have both a list and relevant items count.",
    metrics=_NEW,
    policies=Policies(no_list="skip"),
)
