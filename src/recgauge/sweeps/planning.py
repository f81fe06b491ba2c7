"""``plan=true``: the jobs of a command and what becomes of each, before anything is run."""

from collections import Counter

from recgauge.report.blocks import TableBlock
from recgauge.report.console import output, render_terminal
from recgauge.runs.outcome import JobOutcome
from recgauge.sweeps.jobs import Job, labels_of
from recgauge.sweeps.sweep import Sweep, check, look_for_data, reuse, set_fingerprints


def show_plan(sweep: Sweep) -> bool:
    """Print what a command would do, and do nothing; return whether all jobs can run, as far as is known."""
    check(sweep)
    look_for_data(sweep, fetch_them=False)
    set_fingerprints(sweep)
    reuse(sweep, copy=False)
    to_run, outcomes = {job.number: job for job in sweep.waiting}, sweep.every
    rows = tuple(
        (str(outcome.number), label or "as configured", _becomes(outcome, to_run.get(outcome.number), sweep))
        for outcome, label in zip(outcomes, labels_of(outcomes), strict=True)
    )
    console = output()
    render_terminal([TableBlock("", ("job", "settings", "plan"), rows, words=("settings", "plan"))], console)
    counts = Counter(outcome.status for outcome in sweep.outcomes.values())
    console.print(
        f"\n{len(outcomes)} job{'s' * (len(outcomes) > 1)}: {len(to_run)} to run, {counts['reused']} reused, "
        f"{counts['no data']} left out, {counts['failed']} cannot run"
    )
    return not counts["failed"] and not counts["no data"]


def _becomes(outcome: JobOutcome, job: Job | None, sweep: Sweep) -> str:
    """Return what becomes of a job, in a few words; `job` is None of those that will not run."""
    if job is None:
        reused = f"reuse run {outcome.run_id}" if outcome.run_id else "reuse"
        return {"failed": "cannot run", "no data": "left out: no data"}.get(outcome.status, reused)
    if job.dataset is None:
        return "conclude the study"
    return "download data, run" if job.number in sweep.fetched else "run"
