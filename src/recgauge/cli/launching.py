"""From what Hydra has composed to jobs: of a single run and of a sweep. OmegaConf ends here."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.cli.commands.run_data import data_again
from recgauge.cli.explain import Choices, explain_config_error
from recgauge.cli.settings import typed_settings
from recgauge.cli.words import SWEEPER, check_trust
from recgauge.errors import ConfigError, RecgaugeError, SchemaError
from recgauge.metrics import HEADLINE
from recgauge.report.console import print_run
from recgauge.runs.folder import load_record
from recgauge.runs.outcome import JobOutcome, read_jobs, write_jobs
from recgauge.sweeps.compose import build_store
from recgauge.sweeps.ending import conclude_study, end_sweep
from recgauge.sweeps.engines import Engine, make_engine
from recgauge.sweeps.jobs import Job, checked_job
from recgauge.sweeps.names import check_repeats
from recgauge.sweeps.places import served_by, work_folder
from recgauge.sweeps.planning import show_plan
from recgauge.sweeps.sweep import Planned, Sweep, check, look_for_data, run_sweep
from recgauge.tracking import Deliveries
from recgauge.utils.checks import check_int
from recgauge.utils.messages import explain_error, print_error
from recgauge.utils.secrets import without_secrets


def run_alone(config: DictConfig) -> bool:
    """Run one job that is none of a sweep, print its table, and return whether all went well."""
    one = planned_job(config, None)
    if one.job is None:
        raise ConfigError(str(one.outcome.reason))
    job, store = one.job, build_store(one.job.typed.tracking)
    sweep = Sweep(job.folder, store, _outputs(), alone=True)
    if job.typed.plan:
        return show_plan([one], sweep)
    study = job.study()
    check([one], sweep)
    look_for_data([one])
    with Deliveries(store) as deliveries:
        if study is not None and not study.needs_runs:
            conclude_study(study, [], store=store, words=job.words, folder=job.folder, deliveries=deliveries)
            return True
        (outcome,) = run_sweep([one], sweep, Engine(), deliveries)
        if outcome.record is not None:
            address = None if store is None else deliveries.run_address(outcome.folder)
            server = None if store is None else served_by(store.uri)
            print_run(
                outcome.record,
                outcome,
                address=address,
                server=server,
                folder=outcome.folder,
                said=outcome.said,
            )
    if outcome.status == "not tracked":
        print_error(
            f"{outcome.reason} Complete results are in {outcome.folder}; when the store works again, "
            "`recgauge sync`, or the next run, tracks them."
        )
    if outcome.status == "stopped":
        raise KeyboardInterrupt
    return outcome.status in ("done", "reused")


def launch(
    config: DictConfig, configs: Sequence[DictConfig], first: int, engine: str, settings: Mapping[str, Any]
) -> list[float | None]:
    """Run the jobs that a sweeper gives out, and return the first number of each for one that searches."""
    folder = Path(config.hydra.sweep.dir).absolute()
    _hide_secrets(folder / "multirun.yaml")
    planned = [planned_job(one, first + place, config) for place, one in enumerate(configs)]
    typed = next((one.job.typed for one in planned if one.job is not None), None)
    store = None if typed is None else build_store(typed.tracking)
    sweep = Sweep(folder, store, _outputs())
    plain = {key: OmegaConf.to_container(v) if OmegaConf.is_config(v) else v for key, v in settings.items()}
    check_int("jobs", config.jobs, minimum=1)
    if config.plan:
        if not show_plan(planned, sweep):
            raise SystemExit(1)
        return [None] * len(planned)
    check(planned, sweep)
    workers = make_engine(engine, plain, config.jobs, len(planned), folder)
    look_for_data(planned)
    with Deliveries(store) as deliveries:
        outcomes = run_sweep(planned, sweep, workers, deliveries)
        if _in_batches(config):
            write_jobs([*read_jobs(folder)[:first], *outcomes], folder)
        elif not _end(config, outcomes, planned, deliveries):
            raise SystemExit(1)
    return [_headline(outcome) for outcome in outcomes]


class SweepEnd(Callback):
    """Sums up a sweep that its sweeper has given out in batches; others have their table by then."""

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """Print one table over all jobs."""
        if not _in_batches(config) or config.plan:
            return
        try:
            outcomes = [_with_record(job) for job in read_jobs(Path(config.hydra.sweep.dir).absolute())]
            store = build_store(OmegaConf.to_container(config.tracking, resolve=True))
            with Deliveries(store) as deliveries:
                ended_well = _end(config, outcomes, [], deliveries)
        except Exception as error:
            print_error(
                explain_error(error, Path(config.hydra.sweep.dir)) or f"{type(error).__name__}: {error}"
            )
            ended_well = False
        if not ended_well:
            raise SystemExit(1)


def _end(
    config: DictConfig, outcomes: Sequence[JobOutcome], planned: Sequence[Planned], deliveries: Deliveries
) -> bool:
    """Sum up a sweep; return whether all of it went well."""
    store = build_store(OmegaConf.to_container(config.tracking, resolve=True))
    sweep = Sweep(Path(config.hydra.sweep.dir).absolute(), store, _outputs())
    study = next((one.job.study() for one in planned if one.job is not None), None)
    ended_well = end_sweep(
        outcomes,
        sweep,
        deliveries,
        experiment=config.hydra.runtime.choices.get("experiment") or "",
        study=study,
        words=_typed_words(config),
        load=data_again if config.report else None,
    )
    if any(outcome.status == "stopped" for outcome in outcomes):
        raise KeyboardInterrupt
    return ended_well


def _in_batches(config: DictConfig) -> bool:
    """Whether the sweeper may give out jobs several times."""
    sweeper = config.hydra.sweeper
    return sweeper.get("_target_") != SWEEPER or sweeper.get("max_batch_size") is not None


def _headline(outcome: JobOutcome) -> float | None:
    """Return what a sweeper that searches makes better: the value of the first metric."""
    if outcome.record is None:
        return None
    results = [entry for name in HEADLINE for entry in outcome.record.results if entry.name == name]
    return float(results[0].value) if results else None


def _with_record(job: JobOutcome) -> JobOutcome:
    if job.status not in ("done", "reused", "not tracked", "not saved"):
        return job
    try:
        return replace(job, record=load_record(job.folder))
    except (OSError, SchemaError) as damage:
        reason = f"{job.folder / 'record.json'}: cannot be read: {damage}"
        return replace(job, status="failed", reason=reason)


def planned_job(config: DictConfig, number: int | None, sweep: DictConfig | None = None) -> Planned:
    """Return a job, or the outcome that says why it cannot run."""
    hydra = config.hydra
    if sweep is None:
        folder, parent = Path(hydra.runtime.output_dir), None
    else:
        hydra.job.num, hydra.job.id = number, str(number)
        parent = Path(sweep.hydra.sweep.dir).absolute()
        folder = parent / str(hydra.sweep.subdir)
    words = _typed_words(config)
    label = " ".join(word for word in words if not word.startswith("hydra."))
    outcome = JobOutcome(number or 0, str(without_secrets(label)), folder=folder)
    HydraConfig.instance().set_config(config)  # settings may refer to it
    try:
        typed = OverridesParser.create().parse_overrides(_typed_words(config if sweep is None else sweep))
        check_trust(config, typed)
        check_repeats(words)
        job = Job(
            number=number or 0,
            words=tuple(words),
            typed=typed_settings(config),
            names={},
            folder=folder.absolute(),
            sweep=parent,
            experiment=str(hydra.runtime.choices.get("experiment") or ""),
            index=_outputs() / ".runs",
        )
        store = build_store(job.typed.tracking)
        job = replace(job, store={} if store is None else store.plain())
        job, experiment = checked_job(job, dict(hydra.runtime.choices))
    except OmegaConfBaseException as error:
        reason = explain_config_error(error, Choices(words))
        return Planned(replace(outcome, status="failed", reason=reason))
    except RecgaugeError as error:
        return Planned(replace(outcome, status="failed", reason=str(error)))
    return Planned(job.outcome, job, experiment)


def _typed_words(config: DictConfig) -> list[str]:
    """Return the overrides as they were typed: Hydra would fill in what ``${...}`` in them means."""
    words: Any = OmegaConf.to_container(config.hydra.overrides.task)
    return list(words)


def _outputs() -> Path:
    return work_folder() / "outputs"


def _hide_secrets(file: Path) -> None:
    """Take passwords out of what Hydra has just written about the sweep."""
    with suppress(OSError):
        text = file.read_text(encoding="utf-8")
        if (clean := without_secrets(text)) != text:
            file.write_text(clean, encoding="utf-8")
