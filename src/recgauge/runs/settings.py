"""The settings of one run: names, types, defaults, what each can change, and the fingerprint of them all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from hashlib import sha256
from typing import Any, TypeGuard

FREE = {"free": True}
"""Marks a setting that never changes a number; all others count in a run's fingerprint."""
LISTS, WATCH, TUNE = ({"needs": words} for words in ("metrics=[ranking]", "learning.watch=true", "tune=tpe"))
"""Mark settings that change nothing without these words (`recgauge.sweeps.needs`)."""
FREE_DATASET_SETTINGS = ("mirror", "cache", "archive", "offline", "sha256", "path", "prepared", "limits")
"""Settings of a data set that say where it is; the digest of its content replaces them."""
ISOLATED = "recgauge.models.isolated."
"""How ``_target_`` of a model begins that is trained in an environment of its own."""
FREE_ISOLATED_SETTINGS = ("timeout",)
"""Settings of such a model that never change a number."""


@dataclass
class DataSettings:
    """Where archives are looked for and prepared data are kept."""

    mirror: Any = None  # one folder or address, or a list of them
    cache: str | None = None
    offline: bool = False
    prepared: bool = True
    limits: dict[str, int] = field(  # see `recgauge.datasets.table.Table`
        default_factory=lambda: {
            "rows": 150_000_000,
            "columns": 10_000,
            "line_bytes": 1 << 24,
            "unpacked_bytes": 1 << 34,
        },
    )


@dataclass
class EngineSettings:
    """How work is cut up; never changes a number."""

    memory_mib: int = 256


@dataclass
class ArtifactsSettings:
    """What a run stores in addition to its numbers; never changes one."""

    lists: Any = True  # true, relevant_k or false


@dataclass
class GuardsSettings:
    """What the user says about guards."""

    override: list[str] = field(default_factory=list)
    selected_on: str | None = None


@dataclass
class LearningSettings:
    """What is watched while a model learns in epochs; see `recgauge.evaluation.learning.Learning`."""

    watch: bool = False
    metric: str | None = field(default=None, metadata=WATCH)
    every: int = field(default=1, metadata=WATCH)
    patience: int | None = field(default=None, metadata=WATCH)


@dataclass
class RunSettings:
    """All settings of one run; the groups hold one component each, as plain mappings.

    What each setting can change is its metadata. One that is not marked `FREE` counts in the fingerprint, so
    that a new setting makes new fingerprints rather than wrong ones.
    """

    dataset: Any = None
    filters: Any = field(default_factory=dict)
    split: Any = None
    candidates: Any = field(default=None, metadata=LISTS | {"usual": "candidates=all"})
    model: Any = None
    metrics: Any = field(default_factory=dict)
    conventions: Any = None
    ties: str | None = field(default=None, metadata=LISTS)
    tracking: Any = field(default=None, metadata=FREE)
    cutoffs: list[int] = field(default_factory=lambda: [1, 5, 10, 20], metadata=LISTS)
    conventions_table: bool = field(default=False, metadata=LISTS)
    sanity: bool = False
    learning: LearningSettings = field(default_factory=LearningSettings)
    tune: Any = field(default=None, metadata=FREE | TUNE)
    search: Any = field(default_factory=dict, metadata=FREE | TUNE)
    save_model: bool = field(default=False, metadata=FREE)
    guards: GuardsSettings = field(default_factory=GuardsSettings)
    figures: bool = field(default=False, metadata=FREE)
    report: bool = field(default=True, metadata=FREE)
    artifacts: ArtifactsSettings = field(default_factory=ArtifactsSettings, metadata=FREE)
    seed: int = 0
    fit_on: str = "train"
    evaluate_on: str = "test"
    data: DataSettings = field(default_factory=DataSettings, metadata=FREE)
    engine: EngineSettings = field(default_factory=EngineSettings, metadata=FREE)
    jobs: int = field(default=1, metadata=FREE)
    study: Any = field(default=None, metadata=FREE)
    reuse: bool = field(default=False, metadata=FREE)
    force: bool = field(default=False, metadata=FREE)
    plan: bool = field(default=False, metadata=FREE)
    allowed_targets: list[str] = field(default_factory=list, metadata=FREE)


@cache
def free_settings() -> frozenset[str]:
    """Return the root settings that never change a number.

    They say where files are, how work is divided or what is done with results.
    """
    return frozenset(one.name for one in fields(RunSettings) if one.metadata.get("free"))


def stores_model(settings: RunSettings | Mapping[str, Any]) -> bool:
    """Whether a run with these settings stores its fitted model: for itself, or to register it."""
    chosen = vars(settings) if isinstance(settings, RunSettings) else settings
    return bool(chosen.get("save_model") or registers_model(chosen))


def registers_model(settings: Mapping[str, Any]) -> bool:
    """Whether a run with these settings registers its fitted model in the tracking store."""
    return bool((settings.get("tracking") or {}).get("log_model"))


def fingerprint(
    settings: Mapping[str, Any], data_sha256: str, numeric_version: int, sources: Mapping[str, str]
) -> str:
    """Return the digest of everything that can change a number.

    Runs with equal fingerprints have equal results, as far as the same machine and the same versions of the
    libraries below recgauge give the same floating-point numbers. `sources`: digests of what the run reads
    other than its data set, files that define classes outside recgauge and files that settings name.
    """
    facts = [counted_settings(settings), data_sha256, numeric_version, dict(sources)]
    return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def counted_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that can change a number, the filters as a list of their names and settings.

    Examples
    --------
    >>> counted_settings({"seed": 0, "reuse": True, "dataset": {"name": "a", "cache": "/tmp"}})
    {'seed': 0, 'dataset': {'name': 'a'}, 'filters': []}
    """
    counted = {key: value for key, value in settings.items() if key not in free_settings()}
    counted["filters"] = list((counted.get("filters") or {}).items())  # their order counts
    dataset = counted.get("dataset") or {}
    guards = counted.get("guards") or {}
    if guards.get("selected_on") == "validation":  # nothing to warn of, as if nothing had been said
        counted["guards"] = guards | {"selected_on": None}
    if is_isolated(model := counted.get("model")):
        counted["model"] = {key: model[key] for key in model if key not in FREE_ISOLATED_SETTINGS}
    counted["dataset"] = {key: dataset[key] for key in dataset if key not in FREE_DATASET_SETTINGS}
    if isinstance(split := counted.get("split"), Mapping):
        counted["split"] = {key: split[key] for key in split if key != "limits"}
    return counted


def is_isolated(model: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether the settings are those of a model that is trained in an environment of its own."""
    return isinstance(model, Mapping) and str(model.get("_target_")).startswith(ISOLATED)


def flat_settings(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested settings as ``{"model.n_factors": "32"}``.

    Examples
    --------
    >>> flat_settings({"model": {"n_factors": 32}, "cutoffs": [5, 10]})
    {'model.n_factors': '32', 'cutoffs': '[5, 10]'}
    """
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat |= flat_settings(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = str(value)
    return flat
