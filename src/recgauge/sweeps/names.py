"""What a run is called: the chosen option of each group, and the command that repeats the run."""

import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from recgauge.errors import ConfigError
from recgauge.runs.settings import RunSettings, free_settings
from recgauge.sweeps.places import conf_folder, program
from recgauge.utils.secrets import without_secrets

GROUPS = ("dataset", "filters", "split", "candidates", "model", "metrics", "conventions")
TAKES_ONE = ("dataset", "split", "candidates", "model", "conventions", "tracking")
LONGEST_NAME = 120  # characters
UNNAMED = free_settings() | {
    "experiment", "debug", "metrics", "cutoffs", "conventions_table", "sanity", "guards", "hydra"
}  # fmt: skip
"""Settings that are no part of a run's name: they change no list, or change only its metrics."""


def chosen_names(choices: Mapping[str, Any], words: list[str], settings: RunSettings) -> dict[str, str]:
    """Return ``{group: name of the chosen option}``; several options are joined by ``+``."""
    names = {group: str(choices.get(group) or _own_name(settings, group)) for group in GROUPS}
    # Hydra records no choice for groups that take a list
    names["filters"] = "+".join(name for name, node in (settings.filters or {}).items() if node) or "none"
    names["metrics"] = "+".join(_suites(words)) or "none"
    return names


def _own_name(settings: RunSettings, group: str) -> str | None:
    """Return the name of the class where a ``_target_`` is given instead of an option."""
    node = getattr(settings, group)
    return str(node["_target_"]).rpartition(".")[2] if isinstance(node, dict) and "_target_" in node else None


def run_name(words: list[str], names: dict[str, str], settings: dict[str, Any]) -> str:
    """Return a name that identifies a run: model, data set, what was set for it, fold and seed.

    Examples
    --------
    >>> names = {"model": "svd", "dataset": "demo", "candidates": "all"}
    >>> settings = {"split": {"fold": 3}, "seed": 1}
    >>> run_name(["model=svd", "model.n_factors=32", "split=k_fold", "seed=1"], names, settings)
    'svd · demo · n_factors 32 · k_fold · fold 3 · seed 1'

    The path of a file that the data set is named after is not said again:

    >>> names, words = names | {"dataset": "films"}, ["dataset=table", "dataset.path=in/films.csv"]
    >>> run_name(words, names, {"seed": 0})
    'svd · films'
    """
    split = settings.get("split") or {}
    among = names["candidates"]
    parts = [names["model"], names["dataset"], *([] if among == "all" else [among])]
    typed = dict(word.lstrip("+").split("=", 1) for word in words if "=" in word and word[0] != "~")
    for key, value in typed.items():
        root, _, setting = key.partition(".")
        if key == "dataset.path" and Path(value).stem == names["dataset"]:
            continue
        if root in UNNAMED or key in ("split.fold", "split.window", "seed") or "{" in value:
            continue
        if setting:
            parts.append(f"{setting.rpartition('.')[2]} {value}")
        elif key not in ("model", "dataset", "candidates"):
            parts.append(value.strip("[]").replace(",", "+"))
    parts += [f"{name} {split[name]}" for name in ("fold", "window") if split.get(name) is not None]
    if settings.get("tune"):
        parts.append("tuned")
    if "seed" in typed or settings["seed"] != 0:
        parts.append(f"seed {settings['seed']}")
    name = str(without_secrets(" · ".join(parts)))
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def check_repeats(words: list[str]) -> None:
    """Refuse a filter that the command line names twice: Hydra would run it once, without a word."""
    for word in words:
        group, _, given = word.partition("=")
        names = [name.strip() for name in given.strip("[]").split(",")]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if group == "filters" and repeated:
            file: Any = OmegaConf.load(conf_folder() / "filters" / f"{repeated[0]}.yaml")
            again = ",".join(f"{key}:{value}" for key, value in file[repeated[0]].items())
            raise ConfigError(
                f"{word}: each name may be given once, got {', '.join(repeated)} more often. For a second "
                "n-core use filters=[...,n_core_again]; for any second filter, which then runs last, "
                f"+filters.again={{{again}}} (docs/filters.md)."
            )


def check_single(words: Sequence[str]) -> None:
    """Refuse no option, or several, of a group that takes one: Hydra would mix their settings in silence.

    Examples
    --------
    >>> check_single(["model=svd", "filters=[min_rating,n_core]"])
    """
    for word in words:
        group, _, given = word.partition("=")
        names = [name.strip() for name in given.strip().strip("[]").split(",")]
        if group in TAKES_ONE and len(names) > 1 and given.strip().startswith("["):
            raise ConfigError(f"{word}: takes one option. To run each: -m {group}={','.join(names)}.")
        if group in TAKES_ONE and names in ([""], ["null"]):
            known = sorted(path.stem for path in (conf_folder() / group).glob("*.yaml"))
            raise ConfigError(f"{word}: needs one option. Options: {', '.join(known)}.")


def run_again(words: list[str], *, sweeping: bool) -> str:
    """Return the command line that repeats this job."""
    if sweeping and any(word.startswith("experiment=") for word in words):
        words = [*words, "hydra.mode=RUN", "force=true"]  # the command makes the run, whatever is stored
    return f"{program()} {shlex.join(without_secrets(words))}".strip()


def _suites(overrides: list[str]) -> list[str]:
    """Return the metric suites: the command line's, else the experiment's, else the default."""
    given = [word.partition("=")[2] for word in overrides if word.startswith("metrics=")]
    if given:
        return [name.strip() for name in given[-1].strip("[]").split(",") if name.strip()]
    experiments = [word.partition("=")[2] for word in overrides if word.startswith("experiment=")]
    files = [conf_folder() / "experiment" / f"{name}.yaml" for name in experiments]
    for file in (*files, conf_folder() / "config.yaml"):
        chosen = _default_metrics(file) if file.exists() else None
        if chosen is not None:
            return chosen
    return []


@cache  # a file says the same for all jobs of a sweep
def _default_metrics(file: Path) -> list[str] | None:
    """Return what a file's defaults list chooses for the metrics, None if nothing."""
    content = OmegaConf.to_container(OmegaConf.load(file))
    defaults = content.get("defaults", []) if isinstance(content, dict) else []
    for entry in defaults:
        for group, choice in entry.items() if isinstance(entry, dict) else ():
            if str(group).removeprefix("override ").lstrip("/") == "metrics":
                return [choice] if isinstance(choice, str) else list(choice or [])
    return None
