"""Runs jobs of a sweep side by side, each by a worker: a process of this machine, or one elsewhere."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Thread
from typing import Protocol

from recgauge.app.sweep.put_off import PutOff
from recgauge.app.sweep.worker import Task
from recgauge.app.tracking import process
from recgauge.utils.memory import free_memory

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PATIENCE = 15.0
"""Seconds for a worker to mark its run as killed."""
DIED_TWICE = "its process died twice"
_LEAST = 1 << 30
"""Bytes that must be free before a further job begins of whose needs nothing is known."""


class Worker(Protocol):
    """Runs one job at a time."""

    key: str
    """Of the rows that it keeps for a later job; see `Task`."""

    def run(self, task: Task) -> bool:
        """Run a job; return whether the worker lived through it."""

    def end(self) -> None:
        """Let a worker that has nothing to do end; it need not be waited for."""

    def interrupt(self) -> None:
        """End the worker as Ctrl-C would, so that its run is marked; do not wait for it."""

    def await_end(self) -> None:
        """Wait for a worker that was interrupted or died; if it hangs, end it at once."""


class Process:
    """A worker that is a process of this machine.

    Parameters
    ----------
    words : sequence of str
        The command line of the sweep.
    n_threads : int
        Its share of the CPUs; a variable that the user has set stays.
    bound : bool
        Whether it ends when this process dies; else it finishes its job first.
    """

    def __init__(self, words: Sequence[str], n_threads: int, *, bound: bool = False) -> None:
        threads = {name: str(n_threads) for name in _THREADS if name not in os.environ}
        pipes = process.copied()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recgauge.app.sweep.worker"],
            env=os.environ | threads,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=pipes or (),
        )
        for end in pipes or ():
            os.close(end)
        begin = {"words": list(words), "n_threads": n_threads, "bound": bound, "pipes": pipes}
        self._send(json.dumps(begin))
        self.key = ""

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def run(self, task: Task) -> bool:
        """See `Worker`."""
        self.key = task.key if task.needed_later else ""
        return self.run_line(task.to_json())

    def run_line(self, line: str) -> bool:
        """Run a job that is given as one line; return whether the process lived through it."""
        answers = self._process.stdout
        assert answers is not None
        try:
            self._send(line)
            # processes that a component has forked keep the pipe open after a worker that was killed
            while not select.select([answers], [], [], 1)[0]:
                if self._process.poll() is not None and not select.select([answers], [], [], 0)[0]:
                    return False
            return answers.readline() != ""
        except BrokenPipeError:
            return False

    def end(self) -> None:
        """See `Worker`."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        Thread(target=self._await_last, name="end of a worker").start()

    def _await_last(self) -> None:
        """Wait a third of a second, or longer if threads that a component has left hold the worker up."""
        assert self._process.stdout is not None
        self.await_end()
        self._process.stdout.close()  # nobody reads its answers any more, as they may if it is interrupted

    def interrupt(self) -> None:
        """See `Worker`."""
        self._process.terminate()

    def await_end(self) -> None:
        """See `Worker`."""
        try:
            self._process.wait(PATIENCE)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):  # Ctrl-C again: the user does not wait
            self._process.kill()
            self._process.wait()


@dataclass
class SideBySide:
    """The jobs of a sweep that wait, and the workers.

    Parameters
    ----------
    keys : sequence of str
        See `Task`.
    task : callable
        Gives the task of the job at a place; told whether a later job needs the same rows.
    hire : callable
        Makes a worker.
    n_workers : int
        At a time.
    ended : callable
        Told the place of each job as it ends, and why it has no outcome if its worker died twice at it.
    urgent : callable
        Returns the places of jobs that should begin before others, though nobody has their rows.
    has_room : callable
        Whether another job, given second, may begin beside those that run.
    begun : callable
        Told the place of each job as it begins.
    waits : callable
        Told the place of a job that a worker has time for and that `has_room` refuses.
    put_off : PutOff
        Takes jobs that other sweeps are at.
    spare : callable
        Called once a worker has nothing more to do, while others may still work.
    """

    keys: Sequence[str]
    task: Callable[[int, bool], Task]
    hire: Callable[[], Worker]
    n_workers: int
    ended: Callable[[int, str], None]
    urgent: Callable[[], Collection[int]] = tuple
    has_room: Callable[[Sequence[int], int], bool] = lambda _running, _job: True
    begun: Callable[[int], None] = lambda _job: None
    waits: Callable[[int], None] = lambda _job: None
    put_off: PutOff = field(default_factory=PutOff)
    spare: Callable[[], None] = lambda: None
    _waiting: list[int] = field(default_factory=list)
    _tried: set[int] = field(default_factory=set)
    _idle: list[Worker] = field(default_factory=list)
    _busy: dict[Future[bool], tuple[int, Worker]] = field(default_factory=dict)

    def run(self) -> None:
        """Run all jobs; an interruption ends the workers, which mark their runs."""
        self._waiting = list(range(len(self.keys)))
        pool = ThreadPoolExecutor(self.n_workers)
        try:
            while self._waiting or self._busy or self.put_off:
                self._give_out(pool)
                if not self._waiting:  # an engine may need their CPUs for the worker that follows a dead one
                    self._end_idle()
                for one in self._await():
                    job, worker = self._busy.pop(one)
                    self._conclude(job, worker, lived=one.result())
            self._end_idle()
        except BaseException:
            workers = [*self._idle, *(worker for _, worker in self._busy.values())]
            for worker in workers:
                worker.interrupt()
            for worker in workers:
                worker.await_end()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _give_out(self, pool: ThreadPoolExecutor) -> None:
        while self._waiting and len(self._busy) < self.n_workers:
            running = [job for job, _ in self._busy.values()]
            order = self._preferred(self._idle[-1].key if self._idle else "", running)
            # one job always runs, whatever it needs: nothing else could free memory for it
            job = next((one for one in order if not running or self.has_room(running, one)), None)
            if job is None:
                self.waits(order[0])
                return
            self._waiting.remove(job)
            worker = self._idle.pop() if self._idle else self.hire()
            self.begun(job)
            self._busy[pool.submit(worker.run, self._task(job))] = job, worker

    def _await(self) -> Collection[Future[bool]]:
        """Wait until jobs have ended, which are returned, or it is time to look at other sweeps again."""
        if self._waiting or not self.put_off:
            return wait(self._busy, return_when=FIRST_COMPLETED).done
        self._waiting = self.put_off.ready(idle=not self._busy)
        if self._waiting:
            return ()
        if not self._busy:
            time.sleep(self.put_off.pause)
        return wait(self._busy, self.put_off.pause, return_when=FIRST_COMPLETED).done

    def _end_idle(self) -> None:
        if self._idle:
            self.spare()
        while self._idle:
            self._idle.pop().end()

    def _preferred(self, kept: str, running: Sequence[int]) -> list[int]:
        """Return waiting jobs, first the urgent, then those whose rows the worker has, or else nobody."""
        elsewhere, first = {self.keys[job] for job in running}, self.urgent()

        def place(job: int) -> tuple[bool, bool, bool]:
            return job not in first, self.keys[job] != kept, self.keys[job] in elsewhere

        return sorted(self._waiting, key=place)

    def _task(self, job: int) -> Task:
        later = any(self.keys[other] == self.keys[job] for other in self._waiting)
        return self.task(job, later)

    def _conclude(self, job: int, worker: Worker, *, lived: bool) -> None:
        """Report how a job ended; one whose worker died is tried once more, by another."""
        if lived:
            self._idle.append(worker)
            if not self.put_off.takes(job):
                self.ended(job, "")
            return
        worker.await_end()
        if job in self._tried:
            self.ended(job, DIED_TWICE)
        else:
            self._tried.add(job)
            self._waiting.insert(0, job)


class Room:
    """Whether this machine has memory for another job beside those that run.

    Parameters
    ----------
    needs : sequence of int or None
        Bytes that each job may need; None where nothing is known.
    """

    def __init__(self, needs: Sequence[int | None]) -> None:
        self.needs = [_LEAST if need is None else need for need in needs]
        self._at_first = free_memory()
        self.had = 0  # when last asked

    def left(self, running: Sequence[int]) -> int | None:
        """Return the bytes beside what running jobs have taken, and beside what they may still take."""
        free = free_memory()
        if free is None or self._at_first is None:
            return free
        return min(free, self._at_first - sum(self.needs[job] for job in running))

    def __call__(self, running: Sequence[int], job: int) -> bool:
        """Whether a job may begin."""
        left = self.left(running)
        self.had = left or 0
        return left is None or left >= self.needs[job]
