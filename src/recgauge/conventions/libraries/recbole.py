"""What RecBole computes under its names; each row is proven by values that it gave."""

from recgauge.conventions import Convention
from recgauge.judging.policies import Policies
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.beyond.concentration import Entropy, Gini
from recgauge.metrics.beyond.coverage import CatalogCoverage
from recgauge.metrics.beyond.long_tail import TailPercentage
from recgauge.metrics.beyond.popularity import Popularity
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.precision import Precision
from recgauge.metrics.rating.mae import MAE
from recgauge.metrics.rating.rmse import RMSE
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank

RECBOLE = Convention(
    name="recbole",
    about="RecBole's top-k metrics.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "hit_rate": HitRate(),
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(gain="binary"),
        "catalog_coverage": CatalogCoverage(),
        "item_coverage": CatalogCoverage(),
        "entropy": Entropy(base="e", divisor="recommended"),
        "shannon_entropy": Entropy(base="e", divisor="recommended"),
        "gini": Gini(),
        "gini_index": Gini(),
        "popularity": Popularity(divisor="k"),
        "average_popularity": Popularity(divisor="k"),
        "tail_percentage": TailPercentage(),
        "mae": MAE(),
        "rmse": RMSE(),
    },
    policies=Policies(lists_of="relevant"),
)
