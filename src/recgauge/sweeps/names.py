"""What a job's run is called: the options that were chosen, and a name that tells it apart."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from recgauge.runs.settings import FOLDS, NUMERIC, RunSettings, option_groups, use_of
from recgauge.sweeps.places import conf_folder
from recgauge.utils.secrets import without_secrets

LONGEST_NAME = 120  # characters
NO_SETTINGS = ("experiment", "debug", "hydra")
"""Words of the command line that choose settings, or say how they are read."""


def chosen_names(choices: Mapping[str, Any], words: Sequence[str], settings: RunSettings) -> dict[str, str]:
    """Return ``{group: name of the chosen option}``; several options are joined by ``+``."""
    names = {}
    for group in option_groups(*NUMERIC):
        node = getattr(settings, group)
        target = node.get("_target_") if isinstance(node, dict) else None  # given instead of an option
        names[group] = str(choices.get(group) or (target and str(target).rpartition(".")[2]))
    # Hydra records no choice for groups that take a list
    names["filters"] = "+".join(name for name, node in (settings.filters or {}).items() if node) or "none"
    names["metrics"] = "+".join(_suites(words)) or "none"
    return names


def run_name(
    words: Sequence[str],
    names: dict[str, str],
    settings: dict[str, Any],
    swept: Collection[str] | None = None,
) -> str:
    """Return a name that tells a run apart, what differs first: model, what was set for it, fold, seed, data.

    Of a sweep, `swept` are the keys in which its jobs differ; what all share is no part of their names,
    but for settings of the model.

    Examples
    --------
    >>> names = {"model": "svd", "dataset": "demo", "candidates": "all"}
    >>> settings = {"split": {"fold": 3}, "seed": 1}
    >>> words = ["model=svd", "model.n_factors=32", "split=k_fold", "seed=1"]
    >>> run_name(words, names, settings), run_name(words, names, settings, ["model.n_factors"])
    ('svd · n_factors 32 · k_fold · fold 3 · seed 1 · demo', 'svd · n_factors 32 · fold 3 · seed 1 · demo')

    The path of a file that the data set is named after is not said again:

    >>> names, words = names | {"dataset": "films"}, ["dataset=table", "dataset.path=in/films.csv"]
    >>> run_name(words, names, {"seed": 0})
    'svd · films'
    """
    split = settings.get("split") or {}
    among = names["candidates"]
    parts = [names["model"], *([] if among == "all" else [among])]
    typed = dict(word.lstrip("+").split("=", 1) for word in words if "=" in word and word[0] != "~")
    for key, value in typed.items():
        group, _, setting = key.partition(".")
        if key == "dataset.path" and Path(value).stem == names["dataset"]:
            continue
        if (
            not _is_named(key)
            or "{" in value
            or (swept is not None and key not in swept and group != "model")
        ):
            continue
        if setting:
            parts.append(f"{setting.rpartition('.')[2]} {value}")
        elif key not in ("model", "dataset", "candidates"):
            option = value.strip("[]").replace(",", "+")
            parts.append(option if key in option_groups(*NUMERIC) else f"{key} {option}")
    parts += [f"{name} {split[name]}" for name in FOLDS if split.get(name) is not None]
    if "seed" in typed or settings["seed"] != 0:
        parts.append(f"seed {settings['seed']}")
    parts += ["tuned"] * bool(settings.get("tune"))
    parts.append(names["dataset"])
    name = str(without_secrets(" · ".join(parts)))
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _is_named(key: str) -> bool:
    """Whether a word of the command line is part of a run's name: it changes lists, not their metrics alone.

    Fold and seed are in the name whether or not they are words.
    """
    root = key.partition(".")[0]
    ends = ("seed", *(f"split.{name}" for name in FOLDS))
    return key not in ends and root not in NO_SETTINGS and use_of(root) in ("rows", "model")


def _suites(overrides: Sequence[str]) -> Sequence[str]:
    """Return the metric suites: the command line's, else the experiment's, else the default."""
    suites = [word.partition("=")[2] for word in overrides if word.startswith("metrics=")]
    if suites:
        return [name.strip() for name in suites[-1].strip("[]").split(",") if name.strip()]
    experiments = [word.partition("=")[2] for word in overrides if word.startswith("experiment=")]
    files = [conf_folder() / "experiment" / f"{name}.yaml" for name in experiments]
    for file in (*files, conf_folder() / "config.yaml"):
        chosen = _default_metrics(file) if file.exists() else None
        if chosen is not None:
            return chosen
    return []


@cache  # a file says the same for all jobs of a sweep
def _default_metrics(file: Path) -> tuple[str, ...] | None:
    """Return what a file's defaults list chooses for the metrics, None if nothing."""
    content = OmegaConf.to_container(OmegaConf.load(file))
    defaults = content.get("defaults", []) if isinstance(content, dict) else []
    for entry in defaults:
        for group, choice in entry.items() if isinstance(entry, dict) else ():
            if str(group).removeprefix("override ").lstrip("/") == "metrics":
                return (choice,) if isinstance(choice, str) else tuple(choice or ())
    return None
