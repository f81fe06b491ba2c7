"""Before the first job of a sweep: its jobs are composed, its data looked at, its store opened."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra import compose
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.compose import build_dataset, build_model, build_study, build_tracker, check_ready
from recgauge.app.places import experiments_folder
from recgauge.app.sweep.outcome import SweepPlan
from recgauge.app.terminal.explain import Choices, explain_config_error, own_folder
from recgauge.app.terminal.printing import ConsoleProgress
from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking.tracker import Tracker
from recgauge.app.tracking.untracked import deliver_waiting
from recgauge.errors import ConfigError, MissingDataError
from recgauge.runs.settings import data_settings
from recgauge.studies import Study
from recgauge.utils.progress import Progress

MISSING = "missing.json"
_ABOUT_DATA = data_settings() | {"experiment"}
_ABOUT_MODEL = {"model", "data", "experiment", "allowed_targets"}


def begin(config: DictConfig) -> SweepPlan:
    """Find out what cannot work before any work is done, and write down what the sweep sets out to do.

    Parameters
    ----------
    config : DictConfig
        The composed configuration with Hydra's own part; Hydra must be initialized.

    Raises
    ------
    RecgaugeError
        If no job can be composed, no data set can be had, or the study or the store cannot be used.
    """
    folder = Path(config.hydra.sweep.dir)
    (folder / MISSING).unlink(missing_ok=True)  # of an earlier sweep in the same folder
    jobs = grid_jobs(config)
    _check_composable(jobs, own_folder(config.hydra.runtime.config_sources))
    study, tracker = study_and_tracker(config)
    if study is not None:
        study.check(experiments_folder() / study.name)
    _note_models_not_ready(jobs, list(config.allowed_targets))
    _note_missing_data(grid_datasets(jobs), list(config.allowed_targets), folder)
    tracker.prepare()
    progress = ConsoleProgress()
    for line in tracker.close_dead():
        progress.note(f"marked as killed: {line}")
    deliver_waiting(tracker, progress)
    plan = SweepPlan([" ".join(word for word in job if not word.startswith("hydra.")) for job in jobs])
    plan.write(folder)
    return plan


def study_and_tracker(config: DictConfig) -> tuple[Study | None, Tracker]:
    """Build the study of a sweep, if it has one, and its tracker."""
    study, tracking = (
        None if config[key] is None else OmegaConf.to_container(config[key], resolve=True)
        for key in ("study", "tracking")
    )
    return build_study(study, list(config.allowed_targets)), build_tracker(tracking)


def grid_jobs(config: DictConfig) -> list[list[str]]:
    """Return the overrides of every job of a grid; none if another sweeper than Hydra's own chooses them."""
    if not str(config.hydra.sweeper.get("_target_")).endswith(f".{BasicSweeper.__name__}"):
        return []
    params = OmegaConf.to_container(config.hydra.sweeper.get("params") or OmegaConf.create({}))
    words = [f"{key}={value}" for key, value in dict(params).items()]  # type: ignore[arg-type]
    overrides = OverridesParser.create().parse_overrides([*words, *config.hydra.overrides.task])
    return BasicSweeper.split_arguments(overrides, max_batch_size=None)[0]


def grid_datasets(jobs: Iterable[Sequence[str]]) -> dict[str, dict[str, Any]]:
    """Return the settings of every data set that the jobs use, by the words that choose it.

    Hydra must be initialized.
    """
    found: dict[str, dict[str, Any]] = {}
    for words in _words_about(_ABOUT_DATA, jobs):
        try:
            node: Any = OmegaConf.to_container(compose("config", list(words)).dataset, resolve=True)
        except (HydraException, OmegaConfBaseException, ConfigError):
            continue  # the job itself says what is wrong with it
        found[" ".join(words)] = node
    return found


def missing_data(
    datasets: Mapping[str, Mapping[str, Any]], allowed: Sequence[str], progress: Progress
) -> dict[str, str]:
    """Return ``{settings as text: reason}`` of the data sets that cannot be had; fetch those that can.

    Parameters
    ----------
    datasets : mapping of str to mapping
        As returned by `grid_datasets`.
    allowed : sequence of str
        Packages whose classes may be built.
    progress : Progress

    Raises
    ------
    DataError
        If data are there but not what they should be, which no other data set makes up for.
    """
    missing = {}
    for key, node in {as_key(node): node for node in datasets.values()}.items():
        try:
            build_dataset(node, allowed).find(progress)
        except MissingDataError as error:
            missing[key] = str(error)
        except ConfigError:
            continue  # the job itself says what is wrong with it
    return missing


def as_key(dataset: Mapping[str, Any]) -> str:
    """Return a data set's settings as one text, which may be stored."""
    return json.dumps(without_secrets(dataset), sort_keys=True, default=str)


def known_missing(sweep: Path, dataset: Mapping[str, Any]) -> str | None:
    """Return why the data are missing, if that was found out at the start of the sweep."""
    file = sweep / MISSING
    if not file.is_file():
        return None
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return found.get(as_key(dataset))


def _check_composable(jobs: Iterable[Sequence[str]], own: str | None) -> None:
    """Refuse a sweep none of whose jobs can be composed; where only some cannot, these tell it themselves."""
    first = None
    for job in jobs:
        try:
            compose("config", list(job))
        except (HydraException, OmegaConfBaseException) as error:
            first = first or ConfigError(explain_config_error(error, Choices(job, own)))
        except ConfigError as error:
            first = first or error
        else:
            return
    if first is not None:
        raise first


def _note_missing_data(
    datasets: Mapping[str, Mapping[str, Any]], allowed: Sequence[str], folder: Path
) -> None:
    """Print once which data sets are missing, and leave a note for the jobs that need them."""
    progress = ConsoleProgress()
    with progress.stage("look for the data sets"):
        missing = missing_data(datasets, allowed, progress)
    if missing and len(missing) == len({as_key(node) for node in datasets.values()}):
        raise MissingDataError("\n".join(missing.values()))
    for reason in missing.values():
        progress.note(f"the jobs on this data set are left out. {reason}")
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MISSING).write_text(json.dumps(without_secrets(missing)), encoding="utf-8")


def _note_models_not_ready(jobs: Iterable[Sequence[str]], allowed: Sequence[str]) -> None:
    """Print which models cannot be trained here, such as those of a library that is not installed.

    Their jobs fail when it is their turn; the user should not have to wait for it.

    Raises
    ------
    ConfigError
        If no model can be trained.
    """
    reasons: dict[str, str] = {}
    all_words = _words_about(_ABOUT_MODEL, jobs)
    for words in all_words:
        try:
            model: Any = OmegaConf.to_container(compose("config", list(words)).model, resolve=True)
        except (HydraException, OmegaConfBaseException, ConfigError):
            continue  # the job itself says what is wrong with it
        try:
            check_ready(build_model(model, allowed))
        except ConfigError as error:
            reasons[" ".join(words)] = str(error)
    if reasons and len(reasons) == len(all_words):
        raise ConfigError("\n".join(dict.fromkeys(reasons.values())))
    for name, reason in reasons.items():
        ConsoleProgress().note(f"the jobs with {name} cannot run. {reason}")


def _words_about(roots: Collection[str], jobs: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the words of each job that set something under one of the roots, each combination once."""
    found = (
        tuple(word for word in job if word.lstrip("+~").split("=")[0].split(".")[0] in roots) for job in jobs
    )
    return list(dict.fromkeys(found))
