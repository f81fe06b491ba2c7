"""The data sets of a grid, looked at before its first job starts."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra import compose
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from recgauge.app.compose import build_dataset
from recgauge.app.terminal.secrets import without_secrets
from recgauge.errors import MissingDataError
from recgauge.utils.progress import Progress

FILE = "missing.json"
_ABOUT_DATA = ("dataset", "data", "experiment", "allowed_targets")


def grid_jobs(config: DictConfig) -> list[list[str]]:
    """Return the overrides of every job of a grid; none if another sweeper than Hydra's own chooses them.

    Parameters
    ----------
    config : DictConfig
        The composed configuration with Hydra's own part.
    """
    if not str(config.hydra.sweeper.get("_target_")).endswith(f".{BasicSweeper.__name__}"):
        return []
    params = OmegaConf.to_container(config.hydra.sweeper.get("params") or OmegaConf.create({}))
    words = [f"{key}={value}" for key, value in dict(params).items()]  # type: ignore[arg-type]
    overrides = OverridesParser.create().parse_overrides([*words, *config.hydra.overrides.task])
    return BasicSweeper.split_arguments(overrides, max_batch_size=None)[0]


def grid_datasets(config: DictConfig) -> dict[str, dict[str, Any]]:
    """Return the settings of every data set that a grid's jobs use, by the overrides that choose it.

    Parameters
    ----------
    config : DictConfig
        The composed configuration with Hydra's own part; Hydra must be initialized.
    """
    chosen = dict.fromkeys(tuple(word for word in job if _is_about_data(word)) for job in grid_jobs(config))
    return {" ".join(own): _dataset(own) for own in chosen}


def missing_data(
    datasets: Mapping[str, Mapping[str, Any]], allowed: Sequence[str], progress: Progress
) -> dict[str, str]:
    """Return ``{settings as text: why}`` of the data sets that cannot be had, fetching those that can.

    Parameters
    ----------
    datasets : mapping of str to mapping
        As `grid_datasets` gives it.
    allowed : sequence of str
        Packages whose classes may be built.
    progress : Progress

    Raises
    ------
    DataError
        If data are there but not what they should be, which no other data set makes up for.
    """
    missing = {}
    for node in datasets.values():
        source = build_dataset(node, allowed)
        try:
            source.digest(progress)
        except MissingDataError as error:
            missing[as_key(node)] = str(error)
    return missing


def as_key(dataset: Mapping[str, Any]) -> str:
    """Return a data set's settings as one text, which may be stored."""
    return json.dumps(without_secrets(dataset), sort_keys=True, default=str)


def known_missing(sweep: Path, dataset: Mapping[str, Any]) -> str | None:
    """Return why the data are missing, if that was found out at the start of the sweep."""
    file = sweep / FILE
    if not file.is_file():
        return None
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return found.get(as_key(dataset))


def _is_about_data(word: str) -> bool:
    return word.lstrip("+~").split("=")[0].split(".")[0] in _ABOUT_DATA


def _dataset(overrides: Sequence[str]) -> dict[str, Any]:
    node = OmegaConf.to_container(compose("config", list(overrides)).dataset, resolve=True)
    return dict(node)  # type: ignore[arg-type]
