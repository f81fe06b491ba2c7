"""The part of a run that is kept as JSON: what was run, on what, and what came out."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from recgauge.errors import SchemaError
from recgauge.evaluation.learning import EpochPoint
from recgauge.guards import GuardResult
from recgauge.models.saved import learned_bytes
from recgauge.runs.facts import (
    PARTS,
    DatasetFacts,
    JobFacts,
    MetricValue,
    SanityFacts,
    SearchFacts,
    SplitFacts,
    TieFacts,
)
from recgauge.runs.result import RunResult
from recgauge.runs.settings import fingerprint
from recgauge.utils.plain import from_plain


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
                "ties": TieFacts({str(k): share for k, share in ties.shares.items()}, dict(ties.expected)),
            }
        return cls(
            names=names,
            seed=seed,
            command=command,
            settings=settings,
            dataset=DatasetFacts.of(result.dataset),
            split=SplitFacts.of(result.split),
            results=tuple(MetricValue.of(entry) for entry in result.results),
            refused=result.refused,
            policies="" if ranking is None else ranking.evaluation.policies,
            counts=result.counts,
            seconds=dict(result.seconds),
            environment=environment,
            guards=result.guards,
            learned=result.learned,
            memory={name: size for name, size in memory.items() if size is not None},
            job=job,
            **of_lists,
        )

    def values(self) -> dict[str, float]:
        """Return ``{key: value}`` in the order of the suite."""
        return {entry.key: entry.value for entry in self.results}

    def result(self, key: str) -> MetricValue | None:
        """Return the number with this key, or None."""
        return next((entry for entry in self.results if entry.key == key), None)

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

    def to_json(self) -> str:
        """Return the record as indented JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a record back, also one that an earlier version wrote; SchemaError if the text is not one."""
        try:
            record: Self = from_plain(cls, _as_now(json.loads(text)), "record")
        except (SchemaError, TypeError, KeyError, ValueError, RecursionError) as error:
            raise SchemaError(f"RunRecord: not a record written by recgauge ({error}).") from error
        return record


def _as_now(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a record of an earlier version, whose split was flat (``train_rows``), in today's shape."""
    split = plain["split"]
    for part in PARTS:
        if f"{part}_rows" in split:
            split[part] = {name: split.pop(f"{part}_{name}") for name in ("rows", "users", "sha256")}
    return plain | {name: plain.get(name) or None for name in ("sanity", "ties")}
