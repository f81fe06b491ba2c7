"""Runs the program many times from one process that has imported it: a fork each, so that none sees another.

Reads a JSON object a line: folder, arguments, environment (what to add), out and err (files), and answers
with the exit code; or, if there is `leave` in it, with the process id of the fork, left at work. A line
``{"wait": id}`` is answered with the exit code of such a fork, or null while it is at work. Most of the time
of a short run goes to imports, to numba's tables of types, to the demo data and to the tables of a new MLflow
store; here they are paid for once.
"""

import gc
import json
import os
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from typing import Any

import hydra
from hydra.core.singleton import Singleton
from numba.core.registry import cpu_target
from omegaconf import OmegaConf

import recgauge
from recgauge.app.compose import compose
from recgauge.app.main import run_command
from recgauge.app.places import conf_folder
from recgauge.app.settings import register_schema
from recgauge.app.targets import installed_options
from recgauge.app.tracking import opening
from recgauge.experiment import run_experiment

IMPORTED_LATE = (  # by runs, sweeps and their pages
    *(
        "alembic.command",
        "matplotlib.backends.backend_agg",
        "mlflow.store.tracking.sqlalchemy_store",
        "pandas",
    ),
    *("PIL.PngImagePlugin", "sqlalchemy.dialects.sqlite"),
)


def warm_up() -> None:
    """Do once what every run does alike: import, make the demo data, read settings, load machine code."""
    ours = (module.name for module in walk_packages(recgauge.__path__, "recgauge."))
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
    gc.collect()
    gc.freeze()  # a fork's collections pass over, and so do not copy, what was there before it


def exit_code(child: int, options: int = 0) -> int | None:
    """Return the exit code of a fork, None if it is still at work and `options` say not to wait."""
    ended, status = os.waitpid(child, options)
    return os.waitstatus_to_exitcode(status) if ended else None


def answer(asked: dict[str, Any]) -> int | None:
    """Do what a line asks for."""
    return exit_code(asked["wait"], os.WNOHANG) if "wait" in asked else run_in_fork(asked)


def run_in_fork(asked: dict[str, Any], prepare: Callable[[], None] = lambda: None) -> int | None:
    """Run one command in a process of its own, prepared; return its exit code, or its id if it is left."""
    child = os.fork()
    if child:
        return child if "leave" in asked else exit_code(child)
    code = 70  # of an error that run_command lets through
    try:
        os.chdir(asked["folder"])
        os.environ.update(asked["environment"])
        sys.path[:0] = filter(None, asked["environment"].get("PYTHONPATH", "").split(os.pathsep))
        for name, number in ((os.devnull, 0), (asked["out"], 1), (asked["err"], 2)):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        prepare()
        code = run_command(asked["arguments"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def make_tables_once(kept: Path) -> None:
    """Let the first new SQLite store be made by MLflow, and later ones begin with a copy of its tables."""
    create_database = opening.create_database

    def create_with_kept_tables(uri: str, create: Callable[[str], object]) -> None:
        def create_or_copy(address: str) -> None:
            path = Path(address.removeprefix("sqlite:///"))
            if kept.exists():
                shutil.copyfile(kept, path)
                return
            create(address)
            unfinished = kept.with_suffix(f".{os.getpid()}")
            shutil.copyfile(path, unfinished)
            unfinished.replace(kept)

        create_database(uri, create_or_copy)

    opening.create_database = create_with_kept_tables


if __name__ == "__main__":
    answers = os.dup(1)
    warm_up()
    with TemporaryDirectory() as folder:
        make_tables_once(Path(folder) / "mlflow.db")
        for line in sys.stdin:
            os.write(answers, f"{json.dumps(answer(json.loads(line)))}\n".encode())
