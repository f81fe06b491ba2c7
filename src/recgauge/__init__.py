"""Experiment-tracking evaluation harness for recommender systems.

Names are imported when they are first used, so ``import recgauge`` costs next to nothing.
"""

from typing import TYPE_CHECKING

from recgauge._version import __version__ as __version__
from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.candidates import AllItems as AllItems
    from recgauge.checks.checking import check as check
    from recgauge.cli.run import run as run
    from recgauge.comparison.comparing import compare as compare
    from recgauge.comparison.over_datasets import compare_datasets as compare_datasets
    from recgauge.comparison.segments import compare_item_groups as compare_item_groups
    from recgauge.comparison.segments import compare_segments as compare_segments
    from recgauge.conventions import Convention as Convention
    from recgauge.conventions import get_convention as get_convention
    from recgauge.data.interactions import Interactions as Interactions
    from recgauge.data.lists import Relevant as Relevant
    from recgauge.data.lists import TopK as TopK
    from recgauge.datasets.demo import Demo as Demo
    from recgauge.datasets.movielens import MovieLens as MovieLens
    from recgauge.evaluation import Evaluation as Evaluation
    from recgauge.evaluation.evaluate import evaluate as evaluate
    from recgauge.evaluation.evaluate_ratings import RatingPredictions as RatingPredictions
    from recgauge.evaluation.evaluate_ratings import evaluate_ratings as evaluate_ratings
    from recgauge.evaluation.evaluate_ratings import predict_ratings as predict_ratings
    from recgauge.evaluation.parts import Part as Part
    from recgauge.evaluation.parts import PartTask as PartTask
    from recgauge.experiment import Experiment as Experiment
    from recgauge.experiment import run_experiment as run_experiment
    from recgauge.judging import Policies as Policies
    from recgauge.models.bias import Bias as Bias
    from recgauge.models.biased_mf import BiasedMF as BiasedMF
    from recgauge.models.bpr import BPR as BPR
    from recgauge.models.ease import EASE as EASE
    from recgauge.models.ials import IALS as IALS
    from recgauge.models.item_knn import ItemKNN as ItemKNN
    from recgauge.models.p3alpha import P3alpha as P3alpha
    from recgauge.models.popularity import Popularity as Popularity
    from recgauge.models.random import Random as Random
    from recgauge.models.random_rating import RandomRating as RandomRating
    from recgauge.models.rating_knn import RatingKNN as RatingKNN
    from recgauge.models.recommend import recommend as recommend
    from recgauge.models.recommend import serving as serving
    from recgauge.models.rp3beta import RP3beta as RP3beta
    from recgauge.models.sequential_rules import SequentialRules as SequentialRules
    from recgauge.models.session_knn import SessionKNN as SessionKNN
    from recgauge.models.slim import SLIM as SLIM
    from recgauge.models.svd import SVD as SVD
    from recgauge.models.svd_pp import SVDpp as SVDpp
    from recgauge.models.user_knn import UserKNN as UserKNN
    from recgauge.packages import package as package
    from recgauge.runs.finished import FinishedRun as FinishedRun
    from recgauge.splits.shares import RandomPerUser as RandomPerUser
    from recgauge.splits.shares import RandomRows as RandomRows
    from recgauge.utils.randomness import stream as stream
else:
    __getattr__, __dir__ = lazy_names(__name__)
