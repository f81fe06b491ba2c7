"""Where the jobs of a sweep run: an engine makes workers, each an executor for one job."""

import os
import re
import signal
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, Literal

from threadpoolctl import threadpool_limits

from recgauge.errors import ConfigError, RecgaugeError, said
from recgauge.runs.folder import JobOutcome
from recgauge.runs.targets import TARGET, allowed_packages
from recgauge.sweeps.compose import build
from recgauge.utils.checks import Checked, Count, Positive, check_choice
from recgauge.utils.resources import process_cpus
from recgauge.utils.workers import end_worker, worker_process

Output = Literal["program", "terminal", "log"]
"""Where jobs print: as the program does that they run in; of a worker, to its terminal, or to a file."""
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_HANDED_ON = ("RECGAUGE_", "MLFLOW_", "AWS_", "GOOGLE_", "PYTHONPATH")
"""How the names of the variables begin that Ray's workers get from the sweep's environment."""
_OF_SLURM = ("partition", "account", "qos", "constraint", "exclude")


class WorkerDiedError(RuntimeError):
    """A worker has ended without a result."""


def _call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return function(*arguments, **named)


class Engine:
    """Runs jobs in this process, one after the other.

    An engine says how many jobs run at a time; `worker` makes an executor for one job at a time, which gets
    `call` with a function and its arguments; after `close` nothing of the engine is left.
    """

    n_workers: int = 1
    output: Output = "program"

    @property
    def call(self) -> Callable[..., Any]:
        """Calls a function where a worker is."""
        return _call

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
        self._pools: list[Executor] = []

    def worker(self) -> Executor:
        """Make an executor whose process starts with its first job."""
        self._pools.append(worker_process(self._variables))
        return self._pools[-1]

    def close(self) -> None:
        """End all processes at once, also one whose component has left threads or ignores Ctrl-C."""
        for pool in self._pools:
            end_worker(pool)


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


@dataclass(eq=False)
class Cluster(Engine, Executor, Checked):
    """What engines for several machines share: the settings of ``conf/hydra/launcher``, and the way in."""

    package: ClassVar[tuple[str, str]]  # to import, and recgauge's extra that installs it
    folder: Path  # of the sweep
    output: Output = field(default="log", init=False)
    engine: str = ""
    cpus_per_task: Count = 2

    @property
    def call(self) -> Callable[..., Any]:
        """Calls a function on a machine of the cluster."""
        return partial(call_elsewhere, folder=str(Path.cwd()), n_threads=self.cpus_per_task)

    @property
    def threads(self) -> dict[str, str]:
        """Variables that give a job as many threads as CPUs."""
        return dict.fromkeys(_THREADS, str(self.cpus_per_task))

    def worker(self) -> Executor:
        """Return the cluster, which chooses a machine for each job."""
        return self

    def start(self) -> None:
        """Join the cluster, or start one."""
        name, extra = self.package
        try:
            self.connect(import_module(name))
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"hydra/launcher: the package {name} is not installed. Install it with: pip install "
                f"'recgauge[{extra}]' (in a checkout: pip install -e '.[{extra}]')."
            ) from error
        except RecgaugeError:
            raise
        except Exception as error:  # nothing there, another version of Python, no address
            place = "hydra.launcher.address" if hasattr(self, "address") else "hydra/launcher"
            raise ConfigError(f"{place}: the cluster {self.engine} cannot be used: {said(error)}") from error

    def connect(self, library: Any) -> None:
        """Find the cluster and set `n_workers`."""
        raise NotImplementedError


@dataclass(eq=False)
class Ray(Cluster):
    """A Ray cluster, or Ray on this machine where there is none; each job is a task."""

    package = ("ray", "ray")
    address: str | None = None
    workers: Count | None = None
    mem_gb: Positive | None = None

    def connect(self, library: Any) -> None:
        """Find the cluster that is named or running, or start one here."""
        self._ray = library
        library.init(self.address, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        needs = {"CPU": self.cpus_per_task, "memory": (self.mem_gb or 0) * (1 << 30)}
        nodes = [node["Resources"] for node in library.nodes() if node["Alive"]]
        room = sum(min(int(node.get(name, 0) // n) for name, n in needs.items() if n) for node in nodes)
        if not room:
            raise ConfigError(
                f"hydra.launcher: no node of Ray has room for a job of {self.cpus_per_task} CPUs and "
                f"{self.mem_gb or 0:g} GB. Ask for less: hydra.launcher.cpus_per_task=1."
            )
        self.n_workers = self.workers or room
        shell = {name: text for name, text in os.environ.items() if name.startswith(_HANDED_ON)}
        self._task = library.remote(_call).options(
            num_cpus=self.cpus_per_task,
            memory=needs["memory"] or None,
            max_retries=0,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": shell | self.threads},
        )

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run a function as a task."""
        future: Future[Any] = self._task.remote(function, *arguments, **named).future()
        return future

    def close(self) -> None:
        """Leave the cluster, which ends what still runs."""
        self._ray.shutdown()


@dataclass(eq=False)
class Dask(Cluster):
    """A Dask cluster, or one of processes of this machine."""

    package = ("distributed", "dask")
    address: str | None = None
    workers: Count | None = None

    def connect(self, library: Any) -> None:
        """Find the cluster that is named, or start one here."""
        n_here = max(1, process_cpus() // self.cpus_per_task)
        here: dict[str, Any] = {"n_workers": n_here, "threads_per_worker": 1, "env": self.threads}
        self._client = library.Client(self.address, **({} if self.address else here), set_as_default=False)
        self.n_workers = self.workers or max(1, len(self._client.scheduler_info()["workers"]))

    def worker(self) -> Executor:
        """Return an executor of the cluster."""
        executor: Executor = self._client.get_executor(pure=False, retries=0)
        return executor

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close()


@dataclass(eq=False)
class Submitit(Cluster):
    """Every job is a job of Slurm, or a process of this machine as if it were one.

    submitit says which jobs are over, with Slurm's accounting of those that were ended.
    """

    package = ("submitit", "slurm")
    array_parallelism: Count = 1
    timeout_min: Count = 240
    mem_gb: Positive | None = None
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    exclude: str | None = None
    setup: list[str] | None = None
    additional_parameters: dict[str, Any] | None = None

    def connect(self, library: Any) -> None:
        """Find Slurm's commands, which submitit calls; its files go to the sweep's folder."""
        for name in _OF_SLURM:
            if not str(getattr(self, name)).isprintable():  # its line would be one of a script
                raise ConfigError(f"hydra.launcher.{name}: must be one line, got {getattr(self, name)!r}.")
        self._files, self._jobs = self.folder / "submitit", list[Any]()
        self._executor = library.AutoExecutor(self._files, cluster=self.engine)
        self._executor.update_parameters(name="recgauge", **self._parameters())
        self.n_workers = self.array_parallelism

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Submit a job."""
        self._files.mkdir(mode=0o700, parents=True, exist_ok=True)  # what it holds may have passwords
        try:
            with redirect_stderr(StringIO()):  # submitit prints what sbatch says, which the error has, too
                job = self._executor.submit(function, *arguments, **named)
        except Exception as error:
            reasons = dict.fromkeys(re.findall(r"sbatch: error: *(.*\S)", str(error)))
            raise ConfigError(
                f"hydra/launcher=submitit_{self.engine}: sbatch refuses the jobs: "
                f"{'; '.join(reasons) or said(error)}"
            ) from error
        self._jobs.append(job)
        future: Future[Any] = Future()
        Thread(target=_await, args=(future, job), daemon=True).start()
        return future

    def _parameters(self) -> dict[str, Any]:
        """Return the settings that are given, by submitit's names."""
        parameters = {name: getattr(self, name) for name in ("timeout_min", "mem_gb", "cpus_per_task")}
        if self.engine == "slurm":  # here a setup would put a shell between us and the job that we end
            setup = [f"export {name}={n}" for name, n in self.threads.items()] + list(self.setup or ())
            options = {name: getattr(self, name) for name in (*_OF_SLURM, "additional_parameters")}
            parameters |= {f"slurm_{name}": value for name, value in {**options, "setup": setup}.items()}
        return {key: value for key, value in parameters.items() if value}

    def close(self) -> None:
        """Cancel what still runs, and take away the files with settings."""
        for job in self._jobs:
            with suppress(Exception):
                if self.engine == "slurm":
                    job.cancel()
                elif not job.done():  # submitit's own way prints a traceback
                    os.kill(int(job.job_id), signal.SIGTERM)
        for file in self._files.rglob("*.pkl"):
            file.unlink(missing_ok=True)


_REMEDIES = {
    "TIMEOUT": "give it longer: hydra.launcher.timeout_min=MINUTES",
    "OUT_OF_MEMORY": "give it more memory: hydra.launcher.mem_gb=GB",
}


def _await(future: Future[Any], job: Any) -> None:
    """Give a future the result of a job of submitit, or the news that the job is gone."""
    try:
        future.set_result(job.result())
    except Exception:
        state = str(job.state)  # once, as it may change
        reason = f"Slurm ended it: {state}; {_REMEDIES[state]}" if state in _REMEDIES else ""
        future.set_exception(WorkerDiedError(reason))


CLUSTERS: dict[str, type[Cluster]] = {"ray": Ray, "dask": Dask, "slurm": Submitit, "local": Submitit}


def make_engine(name: str, settings: Mapping[str, Any], jobs: int, n_jobs: int, folder: Path) -> Engine:
    """Return the engine that a launcher's settings name."""
    if check_choice("hydra.launcher.engine", name, ("here", *CLUSTERS)) == "here":
        return Engine() if n_jobs == 1 else Processes(min(jobs, n_jobs))
    if jobs != 1:
        setting = "array_parallelism" if CLUSTERS[name] is Submitit else "workers"
        raise ConfigError(
            f"jobs={jobs}: divides this machine. On a cluster write hydra.launcher.{setting}=N."
        )
    node = {**settings, TARGET: f"{__name__}.{CLUSTERS[name].__name__}", "engine": name, "folder": folder}
    cluster = build(node, Cluster, "hydra.launcher", allowed_packages(()))
    cluster.start()
    return cluster
