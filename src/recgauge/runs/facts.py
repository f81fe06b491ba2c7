"""The typed facts of a run record: numbers and words that survive JSON."""

from dataclasses import dataclass, field, fields
from typing import Any, Self

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.data.split import Split, Step
from recgauge.evaluation import MetricResult
from recgauge.search.trial import Trial, best

PARTS = ("train", "fold_in", "validation", "test")
"""The parts that a split can have."""


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

    @classmethod
    def of(cls, result: MetricResult) -> Self:
        """Leave out the values of single users."""
        return cls(**{one.name: getattr(result, one.name) for one in fields(cls)})


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
        facts |= {one.name: getattr(dataset, one.name) for one in fields(cls) if one.name not in facts}
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


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """The search that chose a model's settings, by validation rows."""

    sha256: str  # digest of everything that decides a trial; the trials' runs have it as a tag
    metric: str  # result key that decided
    higher_is_better: bool
    sampler: str
    budget: str
    trials: tuple[Trial, ...]

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
        ended = [sum(trial.state == state for trial in self.trials) for state in ("pruned", "failed")]
        told = [f"{n} {state}" for n, state in zip(ended, ("pruned", "failed"), strict=True) if n]
        return (
            f"{len(self.trials)} trials ({', '.join([self.sampler, *told])}) in {self.seconds:.1f} s; "
            f"{self.metric} {self.chosen.value:.4f} on validation rows with {self.chosen.words}"
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
