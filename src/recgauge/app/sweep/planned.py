"""The jobs of a sweep before the first one runs: each is composed, checked and given its fingerprint."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig, open_dict
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.compose import compose
from recgauge.app.hydra_checks import NOT_COMPOSED
from recgauge.app.job import Job, prepare
from recgauge.app.names import check_repeats, typed_words
from recgauge.app.settings import typed_settings
from recgauge.app.sweep.composing import settings_of
from recgauge.app.sweep.launcher import rows_key
from recgauge.app.sweep.outcome import short_labels
from recgauge.app.terminal.explain import Choices, explain_config_error, own_folder
from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking.environment import fingerprint_of
from recgauge.errors import ConfigError, DataError, RecgaugeError
from recgauge.experiment import Experiment

_NAMED = 3  # jobs whose words are shown where many are wrong for one reason


@dataclass
class PlannedJob:
    """A job that has not begun.

    Parameters
    ----------
    number : int
        Position in the sweep, from 0.
    label : str
        The words that make it.
    folder : Path
        Gets its files.
    key : str
        Equal for jobs whose data, split and candidates are the same.
    job : Job or None
        None if it is wrong.
    experiment : Experiment or None
        None for a study that needs no runs, too.
    problem : str or None
        Why it cannot run.
    no_data : str or None
        Why it has no data.
    fingerprint : str or None
        Of the run that it will be, as far as that is known without a search or missing data.
    """

    number: int
    label: str
    folder: Path
    key: str
    job: Job | None = None
    experiment: Experiment | None = None
    problem: str | None = None
    no_data: str | None = None
    fingerprint: str | None = None

    @property
    def needs_data(self) -> bool:
        """Whether it can run if there are data."""
        return self.experiment is not None

    @property
    def waits(self) -> bool:
        """Whether nothing is known that keeps it from running."""
        return self.problem is None and self.no_data is None


def planned_jobs(config: DictConfig, jobs: Iterable[Sequence[str]]) -> list[PlannedJob]:
    """Compose and check every job, without looking at data or at a store.

    Parameters
    ----------
    config : DictConfig
        Of the sweep, with Hydra's own part; Hydra must be initialized.
    jobs : iterable of sequence of str
        The words of each.
    """
    loader = GlobalHydra.instance().config_loader()
    configs = (loader.load_sweep_config(config, list(words)) for words in jobs)
    return [planned_job(one, number) for number, one in enumerate(configs)]


def planned_job(config: DictConfig, number: int | None) -> PlannedJob:
    """Check one job; without a number it is none of a sweep."""
    with open_dict(config):
        if number is not None:
            config.hydra.job.id = config.hydra.job.num = number
        part = config.hydra.run if number is None else config.hydra.sweep
        folder = Path(part.dir) if number is None else Path(part.dir, str(part.subdir)).absolute()
    words = typed_words(config.hydra)
    label = " ".join(word for word in words if not word.startswith("hydra."))
    planned = PlannedJob(number or 0, str(without_secrets(label)), folder, rows_key(config))
    choices = Choices(words, own_folder(config.hydra.runtime.config_sources))
    sweep = None if number is None else Path(config.hydra.sweep.dir)
    HydraConfig.instance().set_config(config)  # settings may refer to it
    try:
        planned.job, planned.experiment = _checked(config, words, folder, sweep)
    except (HydraException, OmegaConfBaseException) as error:
        planned.problem = explain_config_error(error, choices)
    except RecgaugeError as error:
        planned.problem = str(error)
    except Exception:  # a bug of a component: the job itself shows where
        planned.job = None
    return planned


def _checked(
    config: DictConfig, words: list[str], folder: Path, sweep: Path | None
) -> tuple[Job, Experiment | None]:
    """Do what a job does first: nothing of it needs data."""
    if NOT_COMPOSED in config:
        raise ConfigError(str(config[NOT_COMPOSED]))
    check_repeats(words)
    chosen = dict(config.hydra.runtime.choices)
    job = prepare(typed_settings(settings_of(config)), words, chosen, folder=folder, sweep=sweep)
    if job.study is not None and not job.study.needs_runs:
        return job, None
    experiment = compose(job.typed, leave_out=job.leaves_out, tell=lambda _text: None)
    return replace(
        job, names=job.names | {"dataset": experiment.dataset.label or job.names["dataset"]}
    ), experiment


def tell_problems(jobs: Sequence[PlannedJob], tell: Callable[[str], None]) -> None:
    """Name the jobs that cannot run; those that cannot for one reason share a message.

    Raises
    ------
    ConfigError
        If none can.
    """
    found: dict[str, list[PlannedJob]] = {}
    for one in jobs:
        if one.problem is not None:
            found.setdefault(one.problem, []).append(one)
    if found and sum(map(len, found.values())) == len(jobs):
        raise ConfigError("\n".join(found))
    for reason, some in found.items():
        tell(f"{named(some, jobs)} cannot run. {reason}")


def named(some: Sequence[PlannedJob], jobs: Sequence[PlannedJob]) -> str:
    """Name some of all jobs, by what only they have in common if there is such a thing."""
    labels = dict(zip((job.number for job in jobs), short_labels([job.label for job in jobs]), strict=True))
    words = [set(labels[job.number].split(" ")) for job in some]
    own = set.intersection(*words)
    others = [set(labels[job.number].split(" ")) for job in jobs if job not in some]
    own = own.difference(*(other for other in others)) if others else own
    if len(some) == 1:
        return f"job {some[0].number} ({labels[some[0].number]})"
    if own:
        return f"the jobs with {' '.join(word for word in labels[some[0].number].split(' ') if word in own)}"
    first = ", ".join(f"{job.number} ({labels[job.number]})" for job in some[:_NAMED])
    return f"jobs {first}" + (f" and {len(some) - _NAMED} more" if len(some) > _NAMED else "")


def as_key(dataset: Mapping[str, Any]) -> str:
    """Return a data set's settings as one text, which may be stored."""
    return json.dumps(without_secrets(dataset), sort_keys=True, default=str)


def set_fingerprints(jobs: Iterable[PlannedJob]) -> None:
    """Give the jobs their fingerprints, those of tuned ones excepted; each data set is read at most once.

    Data must have been looked for: a data set that cannot be had leaves its jobs without a fingerprint.
    """
    digests: dict[str, str | None] = {}
    for one in jobs:
        if one.job is None or one.experiment is None or not one.waits or one.job.typed.tune is not None:
            continue
        key = as_key(one.job.settings["dataset"])
        if key not in digests:
            try:
                digests[key] = one.experiment.dataset.digest()
            except (DataError, ConfigError):  # the job itself says what is wrong
                digests[key] = None
        if (digest := digests[key]) is not None:
            one.fingerprint = fingerprint_of(one.job.settings, digest)
