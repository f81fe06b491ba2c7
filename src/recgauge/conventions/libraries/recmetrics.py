"""What recmetrics computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics import (
    MSE,
    RMSE,
    AveragePrecision,
    CatalogCoverage,
    IntraListSimilarity,
    Novelty,
    Personalization,
    Precision,
    Recall,
)

RECMETRICS = Convention(
    name="recmetrics",
    about="recmetrics; its MAR is average precision by relevant items, precision and recall keep 4 decimals.",
    metrics={
        "precision": Precision(denominator="list"),
        "recall": Recall(),
        "map": AveragePrecision(normalizer="hits"),
        "mar": AveragePrecision(),
        "prediction_coverage": CatalogCoverage(scale="percent"),
        "personalization": Personalization(),
        "novelty": Novelty(divisor="k", unseen="raise"),
        "intra_list_similarity": IntraListSimilarity(single="raise"),
        "mse": MSE(),
        "rmse": RMSE(),
    },
    policies=Policies(no_relevant="zero"),
    deviations={
        "precision": {"round": 4, "no_list": "raise"},
        "recall": {"round": 4, "no_relevant": "raise"},
    },
)
