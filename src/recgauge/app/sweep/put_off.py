"""Jobs of a sweep that other processes are at: put off, and tried again when those have ended."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from recgauge.app.sweep.outcome import FILE, read_outcome
from recgauge.app.tracking.tracker import Tracker
from recgauge.app.tracking.waiting import Waiting, told

_putting_off: ContextVar[bool] = ContextVar("putting_off", default=False)


@contextmanager
def putting_off(tried_again: bool) -> Iterator[None]:
    """Let jobs end as "waiting", if they are tried again, where they would wait for another process."""
    token = _putting_off.set(tried_again)
    try:
        yield
    finally:
        _putting_off.reset(token)


def puts_off() -> bool:
    """Whether a job may end as "waiting"."""
    return _putting_off.get()


class PutOff:
    """The jobs of a sweep that wait for other processes.

    Parameters
    ----------
    folders : sequence of Path
        Of all jobs; a job is known by its place among them.
    tracker_of : callable
        Returns the tracker of the job at a place.
    say : callable
        Told in one line what the user should know.
    taken : callable
        Told the place of each job that is put off.
    """

    def __init__(
        self,
        folders: Sequence[Path] = (),
        tracker_of: Callable[[int], Tracker] = lambda _place: Tracker(),
        say: Callable[[str], None] = lambda _line: None,
        taken: Callable[[int], None] = lambda _job: None,
    ) -> None:
        self._folders, self._tracker_of, self._say, self._taken = folders, tracker_of, say, taken
        self._jobs: dict[int, tuple[str, str, Tracker]] = {}
        self._waiting: dict[Tracker, Waiting] = {}
        self._told: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def takes(self, job: int) -> bool:
        """Take a job that has ended, if it ended as "waiting"; return whether it did."""
        outcome = read_outcome(self._folders[job] / FILE) if job < len(self._folders) else None
        if outcome is None or outcome.status != "waiting" or outcome.run_id is None:
            return False
        tracker = self._tracker_of(job)
        self._jobs[job] = outcome.run_id, f"{outcome.label}: {outcome.reason}", tracker
        self._waiting.setdefault(tracker, Waiting(tracker, self._say))
        self._taken(job)
        return True

    @property
    def pause(self) -> float:
        """Seconds until one should look again."""
        return min((waiting.pause for waiting in self._waiting.values()), default=2.0)

    def ready(self, *, idle: bool) -> list[int]:
        """Return the jobs that should be tried again by now, and forget them.

        Parameters
        ----------
        idle : bool
            Whether the sweep has nothing else to do; the user is told what it waits for.
        """
        found: list[int] = []
        for tracker, waiting in self._waiting.items():
            mine = {job: run_id for job, (run_id, _, of) in self._jobs.items() if of == tracker}
            ended = waiting.look(set(mine.values())) if mine else []
            found += [job for job, run_id in mine.items() if run_id in ended]
        for job in found:
            del self._jobs[job]
        if idle and not found and self._jobs:
            lines = told({run_id: text for run_id, text, _ in self._jobs.values()})
            if lines != self._told:
                self._told = lines
                for line in lines:
                    self._say(line)
        return sorted(found)

    def await_ready(self) -> list[int]:
        """Wait until there are jobs that should be tried again; return them, none if none is put off."""
        found: list[int] = []
        while self._jobs and not found:
            found = self.ready(idle=True)
            if not found:
                time.sleep(self.pause)
        return found
