"""Runs every job of a sweep as a job of Slurm, or as a process of its own here, through submitit.

How a job ended is in its outcome.json. submitit is not asked: it calls jobs that failed finished, and needs
Slurm's accounting, which smaller clusters do not have. `squeue` says which jobs are gone without an outcome.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Literal

from recgauge.app.sweep.clusters import SubmititSettings
from recgauge.app.sweep.outcome import is_settled
from recgauge.app.sweep.side_by_side import DIED_TWICE, PATIENCE, Process
from recgauge.app.sweep.watching import Watching
from recgauge.app.sweep.worker import LOG, Task
from recgauge.errors import ConfigError, said

FOLDER = "submitit"
"""Of the sweep's folder: what submitit writes."""
_ARRAY = 1000  # jobs; Slurm's MaxArraySize is 1001 where nobody has changed it
_LOOK = 0.5  # seconds between two looks for outcomes
_LAG = 10.0  # seconds until a file that another machine has written must be seen here
_ALIVE = {
    "PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESIZING",
    "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED", "SUSPENDED",
}  # fmt: skip
_REMEDIES = {
    "TIMEOUT": "give it longer: hydra.launcher.timeout_min=MINUTES",
    "OUT_OF_MEMORY": "give it more memory: hydra.launcher.mem_gb=GB",
}
"""States of Slurm in which a job would end again, and what helps."""
_INSTALL = (
    "the package submitit is not installed. Install it with: pip install 'recgauge[slurm]' (in a checkout: "
    "pip install -e '.[slurm]')."
)


class SubmititEngine:
    """Submits the jobs of sweeps.

    Parameters
    ----------
    engine : {'slurm', 'local'}
    settings : SubmititSettings

    Raises
    ------
    ConfigError
        If submitit or Slurm's programs are missing.
    """

    def __init__(self, engine: Literal["slurm", "local"], settings: SubmititSettings) -> None:
        self.engine, self.settings = engine, settings
        missing = [name for name in ("sbatch", "squeue", "scancel") if not shutil.which(name)]
        if missing and engine == "slurm":
            raise ConfigError(
                f"hydra/launcher=submitit_slurm: this machine has no {missing[0]}. Start the sweep where "
                "Slurm's commands are, such as a login node, or run it here: jobs=2."
            )
        try:
            import submitit
        except ModuleNotFoundError as error:
            raise ConfigError(f"hydra/launcher=submitit_{engine}: {_INSTALL}") from error
        self._submitit = submitit

    def n_workers(self, sweep: Path) -> int:
        """Return how many jobs run at a time, at most."""
        del sweep
        return self.settings.array_parallelism

    def run(
        self,
        keys: Sequence[str],
        task: Callable[[int, bool], Task],
        n_workers: int,
        words: Sequence[str],
        watching: Watching,
    ) -> None:
        """Run the jobs of a sweep; see `RayEngine.run`. One that ends without an outcome is submitted again.

        Raises
        ------
        ConfigError
            If the jobs cannot be submitted.
        """
        folder = watching.sweep / FOLDER
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # what it holds may have passwords
        jobs = _Submitted(watching, list(range(len(keys))))
        asked = monotonic()
        try:
            while jobs.waiting or jobs.running:
                chosen = jobs.take(n_workers if self.engine == "local" else None)
                if chosen:
                    lines = [replace(task(job, False), key="").to_json() for job in chosen]
                    jobs.running |= dict(zip(chosen, self._submit(folder, lines, words), strict=True))
                sleep(_LOOK)
                ask = monotonic() - asked >= self.settings.poll_seconds
                asked = monotonic() if ask else asked
                jobs.look(self._states(jobs.running.values()) if ask else None)
        except BaseException:
            self._cancel(jobs.running.values())
            raise
        finally:
            for file in folder.rglob("*.pkl"):
                file.unlink(missing_ok=True)

    def _submit(self, folder: Path, lines: Sequence[str], words: Sequence[str]) -> list[Any]:
        executor = self._submitit.AutoExecutor(folder, cluster=self.engine)
        share = self.settings.cpus_per_task
        arguments = [lines, [list(words)] * len(lines), [share] * len(lines)]
        try:
            executor.update_parameters(**self.settings.parameters(self.engine))
            with (
                _not_interrupted(),
                redirect_stderr(StringIO()),
            ):  # submitit prints what sbatch says, which the error has, too
                return list(executor.map_array(run_task, *arguments))
        except Exception as error:
            raise ConfigError(f"hydra/launcher=submitit_{self.engine}: {_refusal(error)}") from error

    def _states(self, jobs: Iterable[Any]) -> dict[str, str] | None:
        """Return the state of every job by its id, None if Slurm does not answer now."""
        if self.engine == "local":
            return {job.job_id: "RUNNING" if not job.done() else "COMPLETED" for job in jobs}
        asked = ["squeue", "--me", "--states=all", "--array", "--noheader", "--format=%i|%T"]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
        if answer.returncode:
            return None
        lines = (line.strip().partition("|") for line in answer.stdout.splitlines())
        return {number: state for number, _, state in lines}

    def _cancel(self, jobs: Iterable[Any]) -> None:
        """End the jobs, and wait until those that ran have marked their runs."""
        open_jobs = list(jobs)
        if self.engine == "local":
            for job in open_jobs:
                with suppress(ProcessLookupError):
                    os.kill(
                        int(job.job_id), signal.SIGTERM
                    )  # submitit's own way leaves no time to mark a run
        elif open_jobs:
            subprocess.run(["scancel", *(job.job_id for job in open_jobs)], capture_output=True, check=False)
        until = monotonic() + PATIENCE
        while monotonic() < until:
            states = self._states(open_jobs) or {}
            if not any(states.get(job.job_id) in _ALIVE for job in open_jobs):
                return
            sleep(0.5)


@dataclass
class _Submitted:
    """The jobs of a sweep that wait or run."""

    watching: Watching
    waiting: list[int]
    running: dict[int, Any] = field(default_factory=dict)
    _begun: set[int] = field(default_factory=set)
    _gone: dict[int, float] = field(default_factory=dict)
    _tried: set[int] = field(default_factory=set)

    def take(self, at_once: int | None) -> list[int]:
        """Take out the jobs that are to be submitted now, at most so many that `at_once` run."""
        room = _ARRAY if at_once is None else at_once - len(self.running)
        chosen = self.waiting[:room]
        del self.waiting[: len(chosen)]
        return chosen

    def look(self, states: dict[str, str] | None) -> None:
        """Report the jobs that have ended; let those without an outcome wait to be submitted again."""
        for job, submitted in list(self.running.items()):
            if job not in self._begun and (self.watching.folders[job] / LOG).exists():
                self._begun.add(job)
                self.watching.begun(job)
            if self._has_outcome(job):
                self._drop(job)
                self.watching.ended(job, "")
                continue
            if states is None:
                continue
            state = states.get(submitted.job_id, "GONE")
            if state in _ALIVE:
                self._gone.pop(job, None)
            elif monotonic() - self._gone.setdefault(job, monotonic()) > _LAG:
                self._drop(job)
                self._died(job, state)

    def _has_outcome(self, job: int) -> bool:
        folder = self.watching.folders[job]
        if job in self._gone and folder.is_dir():
            next(folder.iterdir(), None)  # lets network file systems look again
        return is_settled(folder, self.watching.plan)

    def _drop(self, job: int) -> None:
        del self.running[job]
        self._gone.pop(job, None)

    def _died(self, job: int, state: str) -> None:
        if state in _REMEDIES:
            self.watching.ended(job, f"Slurm ended it: {state}; {_REMEDIES[state]}")
        elif job in self._tried:
            told = "" if state in ("GONE", "COMPLETED") else f" (Slurm: {state})"
            self.watching.ended(job, f"{DIED_TWICE}{told}")
        else:
            self._tried.add(job)
            self.waiting.append(job)


def run_task(line: str, words: Sequence[str], n_threads: int) -> bool:
    """Run a job in a process of its own; return whether the process lived through it.

    Parameters
    ----------
    line : str
        A `Task` as JSON.
    words : sequence of str
        The command line of the sweep.
    n_threads : int
    """
    # submitit would end a job before its time is up, and Slurm not say why; SIGTERM follows, when it is up
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    worker = Process(words, n_threads, bound=True)
    signal.signal(signal.SIGTERM, lambda *_: worker.interrupt())
    try:
        lived = worker.run_line(line)
    except BaseException:
        worker.interrupt()
        worker.await_end()
        raise
    if lived:
        worker.end()
    else:
        worker.await_end()
    return lived


@contextmanager
def _not_interrupted() -> Iterator[None]:
    """Let Ctrl-C reach neither a submission nor the processes that it starts: this process ends those."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _refusal(error: Exception) -> str:
    """Return why jobs were not submitted, in sbatch's words if it has said something."""
    lines = [line.strip() for line in str(error).splitlines() if "sbatch: error:" in line]
    words = "; ".join(dict.fromkeys(line.partition("sbatch: error:")[2].strip() for line in lines))
    refused = (
        f"sbatch refuses the jobs: {words}. See hydra.launcher.partition, cpus_per_task, mem_gb, timeout_min."
    )
    return refused if words else f"the jobs cannot be submitted: {said(error)}"
