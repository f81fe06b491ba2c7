"""``plan=true``: the jobs of a command and what becomes of each, before anything is run."""

from collections.abc import Mapping, Sequence
from statistics import median

from rich.table import Table

from recgauge.errors import TrackingError
from recgauge.report.console import output, print_table
from recgauge.runs.outcome import JobOutcome
from recgauge.sweeps.jobs import labels_of
from recgauge.sweeps.sweep import Planned, Sweep, check, look_for_data, reuse, set_fingerprints
from recgauge.sweeps.watching import in_words
from recgauge.tracking import RunStore
from recgauge.utils.memory import in_units

_BECOMES: Mapping[str, str] = {"failed": "cannot run", "no data": "left out: no data"}
_LATEST = 500  # runs of the store that estimates are made from


def show_plan(planned: Sequence[Planned], sweep: Sweep) -> bool:
    """Print what a command would do; nothing is run, tracked, downloaded or written."""
    check(planned, sweep)
    look_for_data(planned, fetch_them=False)
    set_fingerprints([one for one in planned if not one.fetched])
    reuse([one for one in planned if one.job is not None and one.job.may_reuse], sweep, copy=False)
    known = _earlier(sweep)
    table = Table("job", "settings", "plan", "time", "memory")
    for name in (0, 3, 4):
        table.columns[name].justify = "right"
    seconds = []
    outcomes = [one.outcome for one in planned]
    for one, label in zip(planned, labels_of(outcomes), strict=True):
        names = one.outcome.names
        time, memory = known.get((names.get("model", ""), names.get("dataset", "")), (None, None))
        if one.waits and time is not None:
            seconds.append(time)
        shown = ("" if time is None else in_words(time), "" if memory is None else in_units(memory))
        table.add_row(
            str(one.outcome.number),
            label or "as configured",
            _becomes(one),
            *(shown if one.waits else ("", "")),
        )
    console = output()
    print_table(console, table)
    n_run, n_reused = sum(one.waits for one in planned), _count(outcomes, "reused")
    n_left, n_wrong = _count(outcomes, "no data"), _count(outcomes, "failed")
    counts = f"{n_run} to run, {n_reused} reused, {n_left} left out, {n_wrong}"
    console.print(f"\n{len(planned)} job{'s' * (len(planned) > 1)}: {counts} cannot run")
    if n_run:
        about = (
            f"about {in_words(sum(seconds) / len(seconds) * n_run)} one after the other"
            if seconds
            else "not known"
        )
        why = (
            "median of earlier runs of the same model and data set"
            if seconds
            else "no run of these models and data sets has finished"
        )
        console.print(f"time     {about}: {why}")
    return not any(outcome.status in ("failed", "no data") for outcome in outcomes)


def _count(outcomes: Sequence[JobOutcome], status: str) -> int:
    return sum(outcome.status == status for outcome in outcomes)


def _becomes(one: Planned) -> str:
    """Return what becomes of a job, in a few words."""
    if one.outcome.status == "reused":
        return f"reuse {'' if one.outcome.run_id is None else f'run {one.outcome.run_id}'}".strip()
    if one.waits and one.experiment is None:
        return "conclude the study"
    return _BECOMES.get(one.outcome.status, "download data, run" if one.fetched else "run")


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
        key = (run.names.get("model", ""), run.names.get("dataset", ""))
        taken.setdefault(key, []).append((run.seconds, run.tags.get("recgauge.peak_bytes", "")))
    return {
        key: (
            median(time for time, _ in some),
            max((int(size) for _, size in some if size.isdigit()), default=None),
        )
        for key, some in taken.items()
    }
