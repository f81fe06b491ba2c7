"""``--plan``: the jobs of a command, what becomes of each and what they will take, before anything is run."""

from collections.abc import Mapping, Sequence

from omegaconf import DictConfig
from rich.table import Table

from recgauge.app.compose import build_dataset
from recgauge.app.job import Job
from recgauge.app.places import experiment_folder
from recgauge.app.sweep.begin import grid_jobs, study_and_tracker
from recgauge.app.sweep.estimates import (
    Estimate,
    earlier_runs,
    estimates,
    finished_runs,
    in_words,
    together,
)
from recgauge.app.sweep.launcher import grouped
from recgauge.app.sweep.outcome import short_labels
from recgauge.app.sweep.planned import (
    PlannedJob,
    as_key,
    planned_job,
    planned_jobs,
    set_fingerprints,
    tell_problems,
)
from recgauge.app.terminal.messages import print_error, print_note
from recgauge.app.terminal.printing import output, print_table
from recgauge.app.tracking.stored_runs import StoredRun
from recgauge.errors import ConfigError, DataError, MissingDataError
from recgauge.utils.checks import check_int
from recgauge.utils.memory import free_memory, in_units
from recgauge.utils.progress import NoProgress

_LISTED = 8  # numbers of jobs in a line


def show_plan(config: DictConfig, *, sweep: bool) -> bool:
    """Print what a command would do; nothing is run, tracked, downloaded or written.

    Parameters
    ----------
    config : DictConfig
        Composed, with Hydra's own part; Hydra must be initialized.
    sweep : bool
        Whether the command runs several jobs.

    Returns
    -------
    bool
        Whether all jobs can run, as far as that is known without work.

    Raises
    ------
    RecgaugeError
        If nothing can run.
    """
    n_workers = check_int("jobs", config.jobs, minimum=1) if sweep else 1
    jobs = planned_jobs(config, grid_jobs(config)) if sweep else [planned_job(config, None)]
    if not jobs:
        raise ConfigError("--plan: the sweeper of this command chooses its jobs as it goes on.")
    n_workers = min(n_workers, len(jobs))
    study, tracker = study_and_tracker(config)
    tell_problems(jobs, print_error)
    tracker.check(write=False)
    if study is not None:
        study.check(experiment_folder(study.name))
    fetched = _look_for_data(jobs)
    set_fingerprints(job for job in jobs if job.number not in fetched)
    earlier = earlier_runs(jobs, all_of_them=True)
    reusing = [job for job in jobs if job.waits and job.job is not None and job.job.may_reuse]
    stored = finished_runs(jobs, earlier)
    reused = {job.number: stored[job.number] for job in reusing if job.number in stored}
    _print(jobs, fetched, reused, estimates(jobs, earlier), n_workers)
    if again := len(stored) - len(reused):
        output().print(f"stored   finished runs of {again} of the jobs; reuse=true takes them")
    return all(job.waits for job in jobs)


def _look_for_data(jobs: Sequence[PlannedJob]) -> set[int]:
    """Give jobs the reason why they have no data; return those whose data would be downloaded."""
    found: dict[str, tuple[str | None, bool]] = {}
    fetched = set()
    for one in jobs:
        if one.job is None or one.experiment is None:
            continue
        key = as_key(one.job.typed.dataset)
        if key not in found:
            found[key] = _data_of(one.job)
        one.no_data, may_be_fetched = found[key]
        if may_be_fetched:
            fetched.add(one.number)
    return fetched


def _data_of(job: Job) -> tuple[str | None, bool]:
    """Return why a job has no data, None if it has; and whether they would be downloaded."""
    node = job.typed.dataset
    local = {**node, "offline": True} if "offline" in node else node
    try:
        build_dataset(local, job.typed.allowed_targets).find(NoProgress())
    except MissingDataError as error:
        if local != node:
            return None, True
        print_note(f"the jobs on this data set are left out. {error}")
        return str(error), False
    except DataError as error:
        print_error(str(error))
        return str(error), False
    return None, False


def _print(
    jobs: Sequence[PlannedJob],
    fetched: set[int],
    reused: Mapping[int, Sequence[StoredRun]],
    needs: Sequence[Estimate],
    n_workers: int,
) -> None:
    console = output()
    table = Table("job", "settings", "plan", "time", "memory")
    for name in (0, 3, 4):
        table.columns[name].justify = "right"
    labels = short_labels([job.label for job in jobs])
    for job, label, need in zip(jobs, labels, needs, strict=True):
        runs = job.waits and job.number not in reused
        time = "" if need.seconds is None or not runs else in_words(need.seconds)
        memory = "" if need.peak_bytes is None or not runs else in_units(need.peak_bytes)
        table.add_row(str(job.number), label or "as configured", _becomes(job, fetched, reused), time, memory)
    print_table(console, table)
    console.print()
    for line in _lines(jobs, reused, needs, n_workers):
        console.print(line)


def _becomes(job: PlannedJob, fetched: set[int], reused: Mapping[int, Sequence[StoredRun]]) -> str:
    """Return what becomes of a job, in a few words."""
    if job.problem is not None:
        return "cannot run"
    if job.no_data is not None:
        return "left out: no data"
    if job.experiment is None and job.job is not None:
        return "conclude the study"
    if job.number in reused:
        return f"reuse run {reused[job.number][0].run_id}"
    return "download data, run" if job.number in fetched else "run"


def _lines(
    jobs: Sequence[PlannedJob],
    reused: Mapping[int, Sequence[StoredRun]],
    needs: Sequence[Estimate],
    n_workers: int,
) -> list[str]:
    """Return the sums below the table."""
    running = [job for job in jobs if job.waits and job.number not in reused]
    wrong = sum(job.problem is not None for job in jobs)
    left_out = sum(job.no_data is not None for job in jobs)
    counts = [f"{len(running)} to run", f"{len(reused)} reused", f"{left_out} left out"]
    lines = [f"{len(jobs)} job{'s' * (len(jobs) > 1)}: {', '.join(counts)}, {wrong} cannot run"]
    lines += [_time([needs[place].seconds for place in _places(jobs, running)], n_workers)] if running else []
    lines += _shared(running)
    lines += _memory(running, [needs[place].peak_bytes for place in _places(jobs, running)], n_workers)
    return lines


def _places(jobs: Sequence[PlannedJob], some: Sequence[PlannedJob]) -> list[int]:
    numbers = {job.number for job in some}
    return [place for place, job in enumerate(jobs) if job.number in numbers]


def _time(seconds: Sequence[float | None], n_workers: int) -> str:
    known = [one for one in seconds if one is not None]
    if not known:
        return "time     not known: no run of these models and data sets has finished"
    mean = sum(known) / len(known)
    total = [mean if one is None else one for one in seconds]
    unknown = len(seconds) - len(known)
    about = f"time     about {in_words(sum(total))}"
    if n_workers > 1:
        about += f", with jobs={n_workers} about {in_words(together(total, n_workers))}"
    some = f"; {unknown} without one count as the mean of the others" if unknown else ""
    return f"{about} (median of earlier runs of the same model and data{some})"


def _shared(running: Sequence[PlannedJob]) -> list[str]:
    """Return which jobs load, filter and split the same rows, which is done once for them."""
    order = [running[place] for place in grouped([job.key for job in running])]
    groups: dict[str, list[int]] = {}
    for job in order:
        groups.setdefault(job.key, []).append(job.number)
    several = [numbers for numbers in groups.values() if len(numbers) > 1]
    texts = [
        ", ".join(map(str, numbers[:_LISTED]))
        + (f" and {len(numbers) - _LISTED} more" if len(numbers) > _LISTED else "")
        for numbers in several[:_LISTED]
    ]
    more = [f"{len(several) - _LISTED} more groups"] if len(several) > _LISTED else []
    return [f"sharing  data and split: jobs {'; '.join([*texts, *more])}"] if several else []


def _memory(running: Sequence[PlannedJob], peaks: Sequence[int | None], n_workers: int) -> list[str]:
    known, free = sorted(one for one in peaks if one is not None), free_memory()
    if not running or not known or free is None:
        return []
    most = sum(known[-n_workers:])
    beside = f" for {n_workers} at a time" if n_workers > 1 else ""
    told = f"memory   up to about {in_units(most)}{beside}; {in_units(free)} can be had"
    if known[-1] > free:
        return [f"{told}: the largest job may run out of memory"]
    return [f"{told}: jobs will wait for each other"] if most > free else [told]
