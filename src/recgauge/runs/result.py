"""What a run leaves in memory: enough to store, show and recompute every number."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recgauge.candidates import CandidateItems
from recgauge.data.catalogue import Catalogue
from recgauge.data.dataset import Dataset
from recgauge.data.relevance import Relevant
from recgauge.data.split import Split
from recgauge.data.top_k import TopK
from recgauge.errors import ModelError
from recgauge.evaluation import Evaluation, MetricResult, Ties
from recgauge.evaluation.evaluate_ratings import RatingPredictions
from recgauge.evaluation.learning import EpochPoint
from recgauge.evaluation.ranking_task import SanityRows
from recgauge.guards import GuardResult
from recgauge.metrics.curves.full_ranking import FullRankings
from recgauge.models import RatingPredictor, Recommender
from recgauge.models.saved import SavedModel


@dataclass(frozen=True, slots=True, eq=False)
class RankingResult:
    """The part of a result about ranked lists."""

    top_k: TopK  # the lists of the evaluated users
    relevant: Relevant
    catalogue: Catalogue
    evaluation: Evaluation
    ties: Ties  # equal scores at the cutoffs
    # metrics that their own definition refuses for these lists, and why
    refused: Mapping[str, str] = field(default_factory=dict)
    candidates: CandidateItems = field(default_factory=CandidateItems)  # what the lists were chosen from
    sanity: SanityRows | None = None  # chance and the best reachable, if requested
    # ranks of the users' relevant items among all candidates, if a metric or a curve needs that
    rankings: FullRankings | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RatingResult:
    """What a run found with predicted ratings."""

    predictions: RatingPredictions  # one a test row
    evaluation: Evaluation
    # metrics without a value for these ratings, and why
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """A finished run."""

    dataset: Dataset  # after the filters
    split: Split
    model: Recommender | RatingPredictor  # fitted
    ranking: RankingResult | None  # None if no metric of lists was requested
    rating: RatingResult | None  # None if no rating metric was requested
    seconds: Mapping[str, float] = field(default_factory=dict)  # wall-clock, of each stage
    guards: tuple[GuardResult, ...] = ()  # what was looked at, fired or not
    learned: tuple[EpochPoint, ...] = ()  # loss and validation value by epoch; empty if nobody watched
    # the most that the process held from the fit to the last number; None where nobody knows
    peak_bytes: int | None = None

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """The evaluations of ranked lists and of predicted ratings, those that ran."""
        return tuple(part.evaluation for part in (self.ranking, self.rating) if part is not None)

    @property
    def refused(self) -> dict[str, str]:
        """Metrics without a value by name, lists first, and why."""
        parts = [part for part in (self.ranking, self.rating) if part is not None]
        return {name: reason for part in parts for name, reason in part.refused.items()}

    @property
    def results(self) -> tuple[MetricResult, ...]:
        """Every number, lists first."""
        return tuple(result for evaluation in self.evaluations for result in evaluation.results)

    @property
    def counts(self) -> dict[str, int]:
        """Users and ratings that were evaluated or left out."""
        n_tested = len(self.split.test_users)
        merged = {"users_without_test_rows": self.dataset.interactions.n_users - n_tested}
        for evaluation in reversed(self.evaluations):
            merged |= evaluation.counts
        return merged

    def saved_model(self) -> SavedModel:
        """Return the fitted model with all that recommending to users by their ids needs.

        It recommends what the run did. Where the run gave every user candidates of their own, such as sampled
        ones, it recommends all items that a user has not seen.

        Raises
        ------
        ModelError
            If the model only predicts ratings.
        """
        if not isinstance(self.model, Recommender):
            raise ModelError(f"{type(self.model).__name__} only predicts ratings; it has no lists to give.")
        candidates = None if self.ranking is None else self.ranking.candidates
        if candidates is None or candidates.per_user is not None:
            candidates = CandidateItems(excluded=self.split.history.to_csr())
        ids = self.split.train
        return SavedModel(self.model, ids.user_ids, ids.item_ids, candidates, self.dataset.item_titles)
