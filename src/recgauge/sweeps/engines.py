"""Where the jobs of a sweep run: an engine makes workers, each an executor for one job."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import chdir, redirect_stderr, suppress
from dataclasses import replace
from functools import partial
from inspect import signature
from io import StringIO
from math import inf
from multiprocessing import resource_tracker
from pathlib import Path
from threading import Thread
from typing import Any, Literal, cast, get_args

import psutil
from threadpoolctl import threadpool_limits

from recgauge.errors import ConfigError, said
from recgauge.runs.folder import JobOutcome
from recgauge.utils.checks import check_choice, check_int, check_real
from recgauge.utils.messages import print_note
from recgauge.utils.resources import process_cpus

Output = Literal["program", "terminal", "log"]
"""Where jobs print: as the program does that they run in; of a worker, to its terminal, or to a file."""
Engines = Literal["here", "ray", "dask", "slurm", "local"]
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_HANDED_ON = ("RECGAUGE_", "MLFLOW_", "AWS_", "GOOGLE_", "PYTHONPATH")
"""How the names of the variables begin that Ray's workers get from the sweep's environment."""
_WHOLE = ("cpus_per_task", "workers", "timeout_min", "array_parallelism")
_REAL = ("mem_gb", "poll_seconds")
"""Settings of launchers that are numbers, all above 0."""
_OF_JOBS = ("timeout_min", "mem_gb", "cpus_per_task")
_OF_SLURM = ("partition", "account", "qos", "constraint", "exclude", "additional_parameters")
_SUBMITIT = (*_OF_JOBS, *_OF_SLURM, "array_parallelism", "setup", "poll_seconds")
"""Settings of conf/hydra/launcher/submitit_slurm.yaml; submitit_local.yaml has some of them."""


class WorkerDiedError(RuntimeError):
    """A worker has ended without a result."""


def _call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return function(*arguments, **named)


class Engine:
    """Runs jobs in this process, one after the other.

    An engine says how many jobs run at a time; `worker` makes an executor for one job at a time, which gets
    `call` with a function and its arguments; after `close` nothing of the engine is left.
    """

    n_workers = 1
    output: Output = "program"
    call: Callable[..., Any] = staticmethod(_call)

    def worker(self) -> Executor:
        """Make a worker."""
        return Here()

    def close(self) -> None:
        """End all workers, also those at work: a folder is complete or absent, so nothing is spoilt."""


class Here(Executor):
    """Runs a job in this process, now."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run a function now."""
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **named))
        return future


class Processes(Engine):
    """Each worker is a process of this machine with its share of the CPUs; each dies alone."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers, self.output = n_workers, "terminal" if n_workers == 1 else "log"
        share = str(max(1, process_cpus() // n_workers))
        self._variables = {name: share for name in _THREADS if name not in os.environ}
        self._variables["PYTHONSAFEPATH"] = "1"  # modules in the current folder do not replace the real ones
        self._pools: list[Any] = []

    def worker(self) -> Executor:
        """Make an executor whose process starts with its first job."""
        from loky import ProcessPoolExecutor

        with chdir(sys.prefix):  # processes that clean up import modules from the folder they start in
            if os.name == "posix":
                resource_tracker.ensure_running()
            pool = ProcessPoolExecutor(1, initializer=_begin, initargs=(os.getpid(),), env=self._variables)
        self._pools.append(pool)
        return cast("Executor", pool)

    def close(self) -> None:
        """End all processes at once, also one whose component has left threads or ignores Ctrl-C."""
        for pool in self._pools:
            pool.shutdown(kill_workers=True)


def _begin(parent: int) -> None:
    """Prepare a worker's process: Ctrl-C is its parent's, with which it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    if hasattr(os, "register_at_fork"):
        pipes = [number for number in range(3, 64) if _is_pipe(number)]
        os.register_at_fork(after_in_child=lambda: _leave_pipes(pipes))


def _is_pipe(number: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(number).st_mode)
    except OSError:
        return False


def _leave_pipes(pipes: Sequence[int]) -> None:
    """Close a worker's pipes in a fork of its component: they would hide that worker or sweep has ended."""
    for number in pipes:
        os.closerange(number, number + 1)
    for number in filter(_is_pipe, (1, 2)):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


def _end_with(parent: int) -> None:
    with suppress(psutil.NoSuchProcess):
        psutil.Process(parent).wait()
    os._exit(1)


def call_elsewhere(function: Callable[..., Any], *arguments: Any, folder: str, n_threads: int) -> Any:
    """Call a function on another machine that sees the same folders; a job that fails there says where."""
    os.chdir(folder)
    with suppress(ValueError, AttributeError):  # in a thread, on Windows: there no cluster sends signals
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        # submitit would end a job before its time is up, and Slurm not say why; SIGTERM follows
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    with threadpool_limits(n_threads):  # its libraries may have been imported by now
        result = function(*arguments)
    if isinstance(result, JobOutcome) and result.status == "failed":
        return replace(result, reason=f"on {socket.gethostname()}: {result.reason}")
    return result


class Elsewhere(Engine):
    """What engines for several machines share."""

    output = "log"

    def __init__(self, n_workers: int, cpus_per_task: int) -> None:
        self.n_workers, self.threads = n_workers, dict.fromkeys(_THREADS, str(cpus_per_task))
        self.call = partial(call_elsewhere, folder=str(Path.cwd()), n_threads=cpus_per_task)


class Ray(Elsewhere, Executor):
    """A Ray cluster, or Ray on this machine where there is none; each job is a task."""

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        cpus_per_task: int = 2,
        mem_gb: float | None = None,
    ) -> None:
        ray = self._ray = _library("ray", "ray")
        self._needs: dict[str, Any] = {"num_cpus": cpus_per_task}
        if mem_gb is not None:
            self._needs["memory"] = mem_gb * (1 << 30)
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        address = address or os.environ.get("RAY_ADDRESS")
        try:
            ray.init(address=address or "auto", **quiet)
        except ConnectionError as error:
            if address:
                raise ConfigError(
                    f"hydra.launcher.address: no Ray cluster answers at {address}: {said(error)}"
                ) from error
            print_note("no Ray cluster is running here, so Ray runs on this machine alone.")
            ray.init(address="local", include_dashboard=False, **quiet)
        except Exception as error:  # another version of Ray or Python, an address that is none
            raise ConfigError(
                f"hydra.launcher.address: the Ray cluster {address} cannot be used: {said(error)}"
            ) from error
        needs = {"CPU": cpus_per_task, "memory": self._needs.get("memory", 0)}
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        room = sum(
            min(int(node.get(name, 0) // need) for name, need in needs.items() if need) for node in nodes
        )
        if not room:
            most = max((node.get("CPU", 0) for node in nodes), default=0)
            memory = "" if mem_gb is None else f" and {mem_gb:g} GB"
            raise ConfigError(
                f"hydra.launcher: no node of the Ray cluster has room for a job of {cpus_per_task} "
                f"CPUs{memory}; the largest has {most:g} CPUs. "
                "Ask for less: hydra.launcher.cpus_per_task=1."
            )
        super().__init__(workers or room, cpus_per_task)
        shell = {name: text for name, text in os.environ.items() if name.startswith(_HANDED_ON)}
        self._environment = {"env_vars": shell | self.threads}

    def worker(self) -> Executor:
        """Return the cluster, which chooses a process for each job."""
        return self

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run a function as a task."""
        options = {**self._needs, "max_retries": 0, "scheduling_strategy": "SPREAD"}
        task = self._ray.remote(_call).options(**options, runtime_env=self._environment)
        future: Future[Any] = task.remote(function, *arguments, **named).future()
        return future

    def close(self) -> None:
        """Leave the cluster, which ends what still runs."""
        self._ray.shutdown()


class Dask(Elsewhere):
    """A Dask cluster, or one of processes of this machine."""

    def __init__(
        self, address: str | None = None, workers: int | None = None, cpus_per_task: int = 2
    ) -> None:
        distributed = _library("distributed", "dask")
        here: dict[str, Any] = {"n_workers": max(1, process_cpus() // cpus_per_task), "threads_per_worker": 1}
        here["env"] = dict.fromkeys(_THREADS, str(cpus_per_task))
        try:
            self._client = distributed.Client(address, **({} if address else here), set_as_default=False)
        except Exception as error:
            raise ConfigError(
                f"hydra.launcher.address: the Dask cluster {address} cannot be used: {said(error)}"
            ) from error
        n_workers = max(1, len(self._client.scheduler_info()["workers"]))
        super().__init__(workers or n_workers, cpus_per_task)

    def worker(self) -> Executor:
        """Return an executor of the cluster, which chooses a process for each job."""
        executor: Executor = self._client.get_executor(pure=False, retries=0)
        return executor

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close()


class Submitit(Elsewhere, Executor):
    """Every job is a job of Slurm, or a process of this machine as if it were one.

    submitit says which jobs are over, with Slurm's accounting of those that were ended.
    """

    def __init__(self, engine: str, settings: Mapping[str, Any], folder: Path) -> None:
        missing = [name for name in ("sbatch", "scancel") if not shutil.which(name)]
        if missing and engine == "slurm":
            raise ConfigError(
                f"hydra/launcher=submitit_slurm: this machine has no {missing[0]}. Start the sweep where "
                "Slurm's commands are, such as a login node, or run it here: jobs=2."
            )
        self._submitit = _library("submitit", "slurm")
        self._engine, self._settings, self._folder = engine, settings, folder / "submitit"
        super().__init__(settings["array_parallelism"], settings["cpus_per_task"])
        if engine == "slurm" and not _has_accounting():
            print_note(
                "Slurm has no accounting here (sacct), so nothing tells of a job that it ends. Should one be "
                "missing, stop the sweep and start it again with reuse=true."
            )
        self._running: dict[Future[Any], Any] = {}
        self._is_closed = False
        Thread(target=self._watch, daemon=True, name="submitit").start()

    def worker(self) -> Executor:
        """Return the cluster, which chooses a machine for each job."""
        return self

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Submit a job."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # what it holds may have passwords
        executor = self._submitit.AutoExecutor(self._folder, cluster=self._engine)
        future: Future[Any] = Future()
        try:
            executor.update_parameters(**self._parameters())
            with redirect_stderr(StringIO()):  # submitit prints what sbatch says, which the error has, too
                self._running[future] = executor.submit(function, *arguments, **named)
        except Exception as error:
            reasons = dict.fromkeys(re.findall(r"sbatch: error: *(.*\S)", str(error)))
            why = f"sbatch refuses the jobs: {'; '.join(reasons)}" if reasons else said(error)
            raise ConfigError(f"hydra/launcher=submitit_{self._engine}: {why}") from error
        return future

    def _parameters(self) -> dict[str, Any]:
        """Return what submitit is told of every job."""
        parameters: dict[str, Any] = {"name": "recgauge"}
        parameters |= {name: self._settings.get(name) for name in _OF_JOBS}
        if self._engine == "slurm":  # here a setup would put a shell between us and the job that we end
            threads = [f"export {name}={text}" for name, text in self.threads.items()]
            parameters["slurm_setup"] = [*threads, *(self._settings.get("setup") or ())]
            parameters |= {f"slurm_{name}": self._settings.get(name) for name in _OF_SLURM}
        return {key: value for key, value in parameters.items() if value not in (None, [], {})}

    def close(self) -> None:
        """Cancel what still runs, and take away the files with settings."""
        self._is_closed = True
        for job in self._running.values():
            with suppress(Exception):
                if self._engine == "local":  # submitit's own way prints a traceback
                    os.kill(int(job.job_id), signal.SIGTERM)
                else:
                    job.cancel()
        for file in self._folder.rglob("*.pkl"):
            file.unlink(missing_ok=True)

    def _watch(self) -> None:
        """Give each future its result, or the news that its job is gone."""
        while not self._is_closed:
            time.sleep(self._settings["poll_seconds"])
            for future, job in list(self._running.items()):
                if not job.done():
                    continue
                del self._running[future]
                try:
                    future.set_result(job.result())
                except Exception:
                    future.set_exception(WorkerDiedError(self._reason(job.state)))

    def _reason(self, state: str) -> str:
        remedies = {
            "TIMEOUT": "give it longer: hydra.launcher.timeout_min=MINUTES",
            "OUT_OF_MEMORY": "give it more memory: hydra.launcher.mem_gb=GB",
        }
        return f"Slurm ended it: {state}; {remedies[state]}" if state in remedies else ""


def _has_accounting() -> bool:
    sacct = shutil.which("sacct")
    return sacct is not None and subprocess.run([sacct], capture_output=True, check=False).returncode == 0


def _library(name: str, extra: str) -> Any:
    try:
        return __import__(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"hydra/launcher: the package {name} is not installed. Install it with: pip install "
            f"'recgauge[{extra}]' (in a checkout: pip install -e '.[{extra}]')."
        ) from error


def make_engine(engine: str, settings: Mapping[str, Any], jobs: int, n_jobs: int, folder: Path) -> Engine:
    """Return the engine that a launcher's settings name."""
    check_choice("hydra.launcher.engine", engine, get_args(Engines))
    if engine == "here":
        return Engine() if n_jobs == 1 else Processes(min(jobs, n_jobs))
    if jobs != 1:
        name = "array_parallelism" if engine in ("slurm", "local") else "workers"
        raise ConfigError(f"jobs={jobs}: divides this machine. On a cluster write hydra.launcher.{name}=N.")
    kind: Any = {"ray": Ray, "dask": Dask}.get(engine)
    names = list(_SUBMITIT if kind is None else signature(kind).parameters)
    if unknown := [key for key in settings if key not in names]:
        raise ConfigError(
            f"hydra.launcher: there is no setting {', '.join(unknown)}. Settings: {', '.join(names)}."
        )
    _check_values(settings)
    made: Engine = Submitit(engine, settings, folder) if kind is None else kind(**settings)
    return made


def _check_values(settings: Mapping[str, Any]) -> None:
    for name, value in settings.items():
        subject = f"hydra.launcher.{name}"
        if name in _WHOLE and (name, value) != ("workers", None):
            check_int(subject, value, minimum=1)
        elif name in _REAL and value is not None:
            check_real(subject, value, low=0, high=inf, low_open=True)
        elif name == "setup" and isinstance(value, str):
            raise ConfigError(f"{subject}: expected a list of lines, such as ['module load python'].")
        elif name in _OF_SLURM[:-1] and not str(value).isprintable():  # its line would be one of a script
            raise ConfigError(f"{subject}: must be one line, got {value!r}.")
