"""The settings of a data set by its name, and the data and the split of a finished run, made again."""

from collections.abc import Mapping, Sequence
from typing import Any

from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.cli.explain import explain_config_error, group_options
from recgauge.cli.settings import register_schema, typed_settings
from recgauge.cli.trust import check_addresses
from recgauge.cli.words import Words
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.errors import ConfigError, IntegrityError, did_you_mean
from recgauge.experiment import Experiment, prepare
from recgauge.report.console import ConsoleProgress
from recgauge.runs.finished import FinishedRun
from recgauge.runs.settings import RunSettings
from recgauge.runs.targets import TARGET
from recgauge.sweeps.compose import compose
from recgauge.sweeps.places import forget_empty_variables
from recgauge.utils.progress import Progress, Timings


def read_settings(name: str, overrides: Sequence[str]) -> RunSettings:
    """Compose the settings of a data set."""
    options = group_options("dataset")
    if name not in options:
        hint = did_you_mean(name, options)
        raise ConfigError(f"{name}: there is no such data set. {hint}Data sets: {', '.join(options)}.")
    words = [f"dataset={name}", *overrides]
    try:
        return typed_settings(_composed(words))
    except OmegaConfBaseException as error:  # of a setting that must be given
        raise ConfigError(explain_config_error(error, words, Words({}, tuple(words)).compose)) from error


def read_launcher(name: str, overrides: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Compose the settings of a launcher of sweeps; return its engine, and them."""
    if other := [word for word in overrides if not word.startswith("hydra.launcher.")]:
        raise ConfigError(f"--launcher: {other[0]}: write its settings as hydra.launcher.NAME=VALUE.")
    config = _composed([f"hydra/launcher={name}", *overrides])
    settings: Any = OmegaConf.to_container(config.hydra.launcher, resolve=True)
    return settings.pop("engine"), {key: value for key, value in settings.items() if key != TARGET}


def _composed(words: Sequence[str]) -> DictConfig:
    forget_empty_variables()
    register_schema()
    command = Words({}, tuple(words))
    try:
        return command.composed()
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain_config_error(error, words, command.compose)) from error


class _WithoutNotes(ConsoleProgress):
    def note(self, text: str) -> None:
        """Drop the line: what there is to say of the data has been said when the runs loaded them."""


def data_again(
    run: FinishedRun, packages: Sequence[str] = (), words: Sequence[str] = ()
) -> tuple[Dataset, Split]:
    """Return the same as `data_of`, and print no notes; `words` are those that the run was started with."""
    return data_of(run, [*packages, *words], _WithoutNotes())


_PLACES = ("mirror", "cache", "offline", "prepared", "limits")
"""Settings of a data set that say where this machine has it, which may not be where the run found it."""
_KEPT = ("dataset", "filters", "split", "candidates", "conventions", "seed", "fit_on", "evaluate_on",
         "guards")  # fmt: skip
"""The settings of a run that decide its rows."""
_OF_TRAINING = ("learning", "sanity", "figures", "save_model", "tune", "tracking", "data", "study")


def data_of(
    run: FinishedRun, packages: Sequence[str] = (), progress: Progress | None = None
) -> tuple[Dataset, Split]:
    """Load, filter and split the data of a run again.

    Nothing but test rows is stored with a run: training rows are the publisher's data, may not be passed on,
    and come back in seconds.
    """
    recorded = {key: value for key, value in run.record.settings.items() if key in _KEPT}
    # what the model was does not matter for its data
    recorded["model"] = {TARGET: "recgauge.models.Popularity"}
    settings = settings_of(run, packages, recorded)
    ready = prepare(compose(settings), Timings(progress or ConsoleProgress()))
    _check(run, ready.dataset, ready.split)
    return ready.dataset, ready.split


def untrained(run: FinishedRun, packages: Sequence[str] = ()) -> Experiment:
    """Return a run's experiment for lists that are there already: with a model that nobody trains."""
    recorded = {key: value for key, value in run.record.settings.items() if key not in _OF_TRAINING}
    recorded["model"] = {TARGET: "recgauge.models.Bias"}  # both ranks and rates, so no metric is left out
    return compose(settings_of(run, packages, recorded), leave_out=True, tell=lambda _: None)


def settings_of(
    run: FinishedRun, trusted: Sequence[str], recorded: Mapping[str, Any] | None = None
) -> RunSettings:
    """Return the settings of a finished run, its data looked for where this machine has them.

    What is `trusted` are names of packages, and texts with addresses: only hosts in them are asked for data.
    """
    settings = dict(run.record.settings if recorded is None else recorded)
    for name in ("tracking", "data"):  # of the machine where it ran
        settings.pop(name, None)
    places = vars(read_settings("demo", []).data)
    dataset = settings.get("dataset") or {}
    settings["dataset"] = dataset | {name: places[name] for name in _PLACES if name in dataset}
    words = [text for text in trusted if not text.replace(".", "").isidentifier()]
    check_addresses(settings, words, owner=f"{run.folder}", option="--allow ")
    settings["allowed_targets"] = [name for name in trusted if name not in words]
    try:
        merged = OmegaConf.merge(OmegaConf.structured(RunSettings), settings)
        return typed_settings(DictConfig(merged))
    except OmegaConfBaseException as error:
        raise ConfigError(f"{run.folder}: its settings are not those of this version ({error}).") from error


def _check(run: FinishedRun, dataset: Dataset, split: Split) -> None:
    record = run.record
    digests = {"data": (dataset.sha256, record.dataset.sha256)}
    for part in ("train", "test"):
        digests[f"{part} rows"] = (getattr(split, part).sha256(), getattr(record.split, part).sha256)
    for what, (now, then) in digests.items():
        if now != then:
            raise IntegrityError(
                f"{run.folder}: the {what} of its settings are not those of the run (sha256 {now[:12]}, "
                f"recorded {then[:12]}), so results would be wrong. Run it again with the data that are here."
            )
