"""Jobs of a single run and of a sweep from Hydra's configuration. OmegaConf ends here."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from recgauge.cli.explain import explained
from recgauge.cli.run_data import load_data
from recgauge.cli.settings import typed_settings
from recgauge.cli.trust import check_trusted
from recgauge.cli.words import check_words, hydra_loader, task_words, words_of_model
from recgauge.errors import ConfigError, MissingLibraryError, RecgaugeError
from recgauge.report.console import print_run, shown_path
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import JobOutcome
from recgauge.runs.targets import installed_options
from recgauge.studies import Study
from recgauge.sweeps.compose import build_store
from recgauge.sweeps.engines import Engine, make_engine
from recgauge.sweeps.jobs import Job, make_job
from recgauge.sweeps.places import served_by
from recgauge.sweeps.sweep import Sweep, check, run_sweep, show_plan
from recgauge.sweeps.tables import reused_line
from recgauge.tracking.outbox import Deliveries
from recgauge.utils.checks import check_int
from recgauge.utils.files import exclusive
from recgauge.utils.messages import print_error
from recgauge.utils.secrets import without_secrets


def run_alone(config: DictConfig, typed: Sequence[Override]) -> bool:
    """Run one job that is none of a sweep, print its table, and return whether all went well."""
    sweep, study = _alone(config, typed)
    if config.plan:
        return show_plan(sweep)
    if study is None or study.needs_runs:
        return run_sweep(sweep, Engine, _end_alone)
    from recgauge.sweeps.conclusion import conclude_study

    check(sweep)
    with Deliveries(sweep.store) as deliveries:
        conclude_study(study, [], sweep, deliveries)
    return True


def run_for_python(config: DictConfig, typed: Sequence[Override]) -> FinishedRun:
    """Run one job that is none of a sweep, print no table, and return the run; RecgaugeError if it fails."""
    sweep, study = _alone(config, typed)
    if study is not None and not study.needs_runs:
        raise ConfigError(
            f"recgauge.run: {study.name} has no run. Type recgauge run experiment={study.name}."
        )
    run_sweep(sweep, Engine, _end_quietly)
    (outcome,) = sweep.all_outcomes
    if outcome.run is None:
        raise RecgaugeError(outcome.reason or f"{outcome.label}: the run has no result.")
    return outcome.run


def _alone(config: DictConfig, typed: Sequence[Override]) -> tuple[Sweep, Study | None]:
    """Return the job of a configuration as a sweep of one, and its study."""
    check_int("jobs", config.jobs, minimum=1)
    job = job_of(config, typed, typed, Path(config.hydra.runtime.output_dir))
    store = build_store(job.typed.tracking)
    return Sweep(job.folder, store, [job], words=job.words, alone=True), job.study()


def _end_quietly(sweep: Sweep, deliveries: Deliveries) -> bool:  # noqa: ARG001 -- as `end` of `run_sweep`
    """Say how a run that the store did not take gets there later; return whether all is well."""
    (outcome,), store = sweep.all_outcomes, sweep.store
    if outcome.status == "not tracked" and store is not None:
        print_error(
            f"{outcome.reason} Complete results are in {outcome.folder}; when the store works again, "
            f"`{store.sync_command}`, or the next run, tracks them."
        )
    return outcome.status in ("done", "reused")


def _end_alone(sweep: Sweep, deliveries: Deliveries) -> bool:
    (outcome,), store = sweep.all_outcomes, sweep.store
    if (run := outcome.run) is not None:
        address = None if store is None else deliveries.run_address(outcome.folder)
        notes = [reused_line(outcome)] if outcome.status == "reused" else []
        print_run(run, address, None if store is None else served_by(store.uri, store.experiment), notes)
    return _end_quietly(sweep, deliveries)


def start_sweep(config: DictConfig, typed: Sequence[Override]) -> None:
    """Run every combination of what is swept; SystemExit if a job did not end well."""
    HydraConfig.instance().set_config(config)  # settings may refer to it
    check_trusted(config, typed)  # which could not resolve those that do
    store = build_store(OmegaConf.to_container(config.tracking, resolve=True))
    experiment = config.hydra.runtime.choices.get("experiment") or ""
    folder = Path(config.hydra.sweep.dir).absolute()
    sweep = Sweep(folder, store, words=task_words(typed), experiment=experiment)
    with hydra_loader() as loader:
        parser = OverridesParser.create(config_loader=loader)
        combinations = _combinations(config, typed, parser)
        for number, words in enumerate(combinations):
            model = next((word.partition("=")[2] for word in words if word.startswith("model=")), "")
            with explained(model):
                job_config = loader.load_sweep_config(config, words)
            job_config.hydra.job.num, job_config.hydra.job.id = number, str(number)
            own = folder / str(job_config.hydra.sweep.subdir)
            try:
                parsed = parser.parse_overrides(words)
                sweep.jobs.append(job_of(job_config, typed, parsed, own, number, folder))
            except RecgaugeError as error:
                if isinstance(error, MissingLibraryError) and experiment and not config.plan:
                    raise  # the experiment would run for hours and stay open
                label = " ".join(without_secrets(words))
                sweep.outcomes[number] = JobOutcome(number, label, "failed", str(error), folder=own)
    # what is swept can name another store than the command line
    sweep.store = next((build_store(job.typed.tracking) for job in sweep.jobs), store)
    check_int("jobs", config.jobs, minimum=1)
    if config.plan:
        ended_well = show_plan(sweep)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        launcher: Any = OmegaConf.to_container(config.hydra.launcher or OmegaConf.create(), resolve=True)
        engine = launcher.pop("engine", "here")
        workers = partial(make_engine, engine, launcher, config.jobs, len(combinations), folder)
        with _locked(folder):
            text = without_secrets(OmegaConf.to_yaml(config))
            (folder / "multirun.yaml").write_text(text, encoding="utf-8")
            ended_well = run_sweep(sweep, workers, partial(_end, config))
        (folder / ".sweep.lock").unlink(missing_ok=True)
    if not ended_well:
        raise SystemExit(1)


def _locked(folder: Path) -> AbstractContextManager[object]:
    """Lock the folder of a sweep; it is an error if another sweep is at work there."""
    try:
        return exclusive(folder / ".sweep.lock").acquire(timeout=0)
    except TimeoutError as error:
        reason = "another sweep is at work in this folder. Name another, or wait."
        raise ConfigError(f"hydra.sweep.dir: {reason}") from error


def _combinations(config: DictConfig, typed: Sequence[Override], parser: OverridesParser) -> list[list[str]]:
    """Return the words of each job, by what a file of settings sweeps and what is typed."""
    with explained():
        declared = [f"{name}={value}" for name, value in (config.hydra.sweeper.params or {}).items()]
        words = parser.parse_overrides([*declared, *task_words(typed)])
    # a setting that is typed stands in the place, but not with the value, of a declared one
    values = {word.get_key_element(): _values(word) for word in words}
    if empty := [key for key, texts in values.items() if not texts]:
        raise ConfigError(f"{empty[0]}: gives no value, so there is no job to run")
    models, jobs = [word.partition("=")[2] for word in values.get("model", [])], []
    for job in product(*values.values()):
        own = [word.partition("=")[2] for word in job if word.startswith("model=")]
        jobs.append(tuple(words_of_model(job, models, *own) if own else job))
    return [list(job) for job in dict.fromkeys(jobs)]  # values of other models make no further jobs


def _values(word: Override) -> list[str]:
    """Return the words that a word of the command line stands for."""
    key = word.get_key_element()
    if not word.is_sweep_override():
        return [f"{key}={word.get_value_element_as_str()}"]
    if not word.is_discrete_sweep():
        raise ConfigError(f"{word.input_line}: an interval is nothing to sweep; tune=tpe searches one")
    return [f"{key}={value}" for value in word.sweep_string_iterator()]


def _end(config: DictConfig, sweep: Sweep, deliveries: Deliveries) -> bool:
    from recgauge.sweeps.ending import end_sweep  # compares runs, which takes long to import

    load = partial(load_data, trusted=sweep.words)
    return end_sweep(sweep, deliveries, load=load if config.report else None)


def job_of(
    config: DictConfig,
    typed: Sequence[Override],
    words: Sequence[Override],
    folder: Path,
    number: int = 0,
    sweep: Path | None = None,
) -> Job:
    """Return the job of a composed configuration; an error says why it cannot run.

    `typed` is the command line, `words` what this job has of it, `sweep` the folder of all jobs.
    """
    HydraConfig.instance().set_config(config)  # settings may refer to it
    check_trusted(config, typed)  # which could not resolve those that do
    check_trusted(config, typed)
    check_words(words)
    shared = {word.input_line for word in typed if not word.is_sweep_override()}
    return make_job(
        typed_settings(config),
        task_words(words),
        dict(config.hydra.runtime.choices),
        folder,
        number=number,
        sweep=sweep,
        swept={word.key_or_group for word in words if word.input_line not in shared},
        config_folder=_config_folder(config),
        sweep_words=() if sweep is None else task_words(typed),
    )


def _config_folder(config: DictConfig) -> str:
    """Return the folder of settings that the command line names beside those of installed packages."""
    installed = {str(folder) for _, folder in installed_options()}
    named = [each.path for each in config.hydra.runtime.config_sources if "command-line" in each.provider]
    return next((shown_path(Path(path)) for path in named if path not in installed), "")
