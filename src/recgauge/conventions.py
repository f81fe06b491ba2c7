"""Named sets of metric definitions; a suite names metrics, the conventions say what they mean."""

from dataclasses import dataclass

from recgauge._checks import check_choice
from recgauge.errors import ConfigError
from recgauge.metrics import Metric
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.f_score import FScore
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.precision import Precision
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank

_STANDARD: dict[str, Metric] = {
    "precision": Precision(),
    "recall": Recall(),
    "f1": FScore(),
    "hit_rate": HitRate(),
    "mrr": ReciprocalRank(),
    "map": AveragePrecision(),
    "ndcg": NDCG(),
}


@dataclass(frozen=True)
class Conventions:
    """What metric names mean in one library or article.

    Parameters
    ----------
    name : {"standard"}

    Raises
    ------
    ConfigError
        If the name is unknown.

    Examples
    --------
    >>> Conventions("standard").metric("ndcg").definition(10)
    'nDCG(gain=linear, discount=log2, ideal=at_k)@10'
    """

    name: str = "standard"

    def __post_init__(self) -> None:
        check_choice("Conventions: name", self.name, ("standard",))

    def metric(self, name: str) -> Metric:
        """Return the definition that `name` stands for.

        Raises
        ------
        ConfigError
            If there is no metric of that name.
        """
        if name not in _STANDARD:
            raise ConfigError(f"Metrics: no metric is called {name!r}; there are {', '.join(_STANDARD)}.")
        return _STANDARD[name]
