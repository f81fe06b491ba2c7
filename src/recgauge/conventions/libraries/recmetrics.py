"""What recmetrics computes under its names; each row is proven by values that it gave."""

from recgauge.conventions import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.beyond.coverage import CatalogCoverage
from recgauge.metrics.beyond.diversity import IntraListSimilarity
from recgauge.metrics.beyond.novelty import Novelty
from recgauge.metrics.beyond.personalization import Personalization
from recgauge.metrics.precision import Precision
from recgauge.metrics.rating.mse import MSE
from recgauge.metrics.rating.rmse import RMSE
from recgauge.metrics.recall import Recall

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
