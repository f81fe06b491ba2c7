"""Runs jobs of a sweep side by side, each in a worker process with its share of the CPUs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from omegaconf import DictConfig

from recgauge.app.sweep.worker import Task
from recgauge.utils.memory import free_memory
from recgauge.utils.threads import usable_cpus

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_PATIENCE = 15.0  # seconds for a worker to mark its run as killed
_LEAST = 1 << 30
"""Bytes that must be free before a further job begins; a job that would not fit alone is told so itself."""


class Worker:
    """A process that runs one job at a time.

    Parameters
    ----------
    words : sequence of str
        The command line of the sweep.
    n_threads : int
        Its share of the CPUs; a variable that the user has set stays.
    """

    def __init__(self, words: Sequence[str], n_threads: int) -> None:
        threads = {name: str(n_threads) for name in _THREADS if name not in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recgauge.app.sweep.worker"],
            env=os.environ | threads,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._send(json.dumps({"words": list(words), "n_threads": n_threads}))
        self.key = ""

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def run(self, task: Task) -> bool:
        """Run a job; return whether the process lived through it."""
        assert self._process.stdout is not None
        self.key = task.key if task.needed_later else ""
        try:
            self._send(task.to_json())
            return self._process.stdout.readline() != ""
        except BrokenPipeError:
            return False

    def end(self) -> None:
        """Let the process end once it has nothing to do."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def interrupt(self) -> None:
        """End the process as Ctrl-C would, so that its run is marked; do not wait for it."""
        self._process.terminate()

    def await_end(self) -> None:
        """Wait for a process that was interrupted; if it hangs, end it at once."""
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@dataclass
class SideBySide:
    """The jobs of a sweep that wait, and the workers.

    Parameters
    ----------
    configs : sequence of DictConfig
    keys : sequence of str
        See `Task`.
    words : sequence of str
        The command line of the sweep.
    n_workers : int
    ended : callable
        Told the place of each job as it ends, and whether its process died twice at it.
    """

    configs: Sequence[DictConfig]
    keys: Sequence[str]
    words: Sequence[str]
    n_workers: int
    ended: Callable[[int, bool], None]
    _waiting: list[int] = field(default_factory=list)
    _tried: set[int] = field(default_factory=set)

    def run(self) -> None:
        """Run all jobs; an interruption ends the workers, which mark their runs."""
        self._waiting = list(range(len(self.configs)))
        share = max(1, usable_cpus() // self.n_workers)
        idle = [Worker(self.words, share) for _ in range(min(self.n_workers, len(self.configs)))]
        busy: dict[Future[bool], tuple[int, Worker]] = {}
        pool = ThreadPoolExecutor(len(idle))
        try:
            while self._waiting or busy:
                while self._waiting and idle and (not busy or self._has_memory()):
                    worker = idle.pop()
                    job = self._next(worker.key, [self.keys[other] for other, _ in busy.values()])
                    busy[pool.submit(worker.run, self._task(job))] = job, worker
                done, _ = wait(busy, return_when=FIRST_COMPLETED)
                for one in done:
                    job, worker = busy.pop(one)
                    idle.append(self._concluded(job, worker, share, lived=one.result()))
            for worker in idle:
                worker.end()
        except BaseException:
            workers = [*idle, *(worker for _, worker in busy.values())]
            for worker in workers:
                worker.interrupt()
            for worker in workers:
                worker.await_end()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _next(self, kept: str, elsewhere: Sequence[str]) -> int:
        """Take the next job: one whose rows the worker has, else one whose rows nobody has, else any."""
        same = [job for job in self._waiting if self.keys[job] == kept]
        fresh = [job for job in self._waiting if self.keys[job] not in elsewhere]
        job = (same or fresh or self._waiting)[0]
        self._waiting.remove(job)
        return job

    def _task(self, job: int) -> Task:
        later = any(self.keys[other] == self.keys[job] for other in self._waiting)
        return Task(self.configs[job], self.keys[job], later)

    def _concluded(self, job: int, worker: Worker, share: int, *, lived: bool) -> Worker:
        """Report how a job ended; one whose process died is tried once more. Return who works on."""
        if lived:
            self.ended(job, False)
            return worker
        worker.await_end()
        if job in self._tried:
            self.ended(job, True)
        else:
            self._tried.add(job)
            self._waiting.insert(0, job)
        return Worker(self.words, share)

    def _has_memory(self) -> bool:
        """Whether another job may begin beside those that run."""
        free = free_memory()
        return free is None or free > _LEAST
