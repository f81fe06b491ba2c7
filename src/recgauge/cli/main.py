"""``python run.py`` and ``recgauge run``: words become settings, settings a run, an error one line."""

import os
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import hydra
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from recgauge.cli.explain import explain_config_error
from recgauge.cli.settings import register_schema, set_output_folder
from recgauge.cli.words import Words
from recgauge.errors import RecgaugeError
from recgauge.sweeps.places import conf_folder, forget_empty_variables, give_libraries_a_home, program
from recgauge.tracking.outbox import delivering
from recgauge.utils.current_folder import refuse_numba_file
from recgauge.utils.lazy import resume_collecting
from recgauge.utils.messages import explain_error, print_error
from recgauge.utils.secrets import private_output

STOPPED = 130
"""Exit code after Ctrl-C, as shells count it."""


@hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name="config")
def main(config: DictConfig) -> None:
    """Run one job: what ``recgauge run`` gives to Hydra, as run.py does."""
    run(config)


def run(config: DictConfig) -> None:
    """Run one job by its composed settings, Hydra's among them; SystemExit if it fails, after its message."""
    from recgauge.cli.launching import run_alone  # takes a second to import, which `--help` need not wait for

    resume_collecting()
    folder = set_output_folder(config)
    try:
        if not config.plan:
            folder.mkdir(parents=True, exist_ok=True)
        if config.hydra.job.chdir:
            os.chdir(folder)
            refuse_numba_file()
        if not run_alone(config):
            raise SystemExit(1)
    except (RecgaugeError, OSError) as error:
        print_error(str(explain_error(error, folder)))
        raise SystemExit(1) from error


def command_line(hydra_main: Callable[..., None] = main, words: Sequence[str] | None = None) -> int:
    """Do what a command line says by a function that `hydra.main` decorates; return the exit code.

    Errors that the user can mend are printed as one message on standard error; others keep their traceback.
    """
    words = sys.argv[1:] if words is None else list(words)
    # Hydra would print its own errors and cut ours; with this set it raises, and we print
    wants_traceback = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # schedulers end a job this way
    command = Words({}, ())
    with private_output(words):
        try:
            refuse_numba_file()
            forget_empty_variables()
            give_libraries_a_home()
            register_schema()
            command = Words.read(words)
            if command.runs and "tracking=off" not in words:
                delivering()  # takes two seconds to import MLflow, beside all that follows
            _start(hydra_main, command)
        except KeyboardInterrupt:
            again = [word for word in words if not word.startswith(("reuse=", "force="))]
            print_error(
                f"stopped. Finished runs are kept. To go on: {program()} {shlex.join([*again, 'reuse=true'])}"
            )
            return STOPPED
        except (HydraException, OmegaConfBaseException) as error:
            if wants_traceback:
                raise
            print_error(explain_config_error(error, command.overrides, command.compose))
            return 1
        except YAMLError as error:
            print_error(f"a file of settings cannot be read: {' '.join(str(error).split())}.")
            return 1
        except Exception as error:
            if (reason := explain_error(error, Path("outputs"))) is None:
                raise
            print_error(reason)
            return 1
    return 0


def _start(hydra_main: Callable[..., None], command: Words) -> None:
    """Run one job, or let Hydra start a sweep, show help, settings and the like."""
    if not {"version", "shell_completion"} & set(command.options):
        config = command.composed()
        if command.is_single(config):
            hydra_main(config)
            return
    with TemporaryDirectory() as nowhere:
        # Hydra makes the output folder before anything else
        more = [f"hydra.sweep.dir={nowhere}"] if command.plan else []
        sys.argv[1:] = command.for_hydra(more)
        hydra_main()
