"""A finished run: all that it leaves in memory, and its record, the part that is kept as JSON."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from recgauge.candidates import CandidateItems, seen_rows
from recgauge.data.catalogue import Catalogue
from recgauge.data.coverage import Coverage
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.data.lists import Relevant, TopK
from recgauge.data.split import PARTS, Split, Step
from recgauge.errors import ModelError, SchemaError
from recgauge.evaluation import Evaluation, Ineligible, MetricResult, Ties
from recgauge.evaluation.evaluate_ratings import RatingPredictions
from recgauge.evaluation.learning import EpochPoint
from recgauge.evaluation.ranking_task import SanityRows
from recgauge.guards import GuardResult
from recgauge.metrics.curves.full_ranking import FullRankings
from recgauge.metrics.names import label
from recgauge.models import RatingPredictor, Recommender
from recgauge.models.recommend import serving
from recgauge.models.recorded import Recorded
from recgauge.models.saved import SavedModel, learned_bytes
from recgauge.recorded.direction import Reversal
from recgauge.runs.settings import MEASURED, fingerprint
from recgauge.search.space import Space, edge, flat, parse_space
from recgauge.search.trials import Trial, best, importances
from recgauge.utils.plain import from_plain

_MOST_SETTINGS = 3  # settings of a search of which it is said how much they mattered


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
    reversal: Reversal | None = None  # of recorded lists: that they are better from their end


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
    coverage: Coverage | None = None  # whose values the numbers are of, of all who were held out

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """The evaluations of ranked lists and of predicted ratings, those that ran."""
        return tuple(part.evaluation for part in (self.ranking, self.rating) if part is not None)

    @property
    def results(self) -> tuple[MetricResult, ...]:
        """Every number, lists first."""
        return tuple(result for evaluation in self.evaluations for result in evaluation.results)

    @property
    def counts(self) -> dict[str, int]:
        """Users and ratings that were evaluated or left out."""
        n_tested = self.split.coverage().users
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
        split, model = self.split, self.model
        if split.query_of is not None:  # users are served by what was fitted; queries are of the evaluation
            seen = split.history.to_csr()
            ids = split.history
            return SavedModel(
                model, ids.user_ids, ids.item_ids, CandidateItems(excluded=seen), self.dataset.item_titles
            )
        candidates = None if self.ranking is None else self.ranking.candidates
        if candidates is None or candidates.per_user is not None:
            candidates = CandidateItems(excluded=seen_rows(self.split, "both"))
        ids = self.split.train
        return SavedModel(
            serving(model, split), ids.user_ids, ids.item_ids, candidates, self.dataset.item_titles
        )


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One number of a run."""

    key: str  # such as ``ndcg_at_10``
    name: str  # the key without its cutoff
    k: int | None  # the cutoff; None: the whole list, or no list at all
    value: float
    stderr: float | None  # standard error of the mean over users, where there is one
    definition: str  # the canonical text of the definition
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """The data set after the filters."""

    name: str
    sha256: str  # digest of the rows as they were loaded
    provenance: str
    source: str
    licence: str
    feedback: str  # "explicit" or "implicit"
    relevant_from: float | None  # lowest rating that is relevant; None: every row
    n_rows: int
    n_users: int
    n_items: int

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        """Count a data set."""
        rows = dataset.interactions
        facts: dict[str, Any] = {"n_rows": len(rows), "n_users": rows.n_users, "n_items": rows.n_items}
        facts |= {
            entry.name: getattr(dataset, entry.name) for entry in fields(cls) if entry.name not in facts
        }
        return cls(**facts)


@dataclass(frozen=True, slots=True)
class PartFacts:
    """One part of a split."""

    rows: int
    users: int  # with at least one row
    sha256: str  # digest of the rows

    @classmethod
    def of(cls, part: Interactions) -> Self:
        """Count a part."""
        return cls(len(part), int((part.user_counts() > 0).sum()), part.sha256())


@dataclass(frozen=True, slots=True)
class SplitFacts:
    """The parts of a split and the steps that led to them."""

    train: PartFacts
    test: PartFacts
    validation: PartFacts | None = None
    fold_in: PartFacts | None = None
    steps: tuple[Step, ...] = ()  # of the filters and of the split, in their order
    test_cold_users: int = 0  # what of the test part the training part does not know
    test_cold_user_rows: int = 0
    test_cold_items: int = 0
    test_cold_item_rows: int = 0
    # "test", or "validation" if the run was evaluated on validation rows, which `test` then describes
    evaluated: str = "test"

    @classmethod
    def of(cls, split: Split) -> Self:
        """Count a split."""
        facts: dict[str, Any] = dict(split.cold_counts())
        for name in PARTS:
            if (part := getattr(split, name)) is not None:
                facts[name] = PartFacts.of(part)
        return cls(**facts, steps=split.steps, evaluated=split.evaluated)

    @property
    def parts(self) -> dict[str, PartFacts]:
        """The parts that there are, by name."""
        named = {self.evaluated if name == "test" else name: getattr(self, name) for name in PARTS}
        return {name: part for name, part in named.items() if part is not None}

    @property
    def dropped_rows(self) -> int:
        """Rows that filters and split dropped."""
        return sum(step.dropped_rows for step in self.steps)

    @property
    def joined_rows(self) -> int:
        """Rows held back for validation that have joined the training part."""
        return sum(max(0, step.rows[1] - step.rows[0]) for step in self.steps)


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """The search that chose a model's settings, by validation rows."""

    sha256: str  # digest of everything that decides a trial; the trials' runs have it as a tag
    metric: str  # result key that decided
    higher_is_better: bool
    sampler: str
    budget: str
    trials: tuple[Trial, ...]
    own_first: bool = False  # the first trial had the model's own settings; earlier versions do not say
    n_stored: int = 0  # trials that an earlier run had done

    @property
    def chosen(self) -> Trial:
        """The trial whose settings the run has."""
        return best(self.trials, maximize=self.higher_is_better)

    def same(self, other: Self | None) -> bool:
        """Whether another search is this one, with as many trials."""
        return other is not None and (self.sha256, len(self.trials)) == (other.sha256, len(other.trials))

    @property
    def seconds(self) -> float:
        """Wall-clock seconds of all trials."""
        return sum(trial.seconds for trial in self.trials)

    def __str__(self) -> str:
        counts = {state: sum(trial.state == state for trial in self.trials) for state in ("pruned", "failed")}
        counts["of an earlier run"] = self.n_stored
        states = [f"{n} {state}" for state, n in counts.items() if n]
        return (
            f"{len(self.trials)} trials ({', '.join([self.sampler, *states])}) in {self.seconds:.1f} s; "
            f"{label(self.metric)} {self.chosen.value:.4f} on validation rows"
            f"{'' if self.higher_is_better else ' (less is better)'} with {self.chosen.words}"
        )


@dataclass(frozen=True, slots=True)
class SanityFacts:
    """What random lists and the best lists reach, by result key."""

    chance: dict[str, float]  # the best reachable is known for metrics of relevance only
    oracle: dict[str, float]


@dataclass(frozen=True, slots=True)
class TieFacts:
    """Equal scores at the cutoffs."""

    # cutoff to the share of evaluated users for whom it falls inside a group of equal scores
    share_at_cutoff: dict[str, float]
    # result key to the expected value if these were in random order; empty if there are none
    expected: dict[str, float]


@dataclass(frozen=True, slots=True)
class JobFacts:
    """When and as part of what a job ran, and which store is to have it."""

    name: str  # shown in the table of runs
    started: float  # seconds since 1970
    ended: float = 0.0
    user: str = ""
    sweep: str = ""  # folder of the sweep that the job was one of; empty for a single run
    experiment: str = ""  # as in ``experiment=NAME``; empty without one
    # address without secrets, MLflow experiment and ``log_model``; empty with ``tracking=off``
    store: dict[str, Any] = field(default_factory=dict)
    command: str = ""  # the command line of the sweep; empty for a single run


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run in words and numbers; survives a JSON round trip and never changes."""

    names: dict[str, str]  # the chosen dataset, filters, split, candidates, model, conventions and metrics
    seed: int
    command: str  # the command line that repeats the run
    settings: dict[str, Any]  # the resolved configuration
    dataset: DatasetFacts
    split: SplitFacts
    results: tuple[MetricValue, ...]  # in the order of the suite
    refused: dict[str, str]  # metrics that their own definition refuses for these lists or ratings, and why
    policies: str  # canonical text of what happens to users without relevant items, ties and the like
    # users evaluated and left out, predicted ratings, and what the candidate rule counted
    counts: dict[str, int]
    seconds: dict[str, float]  # wall-clock, of each stage
    environment: dict[str, Any]
    # why the numbers cannot be compared with those of the whole catalogue; empty if they can
    incomparable: str = ""
    candidates_sha256: str = ""  # digest of the candidates that a rule names; empty where it names none
    guards: tuple[GuardResult, ...] = ()
    sanity: SanityFacts | None = None  # None if not requested
    ties: TieFacts | None = None  # None without lists
    learned: tuple[EpochPoint, ...] = ()  # loss and validation value by epoch, if somebody watched
    search: SearchFacts | None = None  # the search that chose the model's settings
    # ``peak_bytes``: the most that the process held from the fit to the last number; ``model_bytes``: what
    # the model keeps. As far as known; records of earlier versions have none.
    memory: dict[str, int] = field(default_factory=dict)
    # when it ran, and which store is to have it; records of earlier versions have none
    job: JobFacts | None = None
    # whose values the numbers are of, of all who were held out; records of earlier versions do not say
    coverage: Coverage | None = None
    # unknown, seen and repeated items of lists from outside, and how they were judged
    ineligible: Ineligible | None = None
    list_order: str = ""  # what ordered lists from outside, such as ``rank, rising``

    @property
    def searched(self) -> dict[str, Any]:
        """What the search drew settings from, as it was declared; empty without a search."""
        declared = flat(self.settings.get("search") or {})
        chosen = {} if self.search is None else self.search.chosen.settings
        return {name: declared[name] for name in chosen if name in declared}

    @property
    def search_space(self) -> Space:
        """The ranges that the search drew settings from; empty without a search."""
        return parse_space(self.searched)

    @property
    def search_remarks(self) -> list[str]:
        """What to know of the chosen settings: that they are the model's own, or which are at an edge."""
        if self.search is None:
            return []
        chosen = self.search.chosen
        if self.search.own_first and chosen.number == 0:
            return ["the defaults won"]
        space, model = self.search_space.items(), self.names["model"]
        return [text for name, each in space if (text := edge(name, each, chosen.settings[name], model))]

    @property
    def importances(self) -> dict[str, float]:
        """How much each setting of the search mattered, the largest first; empty where that is not known."""
        search = self.search
        if search is None:
            return {}
        return importances(search.trials, self.search_space, maximize=search.higher_is_better)

    @property
    def mattered(self) -> str:
        """The settings of the search that mattered most, with their shares of 1; empty if none is known."""
        trials = () if self.search is None else self.search.trials
        n, shares = sum(trial.state == "finished" for trial in trials), self.importances.items()
        texts = [f"{name} {f'{share:.2f}'.removeprefix('0')}" for name, share in [*shares][:_MOST_SETTINGS]]
        return f"{', '.join(texts)} (roughly, of {n} trials)" if texts else ""

    @property
    def tuned(self) -> str:
        """The search, its remarks and what mattered in words; empty without a search."""
        if self.search is None:
            return ""
        mattered = [f"what mattered: {words}"] if (words := self.mattered) else []
        return "; ".join([str(self.search), *self.search_remarks, *mattered])

    @classmethod
    def from_result(
        cls,
        result: RunResult,
        *,
        names: dict[str, str],
        seed: int,
        command: str,
        settings: dict[str, Any],
        environment: dict[str, Any],
        job: JobFacts | None = None,
    ) -> Self:
        """Describe a finished run."""
        ranking = result.ranking
        memory = {"peak_bytes": result.peak_bytes, "model_bytes": learned_bytes(result.model)}
        of_lists: dict[str, Any] = {}
        if ranking is not None:
            sanity, ties = ranking.sanity, ranking.ties
            of_lists = {
                "incomparable": ranking.candidates.incomparable,
                "candidates_sha256": ranking.candidates.sha256(),
                "sanity": None if sanity is None else SanityFacts(dict(sanity.chance), dict(sanity.oracle)),
                "ineligible": ranking.evaluation.ineligible,
                "ties": TieFacts({str(k): share for k, share in ties.shares.items()}, dict(ties.expected)),
            }
        return cls(
            names=names,
            seed=seed,
            command=command,
            settings=settings,
            dataset=DatasetFacts.of(result.dataset),
            split=SplitFacts.of(result.split),
            results=tuple(
                MetricValue(**{each.name: getattr(entry, each.name) for each in fields(MetricValue)})
                for entry in result.results
            ),
            refused={
                name: reason
                for part in (ranking, result.rating)
                if part is not None
                for name, reason in part.refused.items()
            },
            list_order=str(result.model.order_of_lists) if isinstance(result.model, Recorded) else "",
            policies="" if ranking is None else ranking.evaluation.policies,
            counts=result.counts,
            seconds=dict(result.seconds),
            environment=environment,
            guards=result.guards,
            learned=result.learned,
            memory={name: size for name, size in memory.items() if size is not None},
            job=job,
            coverage=result.coverage,
            **of_lists,
        )

    def values(self) -> dict[str, float]:
        """Return ``{key: value}`` in the order of the suite."""
        return {entry.key: entry.value for entry in self.results}

    def result(self, key: str) -> MetricValue | None:
        """Return the number with this key, or None."""
        return next((entry for entry in self.results if entry.key == key), None)

    @property
    def users(self) -> str:
        """How many users are evaluated: of how many with held-out rows, if not all; empty if not known."""
        if self.coverage is not None:
            return str(self.coverage)
        n_users = self.counts.get("users_evaluated")
        return "" if n_users is None else f"{n_users:,}"

    @property
    def fit_on(self) -> str:
        """Rows that the model was fitted on: ``train``, ``train_validation`` or ``all``."""
        return str(self.settings.get("fit_on", "train"))

    @property
    def evaluated_on(self) -> str:
        """Rows that the numbers are of: ``test`` or ``validation``."""
        return self.split.evaluated

    @property
    def kept_epoch(self) -> int | None:
        """The epoch that the model is of: the last, or the best where `learning.patience` was set."""
        looks = [point for point in self.learned if point.value is not None]
        if (self.settings.get("learning") or {}).get("patience") is None or not looks:
            return self.learned[-1].epoch if self.learned else None
        entry = self.result(looks[0].metric)
        sign = -1.0 if entry is not None and not entry.higher_is_better else 1.0
        return max(looks, key=lambda point: (sign * float(point.value or 0.0), -point.epoch)).epoch

    def fingerprint(self) -> str:
        """Return the digest of everything that can change a number: `recgauge.runs.settings.fingerprint`."""
        return fingerprint(
            self.settings,
            self.dataset.sha256,
            self.environment.get("numeric_version", 0),
            self.environment.get("sources", {}),
        )

    def settings_digest(self, *, measured: bool = True) -> str:
        """Return the fingerprint but for recgauge's sources, which need not tell runs apart, with the search.

        Without `measured` nor does the choice of the metrics.
        """
        sources = {
            name: digest for name, digest in self.environment.get("sources", {}).items() if name != "recgauge"
        }
        settings = {key: value for key, value in self.settings.items() if measured or key not in MEASURED}
        own = replace(self, settings=settings, environment=self.environment | {"sources": sources})
        return own.fingerprint() + ("" if self.search is None else self.search.sha256 + self.search.budget)

    def to_json(self) -> str:
        """Return the record as indented JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a record back; SchemaError if the text is not one."""
        try:
            record: Self = from_plain(cls, json.loads(text), "record")
        except (SchemaError, TypeError, KeyError, ValueError, RecursionError) as error:
            raise SchemaError(f"RunRecord: not a record written by recgauge ({error}).") from error
        return record


def defined_alike(records: Iterable[RunRecord]) -> bool:
    """Whether metrics that several records have are defined alike."""
    definitions = {(entry.key, entry.definition) for record in records for entry in record.results}
    return len(definitions) == len({key for key, _ in definitions})


def coverage_counts(record: RunRecord) -> dict[str, int]:
    """Return the counts that tables and MLflow have; records of earlier versions lack some."""
    if (coverage := record.coverage) is None:
        return {name: n for name, n in record.counts.items() if name == "users_evaluated"}
    return {
        "users_evaluated": coverage.users_evaluated,
        "users_with_test_rows": coverage.users,
        "test_rows": coverage.rows,
        "test_rows_dropped": coverage.rows_dropped,
    }
