"""``python run.py``: the command line, and what becomes of errors."""

import os
import shlex
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import hydra.version
from hydra._internal.utils import _run_hydra
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from recgauge.app.files.folders import give_libraries_a_home
from recgauge.app.hydra_checks import checked_hydra, parse_words
from recgauge.app.job import run_job
from recgauge.app.settings import conf_folder, program, register_schema
from recgauge.app.sweep.callback import conclude_sweep, interrupted_sweep
from recgauge.app.terminal.explain import Choices, check_words, explain_config_error
from recgauge.app.terminal.messages import explain_os_error, print_error
from recgauge.app.terminal.secrets import private_output
from recgauge.app.terminal.streams import prepare_streams
from recgauge.errors import RecgaugeError

STOPPED = 130  # what shells return for a command that was interrupted
OWN_VARIABLES = ("RECGAUGE_MIRROR", "RECGAUGE_CACHE", "RECGAUGE_OFFLINE", "MLFLOW_TRACKING_URI")


def run_command(words: Sequence[str]) -> int:
    """Run what the words of a command line ask for and return the exit code.

    Errors that the user can fix are printed as one message on standard error; others keep their traceback.
    """
    prepare_streams()
    with private_output(words):
        return _run_command(words)


def _run_command(words: Sequence[str]) -> int:
    register_schema()
    # Hydra would print its own errors and cut ours; with this set it raises, and we print
    wants_traceback = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"
    forget_empty_variables()
    give_libraries_a_home()
    # schedulers end a job this way; it must be marked as killed like one that Ctrl-C ends
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    choices = Choices()
    try:
        check_words(words)
        asked, parser = parse_words(words)
        choices = Choices(asked.overrides, asked.config_dir)
        with checked_hydra(asked.overrides):
            hydra.version.setbase("1.3")
            _run_hydra(asked, parser, run_job, config_path=str(conf_folder()), config_name="config")
    except (HydraException, OmegaConfBaseException) as error:
        if wants_traceback:
            raise
        print_error(explain_config_error(error, choices))
        return 1
    except RecgaugeError as error:
        print_error(str(error))
        return 1
    except YAMLError as error:
        print_error(f"a file of settings cannot be read: {' '.join(str(error).split())}.")
        return 1
    except OSError as error:
        print_error(explain_os_error(error, Path("outputs")))
        return 1
    except KeyboardInterrupt as stop:
        return _stopped(stop, words)
    return 0


def _stopped(stop: KeyboardInterrupt, words: Sequence[str]) -> int:
    """Report how the run and its sweep ended; a second interruption stops this report, too."""
    told = "; ".join(["stopped", *getattr(stop, "__notes__", ())])
    print_error(f"{told}. Finished runs are kept.")
    with suppress(KeyboardInterrupt):
        if interrupted_sweep():
            conclude_sweep(stopped=True)
            again = shlex.join([*words, *([] if "reuse=true" in words else ["reuse=true"])])
            print_error(f"to go on with the sweep: {program()} {again}")
    return STOPPED


def forget_empty_variables() -> None:
    """Let a variable that is set to nothing mean the same as one that is not set."""
    for name in OWN_VARIABLES:
        if os.environ.get(name) == "":
            del os.environ[name]
