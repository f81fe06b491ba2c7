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
    from recgauge.data.interactions import Interactions as Interactions
    from recgauge.data.relevance import Relevant as Relevant
    from recgauge.data.top_k import TopK as TopK
    from recgauge.datasets.demo import Demo as Demo
    from recgauge.datasets.movielens import MovieLens as MovieLens
    from recgauge.evaluation.evaluate import evaluate as evaluate
    from recgauge.evaluation.evaluate_ratings import evaluate_ratings as evaluate_ratings
    from recgauge.evaluation.predict import RatingPredictions as RatingPredictions
    from recgauge.evaluation.predict import predict_ratings as predict_ratings
    from recgauge.evaluation.results import Evaluation as Evaluation
    from recgauge.judging.policies import Policies as Policies
    from recgauge.models.bias import Bias as Bias
    from recgauge.models.biased_mf import BiasedMF as BiasedMF
    from recgauge.models.popularity import Popularity as Popularity
    from recgauge.models.random import Random as Random
    from recgauge.models.random_rating import RandomRating as RandomRating
    from recgauge.models.recommend import recommend as recommend
    from recgauge.models.svd import SVD as SVD
    from recgauge.splits.random_holdout import RandomPerUser as RandomPerUser
    from recgauge.splits.random_holdout import RandomRows as RandomRows
    from recgauge.utils.randomness import stream as stream

_HOMES = {
    "AllItems": "recgauge.candidates",
    "Bias": "recgauge.models.bias",
    "BiasedMF": "recgauge.models.biased_mf",
    "Convention": "recgauge.conventions",
    "Demo": "recgauge.datasets.demo",
    "Evaluation": "recgauge.evaluation.results",
    "Interactions": "recgauge.data.interactions",
    "MovieLens": "recgauge.datasets.movielens",
    "Policies": "recgauge.judging.policies",
    "Popularity": "recgauge.models.popularity",
    "Random": "recgauge.models.random",
    "RandomPerUser": "recgauge.splits.random_holdout",
    "RandomRating": "recgauge.models.random_rating",
    "RandomRows": "recgauge.splits.random_holdout",
    "RatingPredictions": "recgauge.evaluation.predict",
    "Relevant": "recgauge.data.relevance",
    "SVD": "recgauge.models.svd",
    "TopK": "recgauge.models.recommend",
    "evaluate": "recgauge.evaluation.evaluate",
    "evaluate_ratings": "recgauge.evaluation.evaluate_ratings",
    "get_convention": "recgauge.conventions",
    "predict_ratings": "recgauge.evaluation.predict",
    "recommend": "recgauge.models.recommend",
    "stream": "recgauge.utils.randomness",
}

__all__ = [*sorted(_HOMES), "__version__"]
__all__.sort()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'recgauge' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
