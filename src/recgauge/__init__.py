"""Experiment-tracking evaluation harness for recommender systems.

Names are imported when they are first used, so ``import recgauge`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recgauge._version import __version__

if TYPE_CHECKING:
    from recgauge.candidates import AllItems as AllItems
    from recgauge.conventions import Convention as Convention
    from recgauge.conventions import get_convention as get_convention
    from recgauge.datasets.demo import Demo as Demo
    from recgauge.datasets.movielens import MovieLens as MovieLens
    from recgauge.evaluation import evaluate as evaluate
    from recgauge.interactions import Interactions as Interactions
    from recgauge.models.bias import Bias as Bias
    from recgauge.models.biased_mf import BiasedMF as BiasedMF
    from recgauge.models.popularity import Popularity as Popularity
    from recgauge.models.random import Random as Random
    from recgauge.models.random_rating import RandomRating as RandomRating
    from recgauge.models.svd import SVD as SVD
    from recgauge.policies import Policies as Policies
    from recgauge.randomness import stream as stream
    from recgauge.rating import RatingPredictions as RatingPredictions
    from recgauge.rating import predict_ratings as predict_ratings
    from recgauge.rating_evaluation import evaluate_ratings as evaluate_ratings
    from recgauge.recommending import TopK as TopK
    from recgauge.recommending import recommend as recommend
    from recgauge.relevance import Relevant as Relevant
    from recgauge.results import Evaluation as Evaluation
    from recgauge.splits.random_holdout import RandomPerUser as RandomPerUser
    from recgauge.splits.random_holdout import RandomRows as RandomRows

_HOMES = {
    "AllItems": "recgauge.candidates",
    "Bias": "recgauge.models.bias",
    "BiasedMF": "recgauge.models.biased_mf",
    "Convention": "recgauge.conventions",
    "Demo": "recgauge.datasets.demo",
    "Evaluation": "recgauge.results",
    "Interactions": "recgauge.interactions",
    "MovieLens": "recgauge.datasets.movielens",
    "Policies": "recgauge.policies",
    "Popularity": "recgauge.models.popularity",
    "Random": "recgauge.models.random",
    "RandomPerUser": "recgauge.splits.random_holdout",
    "RandomRating": "recgauge.models.random_rating",
    "RandomRows": "recgauge.splits.random_holdout",
    "RatingPredictions": "recgauge.rating",
    "Relevant": "recgauge.relevance",
    "SVD": "recgauge.models.svd",
    "TopK": "recgauge.recommending",
    "evaluate": "recgauge.evaluation",
    "evaluate_ratings": "recgauge.rating_evaluation",
    "get_convention": "recgauge.conventions",
    "predict_ratings": "recgauge.rating",
    "recommend": "recgauge.recommending",
    "stream": "recgauge.randomness",
}

__all__ = [*sorted(_HOMES), "__version__"]
__all__.sort()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'recgauge' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
