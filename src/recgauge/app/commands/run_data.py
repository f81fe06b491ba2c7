"""The settings of a data set by its name, and the data and the split of a finished run, made again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from hydra import compose as compose_config
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.compose import compose
from recgauge.app.hydra_checks import checked_hydra
from recgauge.app.places import conf_folder, forget_empty_variables
from recgauge.app.settings import register_schema, typed_settings
from recgauge.app.targets import TARGET
from recgauge.app.terminal.explain import Choices, explain_config_error, group_options
from recgauge.app.terminal.printing import ConsoleProgress
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.errors import ConfigError, IntegrityError
from recgauge.experiment import prepare
from recgauge.runs.settings import RunSettings
from recgauge.runs.stored import RunFolder
from recgauge.utils.progress import Progress, Timings


def read_settings(name: str, overrides: Sequence[str]) -> RunSettings:
    """Compose the settings of a data set.

    Parameters
    ----------
    name : str
        The data set, as in ``dataset=NAME``.
    overrides : sequence of str
        As on the command line of a run: ``split=random``, ``dataset.path=ratings.csv``.

    Raises
    ------
    ConfigError
        If there is no such data set, group, option or setting.
    """
    options = group_options("dataset")
    if name not in options:
        near = get_close_matches(name, options, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise ConfigError(f"{name}: there is no such data set. {hint}Data sets: {', '.join(options)}.")
    forget_empty_variables()
    register_schema()
    words = [f"dataset={name}", *overrides]
    try:
        with (
            _beside_a_sweep(),
            checked_hydra(words),
            initialize_config_dir(str(conf_folder()), version_base="1.3"),
        ):
            return typed_settings(compose_config("config", overrides=words))
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain_config_error(error, Choices(words))) from error


@contextmanager
def _beside_a_sweep() -> Iterator[None]:
    """Let Hydra compose where it has a sweep at work already, which goes on with its own afterwards."""
    running = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        yield
    finally:
        GlobalHydra.instance().hydra = running


_PLACES = ("mirror", "cache", "offline", "prepared", "limits")
"""Settings of a data set that say where this machine has it, which may not be where the run found it."""


def data_of(
    run: RunFolder, packages: Sequence[str] = (), progress: Progress | None = None
) -> tuple[Dataset, Split]:
    """Load, filter and split the data of a run again.

    Nothing but test rows is stored with a run: training rows are the publisher's data, may not be passed on,
    and come back in seconds.

    Parameters
    ----------
    run : RunFolder
    packages : sequence of str
        Packages other than recgauge whose data sets, filters and splits may be used.
    progress : Progress, optional
        The terminal if not given.

    Returns
    -------
    Dataset
        After the filters.
    Split

    Raises
    ------
    IntegrityError
        If data, training rows or test rows are not those of the run.
    RecgaugeError
        If the data are missing, or a setting cannot be used any more.
    """
    recorded = {key: value for key, value in run.record.settings.items() if key in _KEPT}
    # what the model was does not matter for its data
    recorded["model"] = {TARGET: "recgauge.models.Popularity"}
    settings = settings_of(run, packages, recorded)
    ready = prepare(compose(settings), Timings(progress or ConsoleProgress()))
    _check(run, ready.dataset, ready.split)
    return ready.dataset, ready.split


def settings_of(
    run: RunFolder, packages: Sequence[str], recorded: Mapping[str, Any] | None = None
) -> RunSettings:
    """Return the settings of a finished run, its data looked for where this machine has them.

    Parameters
    ----------
    run : RunFolder
    packages : sequence of str
        Packages other than recgauge whose classes may be used.
    recorded : mapping of str to Any, optional
        Some of the run's settings, instead of all.

    Raises
    ------
    ConfigError
        If a setting does not exist any more.
    """
    found = dict(run.record.settings if recorded is None else recorded)
    places = vars(read_settings("demo", []).data)
    dataset = found.get("dataset") or {}
    found["dataset"] = dataset | {name: places[name] for name in _PLACES if name in dataset}
    found["allowed_targets"] = list(packages)
    try:
        merged = OmegaConf.merge(OmegaConf.structured(RunSettings), found)
        return typed_settings(DictConfig(merged))
    except OmegaConfBaseException as error:
        raise ConfigError(f"{run.folder}: its settings are not those of this version ({error}).") from error


_KEPT = (
    "dataset",
    "filters",
    "split",
    "candidates",
    "conventions",
    "seed",
    "fit_on",
    "evaluate_on",
    "guards",
)
"""The settings of a run that decide its rows."""


def _check(run: RunFolder, dataset: Dataset, split: Split) -> None:
    record = run.record
    found = {"data": (dataset.sha256, record.dataset.sha256)}
    for part in ("train", "test"):
        found[f"{part} rows"] = (getattr(split, part).sha256(), getattr(record.split, part).sha256)
    for what, (now, then) in found.items():
        if now != then:
            raise IntegrityError(
                f"{run.folder}: the {what} of its settings are not those of the run (sha256 {now[:12]}, "
                f"recorded {then[:12]}), so results would be wrong. Run it again with the data that are here."
            )
