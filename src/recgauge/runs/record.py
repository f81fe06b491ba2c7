"""The part of a run that is kept as JSON: what was run, on what, and what came out."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from recgauge.errors import SchemaError
from recgauge.evaluation.results import MetricResult
from recgauge.runs.fingerprint import fingerprint
from recgauge.runs.result import RunResult


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run in words and numbers; survives a JSON round trip.

    Parameters
    ----------
    names : dict of str to str
        The chosen dataset, split, candidates, model, conventions and metrics.
    seed : int
    command : str
        The command line that gives the run again.
    settings : dict of str to Any
        The resolved configuration.
    dataset : dict of str to Any
        Facts about the data: digest, provenance, source, licence, counts.
    split : dict of str to Any
        Rows and users of each part, and the steps before and after it: counts before and after.
    results : list of dict
        ``key``, ``name``, ``k``, ``value``, ``stderr``, ``definition``, ``higher_is_better`` each.
    refused : dict of str to str
        Metrics that their own definition refuses for these lists or ratings, and why.
    policies : str
        Canonical text of what happens to users without relevant items, ties and the like.
    counts : dict of str to int
        Users evaluated and left out.
    seconds : dict of str to float
    environment : dict of str to Any
    incomparable : str
        Why the numbers cannot be compared with those of the whole catalogue; empty if they can.
    candidates_sha256 : str
        Digest of the candidates that a rule names; empty where it names none.
    guards : list of dict
        ``name``, ``value``, ``level``, ``message``, ``overridden`` each.
    sanity : dict of str to dict
        ``chance`` and ``oracle``, each ``{key: value}``; empty if not asked for.
    ties : dict of str to dict
        ``share_at_cutoff``: cutoff to the share of evaluated users for whom it falls inside a group of equal
        scores; ``expected``: ``{key: value}`` if these were in random order, empty if there are none. Empty
        without lists.
    """

    names: dict[str, str]
    seed: int
    command: str
    settings: dict[str, Any]
    dataset: dict[str, Any]
    split: dict[str, Any]
    results: list[dict[str, Any]]
    refused: dict[str, str]
    policies: str
    counts: dict[str, int]
    seconds: dict[str, float]
    environment: dict[str, Any]
    incomparable: str = ""
    candidates_sha256: str = ""
    guards: list[dict[str, Any]] = field(default_factory=list)
    sanity: dict[str, dict[str, float]] = field(default_factory=dict)
    ties: dict[str, dict[str, float]] = field(default_factory=dict)

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
    ) -> Self:
        """Describe a finished run."""
        return cls(
            names=names,
            seed=seed,
            command=command,
            settings=settings,
            dataset=_dataset_facts(result),
            split=_split_facts(result),
            results=[_result_facts(entry) for entry in result.results],
            refused=result.refused,
            policies="" if result.ranking is None else result.ranking.evaluation.policies,
            counts=result.counts,
            seconds=dict(result.seconds),
            environment=environment,
            incomparable="" if result.ranking is None else result.ranking.incomparable,
            candidates_sha256="" if result.ranking is None else result.ranking.candidates_sha256,
            guards=[asdict(guard) for guard in result.guards],
            sanity=_sanity_facts(result),
            ties=_tie_facts(result),
        )

    def values(self) -> dict[str, float]:
        """Return ``{key: value}`` in the order of the suite."""
        return {entry["key"]: entry["value"] for entry in self.results}

    @property
    def fit_on(self) -> str:
        """Rows that the model was fitted on: ``train`` or ``all``."""
        return str(self.settings.get("fit_on", "train"))

    def fingerprint(self) -> str:
        """Return a digest of everything that can change a number; see :mod:`recgauge.runs.fingerprint`."""
        return fingerprint(
            self.settings,
            self.dataset["sha256"],
            self.environment.get("numeric_version", 0),
            self.environment.get("sources", {}),
        )

    def to_json(self) -> str:
        """Return the record as indented JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a record back.

        Raises
        ------
        SchemaError
            If the text is not a record.
        """
        try:
            return cls(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise SchemaError(f"RunRecord: not a record written by recgauge ({error}).") from error


def _dataset_facts(result: RunResult) -> dict[str, Any]:
    dataset, rows = result.dataset, result.dataset.interactions
    return {
        "name": dataset.name,
        "sha256": dataset.sha256,
        "provenance": dataset.provenance,
        "source": dataset.source,
        "licence": dataset.licence,
        "feedback": dataset.feedback,
        "relevant_from": dataset.relevant_from,
        "n_rows": len(rows),
        "n_users": rows.n_users,
        "n_items": rows.n_items,
    }


def _split_facts(result: RunResult) -> dict[str, Any]:
    split = result.split
    parts = {
        "train": split.train,
        "fold_in": split.fold_in,
        "validation": split.validation,
        "test": split.test,
    }
    facts: dict[str, Any] = {}
    for name, part in parts.items():
        if part is not None:
            facts[f"{name}_rows"] = len(part)
            facts[f"{name}_users"] = int((part.user_counts() > 0).sum())
            facts[f"{name}_sha256"] = part.sha256()
    facts |= split.cold_counts()
    facts["steps"] = [
        {
            "stage": step.stage,
            "name": step.name,
            "rows": list(step.rows),
            "users": list(step.users),
            "items": list(step.items),
            "note": step.note,
        }
        for step in split.steps
    ]
    return facts


def _sanity_facts(result: RunResult) -> dict[str, dict[str, float]]:
    if result.ranking is None or result.ranking.sanity is None:
        return {}
    return {"chance": dict(result.ranking.sanity.chance), "oracle": dict(result.ranking.sanity.oracle)}


def _tie_facts(result: RunResult) -> dict[str, dict[str, float]]:
    if result.ranking is None:
        return {}
    ties = result.ranking.ties
    shares = {str(k): share for k, share in ties.shares.items()}
    return {"share_at_cutoff": shares, "expected": dict(ties.expected)}


def _result_facts(entry: MetricResult) -> dict[str, Any]:
    names = ("key", "name", "k", "value", "stderr", "definition", "higher_is_better")
    return {name: getattr(entry, name) for name in names}
