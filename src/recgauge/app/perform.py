"""The work of one job: reuse a finished run, or compute, write, track and print a new one."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from typing import Any

from recgauge.app.compose import build_model, build_tracker, compose, guard_settings
from recgauge.app.files.artifacts import finish, unfinished, write_run
from recgauge.app.job import Job
from recgauge.app.names import run_again, run_name
from recgauge.app.sweep.begin import known_missing
from recgauge.app.sweep.end import conclude_study
from recgauge.app.sweep.outcome import read_plan, short_labels
from recgauge.app.sweep.put_off import puts_off
from recgauge.app.sweep.shared import prepared
from recgauge.app.terminal.messages import print_error
from recgauge.app.terminal.printing import ConsoleProgress, print_job_line, print_run
from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking import untracked
from recgauge.app.tracking.claims import ASKED, CLAIM_TAG, FINGERPRINT_TAG, PASSED_TAG, ElsewhereError
from recgauge.app.tracking.delivering import deliver_waiting
from recgauge.app.tracking.environment import environment_of, fingerprint_of
from recgauge.app.tracking.page import run_start
from recgauge.app.tracking.servers import pauses
from recgauge.app.tracking.tracker import DELIVERY_TAG, RunStart, Tracker, experiment_tag, find_finished
from recgauge.app.tracking.waiting import await_others
from recgauge.app.tune import fixed_settings, given_by, nothing_to_search, plan, tune
from recgauge.errors import TrackingError
from recgauge.experiment import Experiment, run_experiment
from recgauge.models.isolated import Isolated
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.record import RunRecord
from recgauge.search.space import with_settings

LIBRARY_LOG = "library.log"
"""What a library in an environment of its own has printed; in the output folder."""


def perform(job: Job, outcome: JobOutcome) -> JobOutcome:
    """Conclude a study without runs, reuse a finished run, or make a new one.

    Parameters
    ----------
    job : Job
    outcome : JobOutcome
        What is known of the job so far.

    Returns
    -------
    JobOutcome
        How the job ended.
    """
    if job.study is not None and not job.study.needs_runs:
        conclude_study(job.study, [], tracker=job.tracker, words=job.words, folder=job.folder)
        return outcome
    experiment = compose(job.typed, leave_out=job.leaves_out)
    names = job.names | {"dataset": experiment.dataset.label or job.names["dataset"]}
    job, outcome = replace(job, names=names), replace(outcome, names=names)
    if job.sweep is None:
        deliver_waiting(job.tracker, ConsoleProgress())
        return _reuse_or_make(job, experiment, outcome)  # an address that does not work ends the job
    if (reason := known_missing(job.sweep, job.settings["dataset"])) is not None:
        return replace(outcome, status="no data", reason=reason)
    try:
        pauses.check(job.tracker.uri)
        job.tracker.check_there()
        return _reuse_or_make(job, experiment, outcome)
    except TrackingError as error:  # the store worked when the sweep began: compute without it
        made = _reuse_or_make(replace(job, tracker=Tracker()), experiment, outcome)
        return _not_tracked(job, made, error)


def _reuse_or_make(job: Job, experiment: Experiment, outcome: JobOutcome) -> JobOutcome:
    """Reuse a finished run, else claim the job and make one; wait, or put the job off, if others are at it.

    Without reuse=true the user wants a repetition, which nobody else can do for this process.
    """
    if job.typed.tune is not None:
        job, experiment, reason = _tuned(job, experiment)
        outcome = replace(outcome, reason=reason)
    if not job.may_reuse:
        return _make(job, experiment, outcome)
    # a sweep has fetched its data, and reported on them, before its first job
    progress = ConsoleProgress()
    wanted = fingerprint_of(job.settings, experiment.dataset.digest(progress if job.sweep is None else None))
    passed_over: set[str] = set()
    while True:
        if reused := reuse(job, outcome, wanted, passed_over=passed_over):
            untracked.done_by(reused.run_id, wanted, job.folder, progress)
            return reused
        tags = {CLAIM_TAG: ASKED, FINGERPRINT_TAG: wanted, PASSED_TAG: " ".join(sorted(passed_over))}
        try:
            return _make(job, experiment, outcome, {name: text for name, text in tags.items() if text})
        except ElsewhereError as other:
            if other.finished:
                continue
            if puts_off():
                return replace(outcome, status="waiting", reason=f"{other}.", run_id=other.run_id)
            await_others(job.tracker, {other.run_id: f"{outcome.label or 'this job'}: {other}"}, progress)


def _tuned(job: Job, experiment: Experiment) -> tuple[Job, Experiment, str | None]:
    """Search the model's settings; return the job that trains and evaluates the chosen ones, and a note.

    A job of a sweep whose model has nothing to search runs as it is, for comparison, and learns from the
    same rows as the tuned ones.
    """
    progress, fixed = ConsoleProgress(), fixed_settings(job.words)
    reason = nothing_to_search(job.typed, fixed)
    if reason and job.sweep is not None:
        return *_final(replace(job, typed=replace(job.typed, tune=None)), experiment), f"not tuned: {reason}."
    planned = plan(job.typed, fixed, experiment)
    if given := given_by(fixed, job.typed):
        progress.note(f"not searched, since the command line gives it: {', '.join(given)}.")
    with progress.stage("look for the data"):
        experiment.dataset.find(progress)
    job.tracker.prepare()  # a store that does not work should not wait for the end of the search
    facts = tune(job.typed, planned, progress)
    try:
        job.tracker.store_search(job.names, facts)
    except TrackingError as error:  # the record has the trials, and a run that is tracked later stores them
        progress.note(f"the trials are not stored: {error}")
    return *_final(replace(job, search=facts), experiment), None


def _final(job: Job, experiment: Experiment) -> tuple[Job, Experiment]:
    """Return the job of the final model: chosen settings, trained on training and validation rows."""
    typed, guards = replace(job.typed, fit_on="train_validation"), job.typed.guards
    if job.search is not None:
        chosen = with_settings(job.typed.model, job.search.chosen.settings)
        guards = replace(guards, selected_on=guards.selected_on or "validation")
        typed = replace(typed, model=chosen, guards=guards)
    settings = without_secrets(asdict(typed))
    model = build_model(typed.model, typed.allowed_targets)
    final = replace(experiment, model=model, fit_on="train_validation", guards=guard_settings(typed))
    return replace(job, typed=typed, settings=settings), final


def reuse(
    job: Job,
    outcome: JobOutcome,
    wanted: str,
    run_ids: Sequence[str] | None = None,
    passed_over: set[str] | None = None,
) -> JobOutcome | None:
    """Reuse a finished run for the job if there is one; the data are not loaded.

    Parameters
    ----------
    job : Job
    outcome : JobOutcome
        What is known of the job so far.
    wanted : str
        Fingerprint of the run.
    run_ids : sequence of str, optional
        Those with this fingerprint, if they have been looked for.
    passed_over : set of str, optional
        Runs that are not looked at again; those that cannot be reused are added.
    """
    progress, passed_over = ConsoleProgress(), set() if passed_over is None else passed_over
    with progress.stage("look for a finished run"):
        found_ids = job.tracker.find(wanted) if run_ids is None else run_ids
        run_ids = [run_id for run_id in found_ids if run_id not in passed_over]
        found = find_finished(
            job.settings,
            wanted,
            run_ids,
            tracker=job.tracker,
            artifacts=() if job.study is None else job.study.artifacts,
            folder=job.folder,
            progress=progress,
        )
    passed_over.update(run_ids if found is None else run_ids[: run_ids.index(found[0])])
    if found is None:
        return None
    run_id, record = found
    if job.search is not None and not job.search.same(record.search):
        passed_over.add(run_id)
        progress.note(f"run {run_id} is the same but was not chosen by this search, so it is repeated.")
        return None
    if job.grid is not None:
        job.tracker.mark(run_id, experiment_tag(job.grid))
    outcome = replace(outcome, status="reused", run_id=run_id)
    _print(job, record, outcome, None if job.sweep is not None else job.tracker.run_address(run_id))
    return outcome


def _make(
    job: Job, experiment: Experiment, outcome: JobOutcome, claim: Mapping[str, str] | None = None
) -> JobOutcome:
    """Do the work of a job: complete files first, then the store, whose failure costs no result.

    Raises
    ------
    TrackingError
        If the store fails before there is a result.
    ElsewhereError
        If the tags of `claim` are given and the job is another process's.
    """
    start, facts = _start(job, experiment, claim or {})
    progress = ConsoleProgress()
    with progress.stage("look for the data"):
        experiment.dataset.find(progress)  # missing data leave no failed run in the store
        experiment.splitter.find()
    written = failure = address = owed = None
    try:
        with ExitStack() as held:  # until the run is in the store, or was refused
            with job.tracker.start(start) as log:
                ready, seconds = prepared(experiment, progress)
                log.check()
                result = run_experiment(experiment, progress, ready)
                result = replace(result, seconds={**seconds, **result.seconds})
                begun = RunRecord.from_result(
                    result,
                    names=job.names,
                    seed=job.typed.seed,
                    command=start.tags["recgauge.command"],
                    settings=job.settings,
                    environment=facts,
                )
                begun = replace(begun, search=job.search)
                with unfinished(job.folder) as folder:
                    written = write_run(result, begun, job.typed, folder, progress)
                    files = finish(written.files, folder, job.folder)
                owed = _owed(start, job, held)
                outcome = replace(outcome, tracking_seconds=log.finish(written.record, files))
            if owed is not None and log.run_id is not None:
                owed.forget()
                pauses.worked(job.tracker.uri)
        outcome = replace(outcome, run_id=log.run_id)
    except TrackingError as error:
        if written is None:
            raise
        if owed is not None and (job.sweep is None or not owed.note.exists()):
            run_id = untracked.stored_all_the_same(owed, written.record.fingerprint(), job.tracker, progress)
            outcome = replace(outcome, run_id=run_id)
        failure = error if outcome.run_id is None else None
    if outcome.run_id is not None and job.sweep is None:
        with suppress(TrackingError):
            address = job.tracker.run_address(outcome.run_id)
    _print(job, written.record, outcome, address, written.said)
    if written.unsaved is not None:
        print_error(f"the run is complete, but its model is not saved: {written.unsaved}")
        outcome = replace(outcome, status="not saved", reason=written.unsaved)
    return outcome if failure is None else _not_tracked(job, outcome, failure)


def _start(job: Job, experiment: Experiment, claim: Mapping[str, str]) -> tuple[RunStart, dict[str, Any]]:
    """Return name, params and tags of the run, and what its numbers may depend on beyond its settings."""
    command = run_again(job.words, sweeping=job.sweep is not None)
    facts = environment_of(job.settings)
    if isinstance(experiment.model, Isolated):
        experiment.model.set_log(job.folder / LIBRARY_LOG)
    tags = {DELIVERY_TAG: job.delivery, **claim}
    tags |= {} if job.sweep is None else {"recgauge.sweep": job.sweep.as_posix()}
    if job.grid is not None:
        tags[experiment_tag(job.grid)] = "true"
    name = run_name(job.words, job.names, job.settings)
    start = run_start(name, job.settings, job.names, command=command, environment=facts, extra=tags)
    return start, facts


def _owed(start: RunStart, job: Job, held: ExitStack) -> untracked.Untracked | None:
    """Note that the run, which is complete on disk, is not in the store that its settings name."""
    store = build_tracker(job.typed.tracking)
    if not store.uri:
        return None
    try:
        return held.enter_context(untracked.owing(start, store, job.folder))
    except OSError as error:
        print_error(f"if the store fails now, `recgauge sync` will not know of {job.folder}: {error}.")
        return None


def _not_tracked(job: Job, outcome: JobOutcome, error: TrackingError) -> JobOutcome:
    """Report that the store lacks the results, and name the folder that has all of them."""
    pauses.failed(job.tracker.uri, error)
    untracked.tell_untracked(error, job.folder, of_sweep=job.sweep is not None)
    return replace(outcome, status="not tracked", reason=str(error), run_id=None)


def _print(
    job: Job, record: RunRecord, outcome: JobOutcome, address: str | None, said: Sequence[str] = ()
) -> None:
    """Print a run's table and where to find everything, or the line of a job of a sweep."""
    if job.sweep is not None:
        labels = short_labels(read_plan(job.sweep).jobs)
        known = outcome.number < len(labels)  # other sweepers than Hydra's own choose jobs as they go on
        print_job_line(record, outcome, labels[outcome.number] if known else outcome.label, len(labels))
        return
    if outcome.tracking_seconds is not None:
        record = replace(record, seconds=record.seconds | {"tracking": outcome.tracking_seconds})
    server = job.tracker.server
    print_run(record, outcome, address=address, server=server, folder=job.folder, said=said)
