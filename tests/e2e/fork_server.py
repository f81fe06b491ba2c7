"""Runs the program many times from one process that has imported it: a fork each, so that none sees another.

Reads a JSON object a line: folder, arguments, environment (what to add), out and err (files), and answers
with the exit code; or, if there is `leave` in it, with the process id of the fork, left at work. A line
``{"wait": id}`` is answered with the exit code of such a fork, or null while it is at work. With ``"kill_at":
number`` the run kills itself just before the rename with that number, as a power cut would; the file named
by `renames` has a byte for each. Most of the time of a short run goes to imports, to numba's tables of types
and to the demo data; here they are paid for once.
The process that delivers runs to MLflow and the workers of sweeps are forks, too: what they import takes as
long as a run. A new SQLite store is a copy of one that was made before the first run. Runs that
are started as a user starts them (`run_fresh`) have the real processes and make their own store, as do runs
that kill themselves.
"""

import gc
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from typing import Any

import hydra
from hydra.core.singleton import Singleton
from loky.backend.context import set_start_method
from numba.core.registry import cpu_target
from omegaconf import OmegaConf

import recgauge
from recgauge.cli.main import command_line
from recgauge.cli.settings import register_schema
from recgauge.experiment import run_experiment
from recgauge.runs.targets import installed_options
from recgauge.sweeps.compose import compose
from recgauge.sweeps.places import conf_folder, work_folder
from recgauge.tracking import store as tracking_store
from recgauge.tracking.store import MLFLOW_DEFAULTS

IMPORTED_LATE = (
    "matplotlib.backends.backend_agg",
    "mlflow.store.tracking.sqlalchemy_store",
    "pandas",
    "PIL.PngImagePlugin",
)  # by runs, sweeps and pages


def warm_up() -> None:
    """Do once what every run does alike: import, make the demo data, read settings, load machine code."""
    ours = (module.name for module in walk_packages(recgauge.__path__, "recgauge."))
    for name in MLFLOW_DEFAULTS.keys() - os.environ.keys():
        os.environ[name] = MLFLOW_DEFAULTS[name]  # MLflow reads some when it is imported
    for name in (*ours, *IMPORTED_LATE):
        if not name.endswith("__main__"):
            import_module(name)
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    unused = Singleton.get_state()
    register_schema()
    with hydra.initialize_config_dir(str(conf_folder()), version_base="1.3"):
        settings = hydra.compose("config", overrides=["model=popularity"])
    run_experiment(compose(OmegaConf.to_object(settings)))
    Singleton.set_state(unused)  # each run looks for plugins and packages with options on its own path
    installed_options.cache_clear()
    work_folder.cache_clear()
    gc.collect()
    gc.freeze()  # a fork's collections pass over, and so do not copy, what was there before it


def make_store(file: Path) -> None:
    """Make an empty store in a fork: no run inherits a connection to it."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    try:
        tracking_store._create(file)
    finally:
        os._exit(0)


def copy_store(empty: Path, file: Path) -> None:
    """Put a copy of an empty store where there is none."""
    if not file.is_file() or not file.stat().st_size:
        hidden = file.with_name(f".{file.name}.unfinished")
        shutil.copy(empty, hidden)
        hidden.replace(file)


def exit_code(child: int, options: int = 0) -> int | None:
    """Return the exit code of a fork, None if it is still at work and `options` say not to wait."""
    ended, status = os.waitpid(child, options)
    return os.waitstatus_to_exitcode(status) if ended else None


RENAMES = ("replace", "rename", "link")


def watch_renames(counted: Path, fatal: int) -> None:
    """Let this process and its forks count renames in a file, one byte each, and die just before one."""
    for name in RENAMES:
        setattr(os, name, watched(getattr(os, name), counted, fatal))


def watched(function: Callable[..., Any], counted: Path, fatal: int) -> Callable[..., Any]:
    def count_first(*arguments: Any, **options: Any) -> Any:
        with counted.open("ab") as file:
            file.write(b".")
        if counted.stat().st_size == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)

    return count_first


def answer(request: dict[str, Any], store: Path) -> object:
    """Do what a line asks for; `store` is an empty one."""
    if "wait" in request:
        return exit_code(request["wait"], os.WNOHANG)
    if "kill_at" in request:
        return run_in_fork(request, partial(watch_renames, Path(request["renames"]), request["kill_at"]))
    return run_in_fork(request, lambda: setattr(tracking_store, "_create", partial(copy_store, store)))


def run_in_fork(request: dict[str, Any], prepare: Callable[[], None]) -> int | None:
    """Run one command in a process of its own, prepared; return its exit code, or its id if it is left."""
    child = os.fork()
    if child:
        return child if "leave" in request else exit_code(child)
    code = 70  # of an error that command_line lets through
    try:
        os.chdir(request["folder"])
        os.environ.update(request["environment"])
        sys.path[:0] = filter(None, request["environment"].get("PYTHONPATH", "").split(os.pathsep))
        for name, number in ((os.devnull, 0), (request["out"], 1), (request["err"], 2)):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        prepare()
        code = command_line(words=request["arguments"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    answers = os.dup(1)
    set_start_method("fork")
    warm_up()
    with TemporaryDirectory() as folder:
        empty = Path(folder) / "mlflow.db"
        make_store(empty)
        for line in sys.stdin:
            os.write(answers, f"{json.dumps(answer(json.loads(line), empty))}\n".encode())
