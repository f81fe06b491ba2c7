"""A job: settings in, a complete folder out. `run_job` is all that runs anywhere, here or on a cluster."""

import os
import re
import shlex
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from recgauge.datasets import DatasetSource
from recgauge.errors import ConfigError, MissingDataError, message, said
from recgauge.experiment import DataPlan, Experiment, PreparedData, prepare, run_experiment
from recgauge.models import Recommender
from recgauge.models.isolated import Isolated
from recgauge.models.popularity import Popularity
from recgauge.report.console import ConsoleProgress, shown_path
from recgauge.runs.environment import environment_of, fingerprint_of, user_name
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import (
    CHECKSUMS,
    RECORD,
    Failure,
    JobOutcome,
    file_digest,
    is_finished,
    read_checksums,
    unfinished,
    write_folder,
)
from recgauge.runs.record import JobFacts, RunRecord, SearchFacts
from recgauge.runs.settings import (
    RunSettings,
    part,
    registers_model,
    stores_model,
)
from recgauge.runs.targets import allowed_packages, check_targets
from recgauge.search.space import with_settings
from recgauge.studies import Study
from recgauge.sweeps.artifacts import check_study, write_run
from recgauge.sweeps.compose import build_model, build_store, build_study, compose, compose_metrics
from recgauge.sweeps.engines import Output
from recgauge.sweeps.names import chosen_names, run_name
from recgauge.sweeps.needs import check_effects
from recgauge.sweeps.places import program, work_folder
from recgauge.sweeps.tables import print_job_line
from recgauge.sweeps.tuning import check_tuning, nothing_left, searched, tune
from recgauge.utils.files import written_whole
from recgauge.utils.messages import explain_error, print_error, print_traceback
from recgauge.utils.progress import Progress, Timings
from recgauge.utils.secrets import private_output, without_secrets

LIBRARY_LOG = "library.log"
"""What a library in an environment of its own has printed; in the output folder."""
LOG = "log.txt"
"""What a job in a worker has printed; in its output folder."""


@dataclass(frozen=True)
class Job:
    """A job whose settings have been checked; it can be sent to another process."""

    number: int  # position in the sweep, from 0
    words: tuple[str, ...]  # the overrides as they were typed
    typed: RunSettings  # as components get them, with the passwords of addresses
    names: dict[str, str]  # the chosen option of each group
    folder: Path  # absolute
    index: Path  # remembers where finished runs are, by fingerprint
    store: dict[str, Any] = field(default_factory=dict)  # what the record says of the store
    sweep: Path | None = None  # the folder of the sweep that the job is one of
    experiment: str = ""  # as in experiment=NAME
    config_folder: str = ""  # with settings of the user's own, as in --config-dir
    output: Output = "program"
    search: SearchFacts | None = None  # chose the model's settings
    dataset: DatasetSource | None = None  # where it is looked for; None of a study that needs no runs
    swept: tuple[str, ...] = ()  # keys of the words that other jobs of the sweep have otherwise
    sweep_words: tuple[str, ...] = ()  # the overrides of the whole sweep as they were typed

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings as plain values without secrets, for what is stored."""
        plain: dict[str, Any] = without_secrets(asdict(self.typed))
        return plain

    @cached_property
    def rows(self) -> str:
        """A text that is equal for jobs whose data, split and candidates are the same."""
        return repr([part(vars(self.typed), "rows", "metrics", "place"), self.typed.tune])

    @property
    def may_reuse(self) -> bool:
        """Whether a finished run may take its place."""
        return self.typed.reuse and not self.typed.force

    def check_folder(self) -> None:
        """Refuse to replace the finished run of the job's folder, unless that is forced."""
        if not self.typed.force and is_finished(self.folder):
            name = "hydra.run.dir" if self.sweep is None else "hydra.sweep.dir"
            same = "" if self.may_reuse else " If it is the same run: reuse=true."
            raise ConfigError(
                f"{name}: {shown_path(self.folder)} holds a finished run. Name another folder, or replace "
                f"the run: force=true.{same}"
            )

    @property
    def outcome(self) -> JobOutcome:
        """What is known of its end before it begins."""
        label = " ".join(without_secrets(list(self.words)))
        return JobOutcome(self.number, label, names=self.names, settings=self.settings, folder=self.folder)

    def study(self) -> Study | None:
        """Return the study that the job's run is made for."""
        return build_study(self.typed.study, self.typed.allowed_targets)

    def compose(self, *, quiet: bool = False) -> Experiment:
        """Build all components; metrics that the model cannot have are left out of a sweep's jobs."""
        leave_out = self.sweep is not None or "all" in self.names["metrics"].split("+")
        return compose(self.typed, leave_out=leave_out, **({"tell": lambda _: None} if quiet else {}))


def make_job(  # noqa: PLR0913 -- what a job is, and the sweep that it is one of
    typed: RunSettings,
    words: Sequence[str],
    choices: Mapping[str, Any],
    folder: Path,
    *,
    number: int = 0,
    sweep: Path | None = None,
    config_folder: str = "",
    swept: Collection[str] = (),
    sweep_words: Sequence[str] = (),
) -> Job:
    """Return the job of settings that have been checked, without looking at data or at a store.

    `swept` are the keys of the words that other jobs of the sweep have otherwise.
    """
    plain = asdict(typed)
    check_targets(plain, allowed_packages(typed.allowed_targets))
    without_secrets(plain, learn=True)  # an error may show a password in another form
    if typed.tune is not None:
        check_tuning(typed)
    store = build_store(typed.tracking)
    job = Job(
        number=number,
        words=tuple(words),
        typed=typed,
        names=chosen_names(choices, words, typed),
        folder=folder.absolute(),
        index=work_folder() / "outputs" / ".runs",
        store={} if store is None else store.plain(),
        sweep=None if sweep is None else sweep.absolute(),
        experiment=str(choices.get("experiment") or ""),
        config_folder=config_folder,
        swept=tuple(swept),
        sweep_words=tuple(sweep_words),
    )
    study = job.study()
    check_study(typed, () if study is None else study.artifacts)
    if study is not None and not study.needs_runs:
        return job
    dataset = job.compose(quiet=True).dataset
    measured = compose_metrics(typed)[1].values()
    if not measured:
        raise ConfigError("metrics: none is chosen. Name suites or metrics, such as metrics=[ranking].")
    check_effects(
        typed, words, measures_lists=any(each.metric.kind != "ratings" for each in measured), swept=swept
    )
    return replace(job, names=job.names | {"dataset": dataset.label or job.names["dataset"]}, dataset=dataset)


def run_job(job: Job) -> JobOutcome:
    """Run a job and return how it ended; whatever its components do, its folder is complete or says why not.

    The outcome has the record of a run that has results. Nothing here knows of a store.
    """
    started, here = time.time(), Path.cwd()
    with nullcontext() if job.output == "program" else _output_of_worker(job) as terminal:
        try:
            return _run(job, started, terminal)
        except BaseException as error:  # whatever a component raises, a sweep goes on
            if _is_stop(error):
                leave_failure(job, started, "stopped", killed=True)
                raise KeyboardInterrupt from error
            reason = _reason_of(error)
            if not isinstance(error, MissingDataError):
                leave_failure(job, started, reason)
            return replace(job.outcome, status="failed", reason=reason)
        finally:
            os.chdir(here)  # a component may have gone elsewhere, and other jobs name files from here


def _is_stop(error: BaseException | None) -> bool:
    """Whether it is Ctrl-C, or came of it: compiled code of libraries turns it into errors of its own."""
    return error is not None and (
        isinstance(error, KeyboardInterrupt) or _is_stop(error.__cause__ or error.__context__)
    )


class _TrialNotes(ConsoleProgress):
    """Progress of a search in a sweep: its notes name the job, and go to the terminal beside a log."""

    def __init__(self, job: Job, terminal: int | None) -> None:
        super().__init__()
        self._name = f"job {job.number}, {job.names['model']}, seed {job.typed.seed}"
        self._terminal = terminal if job.output == "log" else None

    def note(self, text: str) -> None:
        text = f"{self._name}: {text}"
        super().note(text)
        if self._terminal is not None:
            with suppress(OSError):
                os.write(self._terminal, f"{message(text)}\n".encode(errors="replace"))


def _run(job: Job, started: float, terminal: int | None = None) -> JobOutcome:
    progress, note = ConsoleProgress(), None
    experiment = job.compose()
    if job.typed.tune is not None:
        notes = progress if job.sweep is None else _TrialNotes(job, terminal)
        job, experiment, note = _tuned(job, experiment, notes)
    with progress.stage("look for the data"):
        experiment.dataset.find(progress)
        experiment.splitter.find()
    if job.may_reuse and (
        done := find_finished(job, fingerprint_of(job.settings, experiment.dataset.digest()))
    ):
        return done
    job.check_folder()
    facts = environment_of(job.settings)
    if isinstance(experiment.model, Isolated):
        experiment.model.log = job.folder / LIBRARY_LOG
    ready, seconds = _rows_of(job, experiment, progress)
    result = run_experiment(experiment, progress, ready)
    if isinstance(experiment.model, Isolated):
        facts |= {"model_environment": experiment.model.worker.versions}
    record = RunRecord.from_result(
        replace(result, seconds={**seconds, **result.seconds}),
        names=job.names,
        seed=job.typed.seed,
        command=_command(job),
        settings=job.settings,
        environment=facts,
        job=_facts(job, started),
    )
    record = replace(record, search=job.search)
    with unfinished(job.folder) as hidden:
        record, unsaved = write_run(result, record, job.typed, hidden)
        # first: a complete folder that nobody finds would be computed once more after a kill
        with suppress(OSError):
            job.index.mkdir(parents=True, exist_ok=True)
            with written_whole(_entry(job, record.fingerprint())) as note_of_folder:
                note_of_folder.write_text(str(job.folder), encoding="utf-8")
    outcome = replace(job.outcome, record=record, reason=note)
    if job.output == "log":
        print_job_line(outcome, outcome.label)
    if unsaved is None:
        return outcome
    print_error(f"the run is complete, but its model is not saved: {unsaved}")
    return replace(outcome, status="not saved", reason=unsaved)


def _command(job: Job) -> str:
    """Return the command line that repeats a job."""
    words = list(job.words)
    if job.typed.tune is None:
        words = [word for word in words if re.split("[=.]", word.lstrip("+~"))[0] not in ("tune", "search")]
        fit_on = f"fit_on={job.typed.fit_on}"  # of what was to be tuned, and has nothing to search
        words += [fit_on] if job.typed.fit_on != RunSettings.fit_on and fit_on not in words else []
    if job.sweep is not None and any(word.startswith("experiment=") for word in words):
        words += ["hydra.mode=RUN", "force=true"]  # the command makes the run, whatever is stored
    return _typed(job, words)


def _typed(job: Job, words: Sequence[str]) -> str:
    options = [f"--config-dir={job.config_folder}"] if job.config_folder else []
    return f"{program()} {shlex.join([*options, *without_secrets(list(words))])}".strip()


def _facts(job: Job, started: float) -> JobFacts:
    name = run_name(job.words, job.names, job.settings, None if job.sweep is None else job.swept)
    sweep = "" if job.sweep is None else job.sweep.as_posix()
    command = "" if job.sweep is None else _typed(job, ["-m", *job.sweep_words])
    return JobFacts(name, started, 0.0, user_name(), sweep, job.experiment, job.store, command)


def _reason_of(error: BaseException) -> str:
    """Return what went wrong; the traceback of a bug is printed."""
    if isinstance(error, SystemExit):  # would end a sweep without its table, perhaps with exit code 0
        return (
            f"a component ended the program with exit code {message(str(error.code))}; let it raise an error "
            "instead."
        )
    if (reason := explain_error(error)) is not None:
        return message(reason)
    print_traceback(error)
    return f"{type(error).__name__}: {said(error)} (a bug of recgauge or of a component of yours)"


def leave_failure(job: Job, started: float, reason: str, *, killed: bool = False) -> None:
    """Say in the job's folder that it has no results; where that fails, too, the table says so.

    A finished run that is there, and that the job was not to replace, stays.
    """
    if not job.typed.force and is_finished(job.folder):
        return
    facts: dict[str, Any] = {}
    with suppress(Exception):
        facts = environment_of(job.settings)
    with suppress(Exception):
        failure = Failure(
            job=_facts(job, started),
            error=without_secrets(reason),
            names=job.names,
            seed=job.typed.seed,
            command=_command(job),
            settings=job.settings,
            environment=facts,
            status="KILLED" if killed else "FAILED",
        )
        write_folder(failure, job.folder)


@dataclass(frozen=True)
class _Rows:
    """What decides the rows that a job trains on, and what makes them."""

    settings: str  # `Job.rows`
    has_lists: bool
    plan: DataPlan = field(compare=False)
    timings: Timings = field(compare=False)


@lru_cache(maxsize=1)
def _prepared(rows: _Rows) -> PreparedData:
    """Load, filter, split and guard the data, unless the last job of this process had the same rows."""
    _prepared.cache_clear()  # two data sets at a time may not fit
    return prepare(rows.plan, rows.timings)


def _rows_of(job: Job, experiment: Experiment, progress: Progress) -> tuple[PreparedData, dict[str, float]]:
    """Return the rows that a job trains on, with the seconds that preparing them has taken."""
    has_lists = bool(experiment.metrics_of("lists")) and isinstance(experiment.model, Recommender)
    # the model is not kept with the rows: a fitted one may be large
    plan: DataPlan = replace(experiment, model=Popularity())
    if not has_lists:
        plan = DataPlan(**{each.name: getattr(experiment, each.name) for each in fields(DataPlan)})
    timings = Timings(progress)
    return _prepared(_Rows(job.rows, has_lists, plan, timings)), timings.seconds


def _tuned(job: Job, experiment: Experiment, progress: Progress) -> tuple[Job, Experiment, str | None]:
    """Search the model's settings; return the job that trains and evaluates the chosen ones, and a note.

    A job of a sweep whose model has nothing to search runs as it is, for comparison, and learns from the
    same rows as the tuned ones.
    """
    left, fixed = searched(job.typed, job.words)
    if not left and job.sweep is not None:
        untuned = replace(job, typed=replace(job.typed, tune=None))
        return *_final(untuned, experiment), f"not tuned: {nothing_left(fixed)}."
    search = tune(job.typed, job.words, experiment, progress)
    return *_final(replace(job, search=search), experiment), None


def _final(job: Job, experiment: Experiment) -> tuple[Job, Experiment]:
    """Return the job of the final model: chosen settings, trained on training and validation rows."""
    typed, guards = replace(job.typed, fit_on="train_validation"), experiment.guards
    if job.search is not None:
        chosen = with_settings(typed.model, job.search.chosen.settings)
        guards = replace(guards, selected_on=guards.selected_on or "validation")
        named = replace(typed.guards, selected_on=guards.selected_on)
        typed = replace(typed, model=chosen, guards=named)
    model = build_model(typed.model, typed.allowed_targets)
    final = replace(experiment, model=model, fit_on="train_validation", guards=guards)
    return replace(job, typed=typed), final


def find_finished(job: Job, fingerprint: str) -> JobOutcome | None:
    """Return the outcome of a job that a run on this disk has done already; its folder is that run's.

    The run is unchanged, the same, and has all files that the job needs.
    """
    study, typed = job.study(), job.typed
    names = (RECORD, *(() if study is None else study.artifacts))
    try:
        folder = Path(_entry(job, fingerprint).read_text(encoding="utf-8"))
        sums, record = read_checksums(folder / CHECKSUMS), FinishedRun.read(folder).record
        unchanged = all(file_digest(folder / name) == sums.get(name) for name in names)
    except (OSError, ValueError):  # nothing there, of another version of recgauge, no file
        return None
    has = record.settings
    fits = (
        unchanged
        and record.fingerprint() == fingerprint
        and ((has.get("artifacts") or {}).get("lists", True) is True or not typed.artifacts.lists)
        and (has.get("figures") or not typed.figures)
        and (stores_model(has) or not stores_model(typed))
        and (registers_model(has) or not registers_model(job.settings))
        and (record.search is None if job.search is None else job.search.same(record.search))
    )
    return replace(job.outcome, status="reused", folder=folder, record=record) if fits else None


def _entry(job: Job, fingerprint: str) -> Path:
    """Return the file that names the folder of a run; one whose settings a search chose is another run."""
    return job.index / "-".join([fingerprint, *([job.search.sha256] if job.search else [])])


@contextmanager
def _output_of_worker(job: Job) -> Iterator[int]:
    """Let all that this process and its libraries print go to a file, to nowhere if there can be none.

    Or let it go to the terminal, which is as before afterwards, also if a component has closed it. Yields the
    terminal's standard error.
    """
    with private_output(job.words), ExitStack() as files:
        outputs = {number: os.dup(number) for number in (1, 2)}
        if job.output == "log":
            file = files.enter_context(_log_file(job.folder).open("ab"))
            for number in outputs:
                os.dup2(file.fileno(), number)
        try:
            yield outputs[2]
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):
                    stream.flush()
            for number, copy in outputs.items():
                os.dup2(copy, number)
                os.close(copy)


def _log_file(folder: Path) -> Path:
    path = folder / LOG
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    there = folder.is_dir() and os.access(folder, os.W_OK) and not path.is_dir()
    return path if there else Path(os.devnull)
