"""What the jobs of a sweep will take: time and memory, from finished runs and from jobs that have ended."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import monotonic
from typing import TYPE_CHECKING

from recgauge.app.sweep.planned import PlannedJob
from recgauge.app.tracking.stored_runs import StoredRun

if TYPE_CHECKING:
    from recgauge.app.tracking.tracker import Tracker

Earlier = Mapping["Tracker", Sequence[StoredRun]]
"""The finished runs of each store, newest first."""
LEAST_BYTES = 1 << 30
"""What a job is thought to need at least; less than that would be a small part of any machine."""
_LATEST = 5  # runs that count: older ones may be of another machine or version
_ENOUGH = 1000  # runs to find those among
_AS_LONG = 0.9  # of the longest job's time: as good as the longest
_BYTES_PER_ROW = 200  # of a data set of which only the size is known; models come on top


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a job may need.

    Parameters
    ----------
    seconds : float or None
        None: no run of this model and data set has finished.
    peak_bytes : int or None
        What its process may hold at most; None: not known.
    """

    seconds: float | None = None
    peak_bytes: int | None = None


def earlier_runs(jobs: Iterable[PlannedJob], *, all_of_them: bool) -> Earlier:
    """Return the finished runs of the stores that jobs use: one search each.

    Parameters
    ----------
    jobs : iterable of PlannedJob
    all_of_them : bool
        Otherwise as many of the newest as estimates need.

    Raises
    ------
    TrackingError
        If a store cannot be searched.
    """
    stores = dict.fromkeys(one.job.tracker for one in jobs if one.job is not None and one.job.tracker.uri)
    return {store: store.finished(None if all_of_them else _ENOUGH) for store in stores}


def finished_runs(jobs: Iterable[PlannedJob], earlier: Earlier) -> dict[int, list[StoredRun]]:
    """Return the finished runs that jobs would repeat, newest first, by the jobs' numbers."""
    stores: dict[Tracker, dict[str, list[StoredRun]]] = {}
    for store, runs in earlier.items():
        by_fingerprint = stores[store] = {}
        for run in runs:
            by_fingerprint.setdefault(run.tags.get("recgauge.fingerprint", ""), []).append(run)
    return {
        one.number: runs
        for one in jobs
        if one.job is not None and one.fingerprint
        if (runs := stores.get(one.job.tracker, {}).get(one.fingerprint, []))
    }


def estimates(jobs: Iterable[PlannedJob], earlier: Earlier) -> list[Estimate]:
    """Return what each job may need: as much as the latest runs of the same model and data set."""
    alike: dict[tuple[str, str], list[StoredRun]] = {}
    for run in (run for runs in earlier.values() for run in runs):
        some = alike.setdefault((run.names.get("model", ""), run.names.get("dataset", "")), [])
        if run.seconds and len(some) < _LATEST:
            some.append(run)
    return [_estimate(one, alike) for one in jobs]


def _estimate(one: PlannedJob, alike: Mapping[tuple[str, str], Sequence[StoredRun]]) -> Estimate:
    if one.job is None or one.experiment is None:
        return Estimate()
    runs = alike.get((one.job.names["model"], one.job.names["dataset"]), ())
    if one.job.typed.tune is not None:  # a search is not part of its final run
        runs = ()
    peaks = [int(text) for run in runs if (text := run.tags.get("recgauge.peak_bytes", "")).isdigit()]
    if not peaks:
        node = one.job.settings["dataset"]
        rows = type(one.experiment.dataset).about(node.get("name") if isinstance(node, dict) else None).n_rows
        peaks = [] if rows is None else [LEAST_BYTES + rows * _BYTES_PER_ROW]
    seconds = median(run.seconds for run in runs) if runs else None
    return Estimate(seconds, max(peaks) if peaks else None)


def in_words(seconds: float) -> str:
    """Return a time for people.

    Examples
    --------
    >>> [in_words(seconds) for seconds in (0.4, 42, 100, 600, 8000, 200_000)]
    ['1 s', '42 s', '1 min 40 s', '10 min 0 s', '2 h 13 min', '2 days 7 h']
    """
    whole = max(1, round(seconds))
    if whole >= 48 * 3600:
        return f"{whole // 86400} days {whole % 86400 // 3600} h"
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"


def together(seconds: Sequence[float], n_workers: int) -> float:
    """Return how long jobs take side by side, each given to the first worker that is free.

    Examples
    --------
    >>> together([3, 1, 2], 2), together([3, 1, 2], 1)
    (3.0, 6.0)
    """
    busy = [0.0] * max(1, n_workers)
    for one in seconds:
        busy[busy.index(min(busy))] += one
    return max(busy)


@dataclass
class Forecast:
    """How long a sweep will still take.

    Parameters
    ----------
    seconds : sequence of float or None
        What is expected of each job that will run; None where nothing is known.
    n_workers : int
    kinds : sequence of str, optional
        Equal for jobs that should take equally long.
    """

    seconds: Sequence[float | None]
    n_workers: int = 1
    kinds: Sequence[str] = ()
    _begun: dict[int, float] = field(default_factory=dict)
    _ended: dict[int, float] = field(default_factory=dict)

    def begin(self, job: int) -> None:
        """Take note that a job begins, again if it had begun."""
        self._begun[job] = monotonic()

    def put_off(self, job: int) -> None:
        """Take note that a job is tried again later."""
        self._begun.pop(job, None)

    def end(self, job: int) -> None:
        """Take note that a job has ended."""
        self._ended[job] = monotonic() - self._begun.pop(job, monotonic())

    @property
    def running(self) -> int:
        """How many jobs are under way."""
        return len(self._begun)

    def left(self) -> float | None:
        """Return the seconds that are left, None as long as nothing is known of them."""
        running, waiting = self._to_go()
        return together([*running, *waiting.values()], self.n_workers) if running or waiting else None

    def urgent(self) -> set[int]:
        """Return the longest of the waiting jobs if one of them, begun later, might end after all others.

        While shorter jobs are left to fill the time beside it, a long one can still wait; empty then, and as
        long as nothing is known.
        """
        running, waiting = self._to_go()
        longest = max(waiting.values(), default=0.0)
        if longest * (self.n_workers + 1) < sum(running) + sum(waiting.values()):
            return set()
        return {job for job, seconds in waiting.items() if seconds > _AS_LONG * longest}

    def _to_go(self) -> tuple[list[float], dict[int, float]]:
        """Return the seconds of running jobs, and of each waiting one; nothing if nothing is known.

        Earlier runs are right about the proportions between jobs; how fast this machine is now, jobs that
        have ended say. A job that no earlier run resembles takes as long as one of its kind in this sweep.
        """
        known = [(self.seconds[job], took) for job, took in self._ended.items()]
        expected = sum(one for one, _ in known if one)
        factor = sum(took for one, took in known if one) / expected if expected else 1.0
        typical = [took for _, took in known] or [one for one in self.seconds if one]
        if not typical:
            return [], {}
        mean, now = sum(typical) / len(typical), monotonic()
        so_far = {job: now - begun for job, begun in self._begun.items()}
        of_kind: dict[str, float] = {}
        for job, least in so_far.items():
            of_kind[self._kind(job)] = max(mean, least)
        of_kind |= {self._kind(job): took for job, took in self._ended.items()}
        running, waiting = [], {}
        for job, seconds in enumerate(self.seconds):
            if job not in self._ended:
                needs = of_kind.get(self._kind(job), mean) if seconds is None else seconds * factor
                if job in self._begun:
                    running.append(max(0.0, needs - so_far[job]))
                else:
                    waiting[job] = needs
        return running, waiting

    def _kind(self, job: int) -> str:
        return self.kinds[job] if self.kinds else str(job)
