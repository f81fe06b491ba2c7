"""What recmetrics computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

RECMETRICS = Convention(
    name="recmetrics",
    about="recmetrics; its MAR is average precision by relevant items, precision and recall keep 4 decimals.",
    notes="Proven with recmetrics 0.1.5 and commit b21222d389.",
    metrics={
        "precision": m.Precision(denominator="list"),
        "recall": m.Recall(),
        "map": m.AveragePrecision(normalizer="hits"),
        "mar": m.AveragePrecision(),
        "prediction_coverage": m.CatalogCoverage(scale="percent"),
        "personalization": m.Personalization(),
        "novelty": m.Novelty(divisor="k", unseen="raise"),
        "intra_list_similarity": m.IntraListSimilarity(single="raise"),
        "mse": m.MSE(),
        "rmse": m.RMSE(),
    },
    policies=Policies(no_relevant="zero"),
    deviations={
        "precision": {"round": 4, "no_list": "raise"},
        "recall": {"round": 4, "no_relevant": "raise"},
    },
)
