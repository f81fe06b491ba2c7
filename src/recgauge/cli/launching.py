"""Jobs of a single run and of a sweep from Hydra's configuration. OmegaConf ends here."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.types import HydraContext
from omegaconf import DictConfig, OmegaConf, read_write
from omegaconf.errors import OmegaConfBaseException

from recgauge.cli.explain import explain_config_error
from recgauge.cli.run_data import load_data
from recgauge.cli.settings import typed_settings
from recgauge.cli.trust import SWEEPER, check_trusted
from recgauge.cli.words import check_choices, hydra_loader
from recgauge.errors import ConfigError, MissingLibraryError, RecgaugeError, SchemaError, said
from recgauge.metrics import HEADLINE
from recgauge.report.console import print_run, shown_path
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import JobOutcome, read_jobs, write_jobs
from recgauge.runs.targets import installed_options
from recgauge.sweeps.compose import build_store
from recgauge.sweeps.engines import Engine, make_engine
from recgauge.sweeps.jobs import Job, make_job
from recgauge.sweeps.places import served_by
from recgauge.sweeps.sweep import Sweep, check, run_sweep, show_plan
from recgauge.sweeps.tables import reused_line
from recgauge.tracking import Deliveries
from recgauge.utils.checks import check_int
from recgauge.utils.messages import print_error
from recgauge.utils.secrets import without_secrets


def run_alone(config: DictConfig) -> bool:
    """Run one job that is none of a sweep, print its table, and return whether all went well."""
    job = job_of(config, Path(config.hydra.runtime.output_dir))
    sweep = Sweep(job.folder, build_store(job.typed.tracking), [job], words=job.words, alone=True)
    if config.plan:
        return show_plan(sweep)
    study = job.study()
    if study is None or study.needs_runs:
        return run_sweep(sweep, Engine, _end_alone)
    from recgauge.sweeps.conclusion import conclude_study

    check(sweep)
    with Deliveries(sweep.store) as deliveries:
        conclude_study(study, [], sweep, deliveries)
    return True


def run_for_python(config: DictConfig) -> FinishedRun:
    """Run one job that is none of a sweep, print no table, and return the run; RecgaugeError if it fails."""
    job = job_of(config, Path(config.hydra.runtime.output_dir))
    study = job.study()
    if study is not None and not study.needs_runs:
        raise ConfigError(
            f"recgauge.run: {study.name} has no run. Type recgauge run experiment={study.name}."
        )
    sweep = Sweep(job.folder, build_store(job.typed.tracking), [job], words=job.words, alone=True)
    run_sweep(sweep, Engine, _end_quietly)
    (outcome,) = sweep.all_outcomes
    if outcome.run is None:
        raise RecgaugeError(outcome.reason or f"{outcome.label}: the run has no result.")
    return outcome.run


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
        notes = [*outcome.notes, *([reused_line(outcome)] if outcome.status == "reused" else [])]
        print_run(run, address, None if store is None else served_by(store.uri), notes)
    return _end_quietly(sweep, deliveries)


def launch(
    config: DictConfig,
    jobs: Sequence[Sequence[str]],
    load: Callable[[DictConfig, list[str]], DictConfig],
    first: int,
    engine: str,
    settings: Mapping[str, Any],
) -> list[float | None]:
    """Run the jobs that a sweeper gives out, and return the first number of each for one that searches.

    `first` is the number of the first job; a sweeper can give out jobs in batches. `load` composes the
    configuration of a job from its words.
    """
    sweep = _sweep(config)
    with suppress(OSError):  # Hydra has just written it, with all passwords
        written = sweep.folder / "multirun.yaml"
        written.write_text(without_secrets(written.read_text(encoding="utf-8")), encoding="utf-8")
    for number, words in enumerate(jobs, first):
        folder = sweep.folder / str(number)
        try:
            job_config = _loaded(load, config, list(words))
            job_config.hydra.job.num, job_config.hydra.job.id = number, str(number)
            folder = sweep.folder / str(job_config.hydra.sweep.subdir)
            sweep.jobs.append(job_of(job_config, folder, number, config))
            continue
        except (HydraException, OmegaConfBaseException) as error:
            reason = explain_config_error(error, words, partial(load, config))
            if not first:  # nothing has run: the words are to be mended
                raise ConfigError(reason) from error
        except RecgaugeError as error:
            if isinstance(error, MissingLibraryError) and sweep.experiment and not config.plan:
                raise  # the experiment would run for hours and stay open
            reason = str(error)
        label = " ".join(without_secrets(list(words)))
        sweep.outcomes[number] = JobOutcome(number, label, "failed", reason, folder=folder)
    # a sweeper's own settings can name another store than the command line
    sweep.store = next((build_store(job.typed.tracking) for job in sweep.jobs), sweep.store)
    check_int("jobs", config.jobs, minimum=1)
    if config.plan:
        ended_well = show_plan(sweep)
    else:
        plain: Any = OmegaConf.to_container(OmegaConf.create(dict(settings)))
        workers = partial(make_engine, engine, plain, config.jobs, len(jobs), sweep.folder)
        end = partial(_end_batch, config, first) if sweep.batch else partial(_end, config)
        ended_well = run_sweep(sweep, workers, end)
    if not ended_well:
        raise SystemExit(1)
    return [_headline(outcome) for outcome in sweep.all_outcomes]


def _loaded(
    load: Callable[[DictConfig, list[str]], DictConfig], config: DictConfig, words: list[str]
) -> DictConfig:
    try:
        return load(config, words)
    except (HydraException, OmegaConfBaseException, RecgaugeError):
        raise
    except Exception as error:  # how Hydra answers what it did not expect, such as model=inf
        raise HydraException(f"{' '.join(words)}: cannot be composed: {said(error)}") from error


def _end_batch(config: DictConfig, first: int, sweep: Sweep, deliveries: Deliveries) -> bool:
    """Add the jobs of a batch to those that are listed; they are summed up here only if the user stops it."""
    write_jobs([*read_jobs(sweep.folder)[:first], *sweep.all_outcomes], sweep.folder)
    stopped = any(outcome.status == "stopped" for outcome in sweep.all_outcomes)
    return not stopped or _end_batches(config, deliveries)


def _end_batches(config: DictConfig, deliveries: Deliveries) -> bool:
    sweep = _sweep(config)
    sweep.outcomes = {job.number: _with_record(job) for job in read_jobs(sweep.folder)}
    return _end(config, sweep, deliveries)


def _end(config: DictConfig, sweep: Sweep, deliveries: Deliveries) -> bool:
    from recgauge.sweeps.ending import end_sweep  # compares runs, which takes long to import

    load = partial(load_data, trusted=sweep.words)
    return end_sweep(sweep, deliveries, load=load if config.report else None)


def start_sweep(config: DictConfig) -> None:
    """Let a sweeper make jobs and give them to the launcher, and sum up jobs that came in batches."""
    with ExitStack() as stack:
        loader = stack.enter_context(hydra_loader())
        if config.plan:  # a sweeper writes its settings into the folder
            folder = stack.enter_context(TemporaryDirectory())
            with read_write(config.hydra):
                config.hydra.sweep.dir = folder
        HydraConfig.instance().set_config(config)
        context = HydraContext(loader, cast("Any", None))  # recgauge's launcher has no callbacks
        sweeper = Plugins.instance().instantiate_sweeper(
            hydra_context=context, task_function=run_alone, config=config
        )
        sweeper.sweep(arguments=_typed_words(config))
        if _in_batches(config) and not config.plan:
            with Deliveries(_sweep(config).store) as deliveries:
                if not _end_batches(config, deliveries):
                    raise SystemExit(1)


def _sweep(config: DictConfig) -> Sweep:
    store = build_store(OmegaConf.to_container(config.tracking, resolve=True))
    experiment = config.hydra.runtime.choices.get("experiment") or ""
    folder = Path(config.hydra.sweep.dir).absolute()
    words = _typed_words(config)
    return Sweep(folder, store, words=words, experiment=experiment, batch=_in_batches(config))


def _in_batches(config: DictConfig) -> bool:
    """Whether the sweeper may give out jobs several times."""
    sweeper = config.hydra.sweeper
    return sweeper.get("_target_") != SWEEPER or sweeper.get("max_batch_size") is not None


def _headline(outcome: JobOutcome) -> float | None:
    """Return the value of the first metric, which a searching sweeper improves."""
    if outcome.record is None:
        return None
    results = [entry for name in HEADLINE for entry in outcome.record.results if entry.name == name]
    return float(results[0].value) if results else None


def _with_record(job: JobOutcome) -> JobOutcome:
    if job.status in ("no data", "stopped", "failed"):
        return job
    try:
        return replace(job, record=FinishedRun.read(job.folder).record)
    except SchemaError as damage:
        return replace(job, status="failed", reason=str(damage))


def job_of(config: DictConfig, folder: Path, number: int = 0, sweep: DictConfig | None = None) -> Job:
    """Return the job of a composed configuration; an error says why it cannot run.

    There is no configuration of a `sweep` where it is alone.
    """
    words = _typed_words(config)
    HydraConfig.instance().set_config(config)  # settings may refer to it
    try:
        parse = OverridesParser.create().parse_overrides
        common = parse(_typed_words(sweep or config))
        of_hydra: Any = OmegaConf.to_container((sweep or config).hydra.overrides.hydra)
        check_trusted(config, [*parse(list(of_hydra)), *common])
        check_choices(parse(words))
        shared = {word.input_line for word in common if not word.is_sweep_override()}
        swept = {word.key_or_group for word in parse(words) if word.input_line not in shared}
        choices = dict(config.hydra.runtime.choices)
        place = None if sweep is None else Path(sweep.hydra.sweep.dir)
        settings, own = typed_settings(config), _config_folder(config)
        about: dict[str, Any] = {"number": number, "sweep": place, "config_folder": own, "swept": swept}
        return make_job(settings, words, choices, folder, **about)
    except OmegaConfBaseException as error:
        raise ConfigError(explain_config_error(error)) from error


def _config_folder(config: DictConfig) -> str:
    """Return the folder of settings that the command line names beside those of installed packages."""
    installed = {str(folder) for folder in installed_options().values()}
    named = [each.path for each in config.hydra.runtime.config_sources if "command-line" in each.provider]
    return next((shown_path(Path(path)) for path in named if path not in installed), "")


def _typed_words(config: DictConfig) -> list[str]:
    """Return the overrides as typed, with their references ``${...}`` unresolved."""
    words: Any = OmegaConf.to_container(config.hydra.overrides.task)
    return list(words)
