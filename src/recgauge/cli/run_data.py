"""Settings of a data set and of a launcher by their names, and the data of a finished run for commands."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from omegaconf import DictConfig, OmegaConf

from recgauge.cli.settings import register_schema, typed_settings
from recgauge.cli.trust import check_addresses
from recgauge.cli.words import CommandLine
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.errors import ConfigError
from recgauge.report.console import ConsoleProgress
from recgauge.runs.finished import FinishedRun
from recgauge.runs.settings import NUMERIC, RunSettings, Use
from recgauge.sweeps.run_data import data_of, local_settings
from recgauge.utils.progress import Progress


def read_settings(name: str, overrides: Sequence[str]) -> RunSettings:
    """Compose the settings of a data set."""
    return typed_settings(_composed([f"dataset={name}", *overrides]))


def read_launcher(name: str, overrides: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Compose the settings of a launcher of sweeps; return its engine, and them."""
    if other := [word for word in overrides if not word.startswith("hydra.launcher.")]:
        raise ConfigError(f"--launcher: {other[0]}: write its settings as hydra.launcher.NAME=VALUE.")
    config = _composed([f"hydra/launcher={name}", *overrides])
    settings: Any = OmegaConf.to_container(config.hydra.launcher, resolve=True)
    return settings.pop("engine"), settings


def _composed(words: Sequence[str]) -> DictConfig:
    register_schema()
    return CommandLine.read(words).composed()


class QuietProgress(ConsoleProgress):
    """Shows stages without the notes on the data, which the runs have printed."""

    def note(self, text: str) -> None:
        """Drop the line."""


def load_data(
    run: FinishedRun, trusted: Sequence[str] = (), *, progress: Progress | None = None
) -> tuple[Dataset, Split]:
    """Load, filter and split the data of a run again; without `progress`, no notes are printed."""
    return data_of(run, settings_of(run, trusted, ("rows", "metrics")), progress or QuietProgress())


def settings_of(
    run: FinishedRun, trusted: Sequence[str] = (), uses: Sequence[Use] = (*NUMERIC, "output")
) -> RunSettings:
    """Return the settings of a finished run with these uses, its data looked for where this machine has them.

    `trusted` holds names of packages, and texts with addresses: only hosts in them are asked for data.
    """
    words = [text for text in trusted if not text.replace(".", "").isidentifier()]
    packages = [name for name in trusted if name not in words]
    settings = local_settings(run, uses, read_settings("demo", []).data, packages)
    check_addresses(asdict(settings), words, owner=f"{run.folder}", option="--allow ")
    return settings
