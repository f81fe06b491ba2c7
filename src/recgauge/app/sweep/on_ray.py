"""Runs the jobs of a sweep on a Ray cluster: each worker is an actor that has a process for the jobs."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from recgauge import __version__
from recgauge.app.sweep.clusters import RaySettings
from recgauge.app.sweep.outcome import read_plan
from recgauge.app.sweep.side_by_side import PATIENCE, Process, SideBySide
from recgauge.app.sweep.watching import Watching
from recgauge.app.sweep.worker import Task
from recgauge.app.terminal.messages import print_note
from recgauge.errors import ConfigError, said

_HANDED_ON = ("RECGAUGE_", "MLFLOW_", "PYTHONPATH")
"""How the names of the variables begin that the workers get from the sweep's environment."""
_START = 120.0  # seconds for a node to answer
_HERE: dict[str, Any] = {"include_dashboard": False, "object_store_memory": 100 << 20}
"""Of a Ray that is started for one sweep; jobs exchange files, not objects."""


class RayEngine:
    """A connection to a Ray cluster.

    Parameters
    ----------
    settings : RaySettings

    Raises
    ------
    ConfigError
        If Ray is not installed, or the cluster cannot be reached.
    """

    def __init__(self, settings: RaySettings) -> None:
        self.settings = settings
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ModuleNotFoundError as error:
            raise ConfigError(
                "hydra/launcher=ray: the package ray is not installed. Install it with: "
                "pip install 'recgauge[ray]' (in a checkout: pip install -e '.[ray]')."
            ) from error
        self._ray = ray
        self._connect()

    def _connect(self) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            self._ray.init(address=self.settings.address or "auto", **quiet)
        except ConnectionError as error:
            if self.settings.address or os.environ.get("RAY_ADDRESS"):
                raise self._unreachable(error) from error
            print_note("no Ray cluster is running here, so Ray runs on this machine alone.")
            self._ray.init(address="local", **_HERE, **quiet)
        except Exception as error:  # another version of Ray or Python, an address that is none
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> ConfigError:
        address = self.settings.address or os.environ.get("RAY_ADDRESS") or "auto"
        reason = " ".join(said(error).split())
        return ConfigError(f"hydra.launcher.address: the Ray cluster {address} cannot be used: {reason}")

    def run(
        self,
        keys: Sequence[str],
        task: Callable[[int, bool], Task],
        n_workers: int,
        words: Sequence[str],
        watching: Watching,
    ) -> None:
        """Run the jobs of a sweep.

        Parameters
        ----------
        keys, task, n_workers
            See `SideBySide`.
        words : sequence of str
            The command line of the sweep.
        watching : Watching
            Told of the jobs as they begin and end.
        """
        ray = self._ray
        environment = {name: text for name, text in os.environ.items() if name.startswith(_HANDED_ON)}
        seat = ray.remote(Seat).options(
            **self.settings.needs,
            max_concurrency=3,  # a job can be interrupted while it runs
            scheduling_strategy="SPREAD",
        )

        def hire() -> OnRay:
            return OnRay(
                ray, seat.remote(str(Path.cwd()), environment, list(words), self.settings.cpus_per_task)
            )

        try:
            SideBySide(
                keys, task, hire, n_workers, watching.ended, watching.urgent, begun=watching.begun
            ).run()
        finally:
            ray.shutdown()

    def n_workers(self, sweep: Path) -> int:
        """Return how many jobs run at a time; look first whether every node can do any.

        Parameters
        ----------
        sweep : Path
            Its folder.

        Raises
        ------
        ConfigError
            If the cluster has no room for a job, or a node is not like this machine.
        """
        needs = self.settings.needs
        names = {"num_cpus": "CPU", "memory": "memory"}
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        room = [
            min(int(node["Resources"].get(names[name], 0) // need) for name, need in needs.items())
            for node in nodes
        ]
        if not any(room):
            largest = max((node["Resources"].get("CPU", 0) for node in nodes), default=0)
            memory = "" if self.settings.mem_gb is None else f" and {self.settings.mem_gb:g} GB"
            raise ConfigError(
                f"hydra.launcher: no node of the Ray cluster has room for a job of {needs['num_cpus']} CPUs"
                f"{memory}; the largest has {largest:g} CPUs. Ask for less: hydra.launcher.cpus_per_task=1."
            )
        for node, fits in zip(nodes, room, strict=True):
            if fits:
                self._check_node(node, sweep)
        return self.settings.workers or sum(room)

    def _check_node(self, node: Mapping[str, Any], sweep: Path) -> None:
        """Refuse a node that has another recgauge or does not see the sweep's folder."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        look = self._ray.remote(surroundings).options(num_cpus=0, scheduling_strategy=there, max_retries=1)
        name = f"the Ray node {node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
        try:
            version, plan = self._ray.get(look.remote(str(sweep)), timeout=_START)
        except Exception as error:
            lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
            raise ConfigError(
                f"{name} cannot run recgauge: {lines[-1].strip()}. Start Ray there from an environment "
                "with the same packages as here."
            ) from error
        if version != __version__:
            raise ConfigError(f"{name} has recgauge {version}, this machine {__version__}; install the same.")
        if plan != read_plan(sweep).id:
            raise ConfigError(
                f"{name} does not see the folder {sweep}. Put results into a folder that all nodes share: "
                "hydra.sweep.dir=FOLDER."
            )


def surroundings(sweep: str) -> tuple[str, str]:
    """Return the version of recgauge on a node, and the id of the sweep in a folder as seen from there."""
    return __version__, read_plan(Path(sweep)).id


class Seat:
    """The actor: it holds the process that runs jobs, on whatever node Ray has put it.

    Parameters
    ----------
    folder : str
        The current folder of the sweep.
    environment : mapping of str to str
        Variables of the sweep's environment.
    words : sequence of str
    n_threads : int
        See `Process`.
    """

    def __init__(
        self, folder: str, environment: Mapping[str, str], words: Sequence[str], n_threads: int
    ) -> None:
        os.chdir(folder)
        os.environ.update(environment)
        os.environ.pop("OMP_NUM_THREADS", None)  # Ray's, not the user's
        self._process = Process(words, n_threads, bound=True)

    def run(self, line: str) -> bool:
        """Run a job; return whether the process lived through it."""
        return self._process.run_line(line)

    def end(self) -> None:
        """Let the process end."""
        self._process.end()

    def interrupt(self) -> None:
        """Interrupt the process and wait for its end."""
        self._process.interrupt()
        self._process.await_end()


class OnRay:
    """A worker that is an actor of a Ray cluster; see `side_by_side.Worker`.

    Parameters
    ----------
    ray : module
    seat : actor handle
        Of a `Seat`.
    """

    def __init__(self, ray: Any, seat: Any) -> None:
        self.key = ""
        self._ray, self._seat = ray, seat
        self._interrupted: Any = None

    def run(self, task: Task) -> bool:
        """See `side_by_side.Worker`."""
        self.key = task.key if task.needed_later else ""
        try:
            return bool(self._ray.get(self._seat.run.remote(task.to_json())))
        except self._ray.exceptions.RayError:  # the actor, or its node, died
            return False

    def end(self) -> None:
        """See `side_by_side.Worker`."""
        with suppress(self._ray.exceptions.RayError):
            self._ray.get(self._seat.end.remote(), timeout=PATIENCE)
        self._ray.kill(self._seat)

    def interrupt(self) -> None:
        """See `side_by_side.Worker`."""
        self._interrupted = self._seat.interrupt.remote()

    def await_end(self) -> None:
        """See `side_by_side.Worker`."""
        if self._interrupted is not None:
            with suppress(self._ray.exceptions.RayError):
                self._ray.get(self._interrupted, timeout=2 * PATIENCE)
        self._ray.kill(self._seat)
