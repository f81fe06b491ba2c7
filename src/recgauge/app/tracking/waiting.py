"""Waits for runs of other processes, which do jobs that this one needs."""

import time
from collections.abc import Callable, Collection, Mapping

from recgauge.app.tracking.alive import LEASE, Watch, lease_of
from recgauge.app.tracking.tracker import Tracker
from recgauge.errors import TrackingError
from recgauge.utils.progress import Progress


class Waiting:
    """Looks again and again at runs of other processes until they have ended.

    Parameters
    ----------
    tracker : Tracker
    say : callable
        Told in one line what the user should know.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self, tracker: Tracker, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tracker, self._say, self._clock = tracker, say, clock
        self._watch = Watch(clock)
        self._failing_since: float | None = None
        self.pause = 2.0
        """Seconds until one should look again."""

    def look(self, run_ids: Collection[str]) -> list[str]:
        """Return those of the runs that have ended, well or not; end those of dead processes.

        If the store fails for a lease, none counts as being under way: the jobs themselves then say so.
        """
        try:
            ended = self._ended(run_ids)
        except TrackingError as error:
            self._watch.forget()
            if self._failing_since is None:
                self._failing_since = self._clock()
                self._say(f"still waiting, though the store fails: {error}")
            return list(run_ids) if self._clock() - self._failing_since > LEASE else []
        self._failing_since = None
        return ended

    def _ended(self, run_ids: Collection[str]) -> list[str]:
        running = {one.run_id: one for one in self._tracker.running()}
        ended = []
        for run_id in run_ids:
            one = running.get(run_id)
            if one is None:
                ended.append(run_id)
                continue
            self.pause = min(self.pause, lease_of(one.tags) / 10)
            reason = self._watch.why_dead(run_id, one.tags)
            if reason is not None and self._tracker.close(one, reason):
                self._say(f"marked as killed: run {run_id} ({one.name}): {reason}")
                ended.append(run_id)
        return ended


def await_others(tracker: Tracker, waited: Mapping[str, str], progress: Progress) -> list[str]:
    """Wait until one of the runs of other processes has ended, well or not; return all that have.

    Parameters
    ----------
    tracker : Tracker
    waited : mapping of str to str
        What is said of each run, by its id.
    progress : Progress
        Told what is waited for.
    """
    waiting = Waiting(tracker, progress.note)
    if ended := waiting.look(waited):
        return ended
    for line in told(waited):
        progress.note(line)
    with progress.stage("wait for other processes"):
        while not (ended := waiting.look(waited)):
            time.sleep(waiting.pause)
    return ended


def told(waited: Mapping[str, str], longest: int = 3) -> list[str]:
    """Return the lines that say what is waited for, a few jobs by name.

    Examples
    --------
    >>> told({"r1": "model=svd: process 4711 on node2 is at it, run r1"})
    ['waiting for 1 job of other processes (Ctrl-C ends this)', '  model=svd: process 4711 on node2 ...']
    """
    n_jobs = "1 job" if len(waited) == 1 else f"{len(waited)} jobs"
    lines = [f"waiting for {n_jobs} of other processes (Ctrl-C ends this)"]
    lines += [f"  {one}" for one in list(waited.values())[:longest]]
    return lines + ([f"  and {len(waited) - longest} more"] if len(waited) > longest else [])
