"""The settings of one run: one table of names, types, defaults and uses, and the fingerprint that follows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Any, Literal, TypeGuard

Use = Literal["rows", "model", "metrics", "search", "place", "output"]
"""What a setting decides.

``rows``: the rows that a number is of, and how lists are judged on them; ``model``: the model and its
training; ``metrics``: the numbers, and what the user says of them; ``search``: how the model's settings are
chosen; ``place``: where files are and how work is divided; ``output``: what is done with the results.
"""
NUMERIC: tuple[Use, ...] = ("rows", "model", "metrics")
"""The uses of settings that can change a number."""
LISTS, WATCH, TUNE = "metrics=[ranking]", "learning.watch=true", "tune=tpe"
"""Words without which settings change nothing (`recgauge.sweeps.needs`)."""
POLICIES = ("ties", "unknown", "seen", "repeats", "longest", "no_list")
"""Settings that are policies of the conventions (`recgauge.judging.Policies`), where they are named."""
FOLDS = ("fold", "window")
"""Settings of a split that choose one of several parts of the same data."""
LOCAL_DATASET_SETTINGS = ("mirror", "cache", "archive", "offline", "sha256", "path", "prepared", "limits")
"""Settings of a data set that say where it is; the digest of its content replaces them."""
ISOLATED = "recgauge.models.isolated."
"""How ``_target_`` of a model begins that is trained in an environment of its own."""
LOCAL_ISOLATED_SETTINGS = ("timeout",)
"""Settings of such a model that never change a number."""


def setting(
    use: Use,
    default: Any = None,
    *,
    options: Literal["", "one", "several"] = "",
    needs: str = "",
    usual: str = "",
    in_search: bool = True,
) -> Any:
    """Return a field of `RunSettings`: what it decides, and its default, a value or what makes it.

    `options`: chosen as ``NAME=OPTION``, one or several. `needs`: words without which it changes nothing.
    `usual`: the word that chooses its default. `in_search`: whether it can change the trials of a search.
    """
    metadata = {"use": use, "options": options, "needs": needs, "usual": usual, "in_search": in_search}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass
class DataSettings:
    """Where archives are looked for and prepared data are kept."""

    mirror: Any = None  # a folder or an address
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
    """How work is cut up."""

    memory_mib: int = 256


@dataclass
class ArtifactsSettings:
    """What a run stores in addition to its numbers."""

    lists: bool = True


@dataclass
class GuardsSettings:
    """What the user says about guards."""

    override: list[str] = field(default_factory=list)
    selected_on: str | None = None


@dataclass
class LearningSettings:
    """What is watched while a model learns in epochs; see `recgauge.evaluation.learning.Learning`."""

    watch: bool = False
    metric: str | None = setting("model", needs=WATCH)
    every: int = setting("model", 1, needs=WATCH)
    patience: int | None = setting("model", needs=WATCH)


@dataclass
class RunSettings:
    """All settings of one run; the groups hold one component each, as plain mappings.

    What a setting decides is its first word here; fingerprint, names, protocol and all else that depends on
    that asks `part` and `option_groups`.
    """

    dataset: Any = setting("rows", options="one")
    filters: Any = setting("rows", dict, options="several")
    split: Any = setting("rows", options="one")
    candidates: Any = setting("rows", options="one", needs=LISTS, usual="candidates=all")
    model: Any = setting("model", options="one")
    metrics: Any = setting("metrics", dict, options="several")
    conventions: Any = setting("rows", options="one")
    ties: str | None = setting("rows", needs=LISTS)
    unknown: str | None = setting("rows", needs=LISTS)
    seen: str | None = setting("rows", needs=LISTS)
    repeats: str | None = setting("rows", needs=LISTS)
    longest: int | None = setting("rows", needs=LISTS)
    no_list: str | None = setting("rows", needs=LISTS)
    tracking: Any = setting("output", options="one")
    cutoffs: list[int] = setting("metrics", lambda: [1, 5, 10, 20], needs=LISTS)
    conventions_table: bool = setting("metrics", default=False, needs=LISTS, in_search=False)
    sanity: bool = setting("metrics", default=False, in_search=False)
    learning: LearningSettings = setting("model", LearningSettings, in_search=False)
    tune: Any = setting("search", needs=TUNE)
    search: Any = setting("search", dict, needs=TUNE)
    save_model: bool = setting("output", default=False)
    guards: GuardsSettings = setting("metrics", GuardsSettings, in_search=False)
    figures: bool = setting("output", default=False)
    report: bool = setting("output", default=True)
    artifacts: ArtifactsSettings = setting("output", ArtifactsSettings)
    seed: int = setting("rows", 0)
    fit_on: str = setting("rows", "train", in_search=False)
    evaluate_on: str = setting("rows", "test", in_search=False)
    data: DataSettings = setting("place", DataSettings)
    engine: EngineSettings = setting("place", EngineSettings)
    jobs: int = setting("place", 1)
    study: Any = setting("output")
    reuse: bool = setting("output", default=False)
    force: bool = setting("output", default=False)
    plan: bool = setting("output", default=False)
    allowed_targets: list[str] = setting("place", list)


_TABLE: Mapping[str, Mapping[str, Any]] = {entry.name: entry.metadata for entry in fields(RunSettings)}
MEASURED = tuple(name for name, entry in _TABLE.items() if entry["use"] == "metrics" and name != "guards")
"""Settings that choose which metrics are computed, and change nothing else."""


def use_of(name: str) -> Use:
    """Return what a root setting decides; one of another version may decide anything, so the rows, too."""
    use: Use = _TABLE[name]["use"] if name in _TABLE else "rows"
    return use


def part(settings: Mapping[str, Any], *uses: Use) -> dict[str, Any]:
    """Return the settings with these uses.

    Examples
    --------
    >>> part({"seed": 0, "reuse": True, "model": {"l2": 1.0}}, "rows", "output")
    {'seed': 0, 'reuse': True}
    """
    return {name: value for name, value in settings.items() if use_of(name) in uses}


def option_groups(*uses: Use, options: Literal["one", "several"] | None = None) -> tuple[str, ...]:
    """Return the settings with these uses that are chosen by the names of options.

    Examples
    --------
    >>> option_groups("rows", options="one"), option_groups("model", "metrics")
    (('dataset', 'split', 'candidates', 'conventions'), ('model', 'metrics'))
    """
    return tuple(
        name
        for name, entry in _TABLE.items()
        if entry["use"] in uses and (entry["options"] == options or (options is None and entry["options"]))
    )


def search_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that can change the trials of a search."""
    final = {name for name, entry in _TABLE.items() if not entry["in_search"]}
    return {name: value for name, value in settings.items() if name not in final}


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
    facts = [numeric_settings(settings), data_sha256, numeric_version, dict(sources)]
    return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def numeric_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that can change a number, the filters as a list of their names and settings.

    Examples
    --------
    >>> numeric_settings({"seed": 0, "reuse": True, "dataset": {"name": "a", "cache": "/tmp"}})
    {'seed': 0, 'dataset': {'name': 'a'}, 'filters': []}
    """
    numeric = part(settings, *NUMERIC)
    numeric["filters"] = list((numeric.get("filters") or {}).items())  # their order counts
    dataset, model, split = numeric.get("dataset") or {}, numeric.get("model"), numeric.get("split")
    numeric["dataset"] = {key: dataset[key] for key in dataset if key not in LOCAL_DATASET_SETTINGS}
    if is_isolated(model):
        numeric["model"] = {key: model[key] for key in model if key not in LOCAL_ISOLATED_SETTINGS}
    if isinstance(split, Mapping):
        numeric["split"] = {key: split[key] for key in split if key != "limits"}
    guards = numeric.get("guards") or {}
    if guards.get("selected_on") == "validation":  # nothing to warn of, as if nothing had been said
        numeric["guards"] = guards | {"selected_on": None}
    return numeric


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
