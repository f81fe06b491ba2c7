"""``plan=true``: the jobs of a command and what becomes of each, before anything is run."""

from collections import Counter
from statistics import median

from rich.table import Table

from recgauge.errors import TrackingError
from recgauge.report.console import output, print_table
from recgauge.runs.outcome import JobOutcome
from recgauge.sweeps.jobs import Job, labels_of
from recgauge.sweeps.sweep import Sweep, check, look_for_data, reuse, set_fingerprints
from recgauge.sweeps.watching import in_words
from recgauge.tracking import RunStore
from recgauge.utils.memory import in_units

_LATEST = 500  # runs of the store that estimates are made from


def show_plan(sweep: Sweep) -> bool:
    """Print what a command would do, and do nothing; return whether all jobs can run, as far as is known."""
    check(sweep)
    look_for_data(sweep, fetch_them=False)
    set_fingerprints(sweep)
    reuse(sweep, copy=False)
    earlier, to_run, outcomes = _earlier(sweep), {job.number: job for job in sweep.waiting}, sweep.every
    table = Table("job", "settings", "plan", "time", "memory")
    for column in (0, 3, 4):
        table.columns[column].justify = "right"
    seconds = []
    for outcome, label in zip(outcomes, labels_of(outcomes), strict=True):
        key = outcome.names.get("model", ""), outcome.names.get("dataset", "")
        time, memory = earlier.get(key, (None, None)) if outcome.number in to_run else (None, None)
        seconds += [] if time is None else [time]
        shown = ("" if time is None else in_words(time), "" if memory is None else in_units(memory))
        becomes = _becomes(outcome, to_run.get(outcome.number), sweep)
        table.add_row(str(outcome.number), label or "as configured", becomes, *shown)
    console = output()
    print_table(console, table)
    counts = Counter(outcome.status for outcome in sweep.outcomes.values())
    console.print(
        f"\n{len(outcomes)} job{'s' * (len(outcomes) > 1)}: {len(to_run)} to run, {counts['reused']} reused, "
        f"{counts['no data']} left out, {counts['failed']} cannot run"
    )
    if seconds:
        about = in_words(sum(seconds) / len(seconds) * len(to_run))
        why = "median of earlier runs of the same model and data set"
        console.print(f"time     about {about} one after the other: {why}")
    elif to_run:
        console.print("time     not known: no run of these models and data sets has finished")
    return not counts["failed"] and not counts["no data"]


def _becomes(outcome: JobOutcome, job: Job | None, sweep: Sweep) -> str:
    """Return what becomes of a job, in a few words; `job` is None of those that will not run."""
    if job is None:
        reused = f"reuse run {outcome.run_id}" if outcome.run_id else "reuse"
        return {"failed": "cannot run", "no data": "left out: no data"}.get(outcome.status, reused)
    if job.dataset is None:
        return "conclude the study"
    return "download data, run" if job.number in sweep.fetched else "run"


def _earlier(sweep: Sweep) -> dict[tuple[str, str], tuple[float, int | None]]:
    """Return seconds and bytes that the latest runs of each model and data set in the store have taken."""
    if sweep.store is None:
        return {}
    taken: dict[tuple[str, str], list[tuple[float, str]]] = {}
    try:
        store = RunStore(sweep.store.uri)
        runs = (
            store.runs(sweep.store.experiment, "attributes.status = 'FINISHED'")[:_LATEST]
            if store.exists
            else []
        )
    except TrackingError:
        return {}
    for run in runs:
        key = (run.params.get("model", ""), run.params.get("dataset", ""))
        taken.setdefault(key, []).append((run.seconds, run.tags.get("recgauge.peak_bytes", "")))
    return {
        key: (
            median(time for time, _ in some),
            max((int(size) for _, size in some if size.isdigit()), default=None),
        )
        for key, some in taken.items()
    }
