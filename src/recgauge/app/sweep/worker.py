"""A process that runs jobs of a sweep, one after the other, as the process of the sweep gives them out."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import sleep
from typing import NoReturn, Self

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, open_dict

from recgauge.app.places import works_for_another_machine
from recgauge.app.sweep.composing import settings_of
from recgauge.app.tracking import process
from recgauge.utils import collecting
from recgauge.utils.threads import limit_cpus

LOG = "log.txt"
"""What a job has printed; in its output folder."""
_PATIENCE = 15.0  # seconds for a run to be marked


@dataclass(frozen=True)
class Task:
    """A job as it is given out.

    Parameters
    ----------
    config : DictConfig
        Composed, with Hydra's own part.
    key : str
        Equal for jobs whose data, split and candidates are the same.
    needed_later : bool
        Whether this worker should keep them for its next job.
    tried_again : bool
        Whether whoever gives it out tries it again if it ends as "waiting"; else it waits in its worker.
    """

    config: DictConfig
    key: str
    needed_later: bool
    tried_again: bool = False

    def to_json(self) -> str:
        """Return the task in one line, its settings resolved."""
        plain = OmegaConf.to_container(self.config, resolve=True, enum_to_str=True)
        rest = {"key": self.key, "needed_later": self.needed_later, "tried_again": self.tried_again}
        return json.dumps({"config": plain, **rest})

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Read a task back, with the types of all settings."""
        from hydra.conf import HydraConf

        from recgauge.runs.settings import RunSettings

        plain = json.loads(line)
        settings = OmegaConf.structured(RunSettings)
        with open_dict(settings):  # plugins, and a job that could not be composed, have keys of their own
            settings.hydra = OmegaConf.structured(HydraConf)
            with open_dict(settings.hydra):
                config = OmegaConf.merge(settings, plain["config"])
        assert isinstance(config, DictConfig)
        return cls(config, plain["key"], plain["needed_later"], plain["tried_again"])


def serve() -> None:
    """Run the jobs that come in on standard input, and say when each is done, until there are no more.

    The first line has the words of the sweep's command line, which may hold secrets, the share of CPUs, and
    whether to end when the process dies that gives out the jobs.
    """
    collecting.pause()
    from recgauge.app.settings import register_schema
    from recgauge.app.terminal.messages import prepare_streams
    from recgauge.app.terminal.secrets import private_output

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the sweep's ends us
    signal.signal(signal.SIGTERM, _interrupted)
    asked, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull, encoding="utf-8") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)  # a component that reads its input must not get the next job
    begin = json.loads(asked.readline())
    if begin["bound"]:
        works_for_another_machine()
        Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    process.start(begin["words"], begin["pipes"])
    limit_cpus(begin["n_threads"])
    register_schema()
    prepare_streams()
    with private_output(begin["words"]):
        for line in asked:
            _run(Task.from_json(line))
            print("done", file=answers, flush=True)


def _interrupted(*_: object) -> NoReturn:
    """End the job as Ctrl-C would, once: a second signal must not end the marking of its run."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _end_with(parent: int) -> None:
    """End this process once another has died, its run marked as killed: someone else does the job anew."""
    while os.getppid() == parent:
        sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
    sleep(_PATIENCE)
    os._exit(1)


def _run(task: Task) -> None:
    from recgauge.app.main import run_job

    folder = Path(task.config.hydra.runtime.output_dir)
    with suppress(OSError):  # the job itself tells it
        folder.mkdir(parents=True, exist_ok=True)
    with _printing_to(folder / LOG if folder.is_dir() else Path(os.devnull)):
        run_here(task, run_job)


def run_here(task: Task, run_job: Callable[[DictConfig], object]) -> None:
    """Run a job in this process.

    Parameters
    ----------
    task : Task
    run_job : callable
        Called with the job's settings; `HydraConfig` has Hydra's part of them.
    """
    from recgauge.app.sweep import shared  # takes a second to import
    from recgauge.app.sweep.put_off import putting_off

    HydraConfig.instance().set_config(task.config)
    with suppress(OSError):  # the job itself tells it
        Path(task.config.hydra.runtime.output_dir).mkdir(parents=True, exist_ok=True)
    kept = shared.while_needed(task.key, needed_later=task.needed_later)
    with kept, putting_off(task.tried_again):
        run_job(settings_of(task.config))


@contextmanager
def _printing_to(path: Path) -> Iterator[None]:
    """Let everything that this process and its libraries print go to a file."""
    with path.open("ab") as file:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()


if __name__ == "__main__":
    serve()
