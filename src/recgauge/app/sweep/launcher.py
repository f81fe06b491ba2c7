"""Runs the jobs of a sweep: in this process, in workers beside it, or on a cluster (`hydra/launcher=ray`)."""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from hydra._internal.core_plugins.basic_launcher import BasicLauncher
from hydra.core.utils import JobReturn, JobStatus, setup_globals
from omegaconf import DictConfig, OmegaConf, open_dict, read_write
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.sweep.clusters import Engines, cluster
from recgauge.app.sweep.outcome import has_failed, is_settled, read_plan
from recgauge.app.sweep.worker import Task, run_here
from recgauge.app.terminal.messages import print_note
from recgauge.errors import ConfigError
from recgauge.utils.checks import check_int
from recgauge.utils.threads import usable_cpus

if TYPE_CHECKING:
    from recgauge.app.sweep.on_ray import RayEngine
    from recgauge.app.sweep.on_submitit import SubmititEngine
    from recgauge.app.sweep.put_off import PutOff
    from recgauge.app.tracking.tracker import Tracker

_OF_ROWS = (
    "dataset",
    "filters",
    "split",
    "candidates",
    "conventions",
    "ties",
    "metrics",
    "cutoffs",
    "guards",
    "seed",
    "fit_on",
    "evaluate_on",
    "tune",
    "data",
    "engine",
)
"""The settings that decide what a run has before its model is trained."""
_OF_TIME = ("dataset", "filters", "model", "tune")
"""The settings that decide most of the time that a run takes."""
_NEEDED_AT_END = (
    "pandas",
    "recgauge.app.sweep.end",
    "recgauge.app.compare.concluding",
    "recgauge.app.compare.reporting",
    "recgauge.app.commands.run_data",
    "recgauge.report.figures.compared",
    "recgauge.report.html.page",
)


@dataclass(frozen=True)
class Given:
    """A job as a sweeper gives it out; its configuration is made again when it is needed.

    Parameters
    ----------
    words : tuple of str
        Overrides, as they were typed.
    number : int
        Position in the sweep, from 0.
    folder : Path
        Gets its files.
    key : str
        Equal for jobs whose data, split and candidates are the same.
    kind : str
        Equal for jobs of the same model and data set, which take about equally long.
    """

    words: tuple[str, ...]
    number: int
    folder: Path
    key: str
    kind: str


class SweepLauncher(BasicLauncher):
    """Stands in for Hydra's own launcher, whose order of jobs loads the same data again and again.

    Hydra's launchers for Ray and submitit are not used: they compose every job again, give up all jobs of a
    sweep when the worker of one dies, and Ray's does not agree with MLflow about cloudpickle.

    Parameters
    ----------
    engine : {None, 'ray', 'slurm', 'local'}
        The cluster, None for this machine.
    **settings
        Of the engine; see conf/hydra/launcher.
    """

    def __init__(self, engine: Engines | None = None, **settings: Any) -> None:
        super().__init__()
        self.engine, self.settings = engine, settings
        self.cluster: RayEngine | SubmititEngine | None = None

    def setup(self, *, config: DictConfig, **named: Any) -> None:
        """Find out before any work whether the cluster can be used.

        Raises
        ------
        ConfigError
            If it cannot.
        """
        super().setup(config=config, **named)
        if self.engine is None:
            return
        if config.jobs != 1:
            name = "workers" if self.engine == "ray" else "array_parallelism"
            raise ConfigError(
                f"jobs={config.jobs}: divides this machine. On a cluster write hydra.launcher.{name}=N for N "
                "jobs at a time."
            )
        self.cluster = cluster(self.engine, self.settings)
        uri = str(config.tracking.get("uri") or "") if config.tracking is not None else ""
        if self.engine != "local" and uri.startswith("sqlite:"):
            print_note(
                f"{uri} is a file, which several machines cannot write safely over a shared folder. Name a "
                "tracking server: tracking.uri=http://HOST:PORT (docs/clusters.md)."
            )

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run the jobs that are not settled yet; return how they ended in the order they were given."""
        assert self.config is not None
        assert self.hydra_context is not None
        assert self.task_function is not None
        setup_globals()
        sweep = Path(str(self.config.hydra.sweep.dir))
        sweep.mkdir(parents=True, exist_ok=True)
        numbered = enumerate(job_overrides, initial_job_idx)
        jobs = [self._given(tuple(words), number) for number, words in numbered]
        n_workers = check_int("jobs", self.config.jobs, minimum=1)
        plan = read_plan(sweep)
        waiting = [job for job in jobs if not is_settled(job.folder, plan)]
        if waiting:
            self.hydra_context.callbacks.on_job_start(config=self.config, task_function=self.task_function)
        if self.cluster is None and (n_workers == 1 or len(jobs) == 1):
            self._one_after_the_other(waiting)
        elif waiting:
            self._side_by_side(waiting, n_workers)
        return [_returned(job) for job in jobs]

    def _one_after_the_other(self, jobs: Sequence[Given]) -> None:
        from recgauge.app.sweep.watching import Tally
        from recgauge.app.terminal.printing import ConsoleProgress, stages_of

        assert self.config is not None
        assert self.task_function is not None
        order = [jobs[place] for place in grouped([job.key for job in jobs])]
        plan = read_plan(Path(str(self.config.hydra.sweep.dir)))
        tally = Tally(order, plan)
        put_off = self._put_off(order, ConsoleProgress().note, tally.forecast.put_off)
        todo = list(range(len(order)))
        while todo:
            with stages_of(tally):
                for turn, place in enumerate(todo):
                    job = order[place]
                    later = any(order[other].key == job.key for other in todo[turn + 1 :])
                    tally.forecast.begin(place)
                    task = Task(self._composed(job.words, job.number), job.key, later, True)
                    run_here(task, self.task_function)
                    if not put_off.takes(place):
                        tally.end(place, failed=has_failed(job.folder, plan))
            todo = put_off.await_ready()

    def _side_by_side(self, jobs: Sequence[Given], n_workers: int) -> None:
        from recgauge.app.sweep.side_by_side import Process, SideBySide
        from recgauge.app.sweep.watching import Watching

        def task(place: int, later: bool) -> Task:
            job = jobs[place]
            return Task(self._composed(job.words, job.number), job.key, later, self.cluster is None)

        assert self.config is not None
        sweep, words = Path(str(self.config.hydra.sweep.dir)).absolute(), sys.argv[1:]
        n_workers = min(n_workers if self.cluster is None else self.cluster.n_workers(sweep), len(jobs))
        keys = [job.key for job in jobs]
        with Watching(jobs, sweep, n_workers) as watching:
            if self.cluster is not None:
                self.cluster.run(keys, task, n_workers, words, watching)
                return
            hire = partial(Process, words, max(1, usable_cpus() // n_workers))
            told = (watching.ended, watching.urgent, watching.room, watching.begun, watching.waits)
            put_off = self._put_off(jobs, watching.say, watching.put_off)
            SideBySide(keys, task, hire, n_workers, *told, put_off, _import_for_end).run()

    def _put_off(
        self, jobs: Sequence[Given], say: Callable[[str], None], taken: Callable[[int], None]
    ) -> "PutOff":
        from recgauge.app.compose import build_tracker
        from recgauge.app.sweep.put_off import PutOff

        def tracker_of(place: int) -> "Tracker":
            config = self._composed(jobs[place].words, jobs[place].number)
            settings: Any = OmegaConf.to_container(config.tracking, resolve=True)
            return build_tracker(settings)

        return PutOff([job.folder for job in jobs], tracker_of, say, taken)

    def _given(self, words: tuple[str, ...], number: int) -> Given:
        config = self._composed(words, number)
        kind = json.dumps({name: _plain(config.get(name), resolve=False) for name in _OF_TIME}, default=str)
        return Given(words, number, Path(config.hydra.runtime.output_dir), rows_key(config), kind)

    def _composed(self, words: Sequence[str], number: int) -> DictConfig:
        """Return the configuration of a job with its place in the sweep."""
        assert self.config is not None
        assert self.hydra_context is not None
        config = self.hydra_context.config_loader.load_sweep_config(self.config, list(words))
        with open_dict(config):
            config.hydra.job.id = config.hydra.job.num = number
        with read_write(config.hydra.runtime):
            folder = Path(str(config.hydra.sweep.dir), str(config.hydra.sweep.subdir))
            config.hydra.runtime.output_dir = str(folder.absolute())
        return config


def _import_for_end() -> None:
    """Begin to import what the end of the sweep needs, which takes half a second, while a CPU is free."""

    def imports() -> None:
        with suppress(Exception):  # the end says what is wrong
            for name in _NEEDED_AT_END:
                import_module(name)

    Thread(target=imports, daemon=True, name="imports").start()


def _returned(job: Given) -> JobReturn:
    """Return what Hydra's sweeper wants of a job; how it ended is in its outcome.json."""
    ended = JobReturn(overrides=list(job.words), status=JobStatus.COMPLETED)
    ended.return_value = None
    return ended


def _plain(node: Any, *, resolve: bool) -> Any:
    return OmegaConf.to_container(node, resolve=resolve) if OmegaConf.is_config(node) else node


def rows_key(config: DictConfig) -> str:
    """Return a text that is equal for jobs whose data, split and candidates are the same.

    A job whose settings cannot be resolved has a key of its own: it says itself what is wrong.
    """
    try:
        plain = {name: _plain(config[name], resolve=True) for name in _OF_ROWS if name in config}
    except OmegaConfBaseException:
        return f"job {config.hydra.job.num}"
    return json.dumps(plain, sort_keys=True, default=str)


def grouped(keys: Sequence[str]) -> list[int]:
    """Return the positions of all keys, equal ones together, in the order in which each is first seen.

    Examples
    --------
    >>> grouped(["a", "b", "a"])
    [0, 2, 1]
    """
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    return sorted(range(len(keys)), key=lambda place: first[keys[place]])
