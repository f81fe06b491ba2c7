"""``python run.py`` and ``recgauge run``: words become settings, settings a run, an error one line."""

import atexit
import gc
import os
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from recgauge.cli.explain import explain_config_error
from recgauge.cli.settings import register_schema, set_output_folder
from recgauge.cli.words import CommandLine
from recgauge.errors import RecgaugeError
from recgauge.sweeps.places import conf_folder, give_libraries_a_home, program
from recgauge.utils.current_folder import refuse_numba_file
from recgauge.utils.messages import explain_error, print_error
from recgauge.utils.secrets import private_output

STOPPED = 130
"""Exit code after Ctrl-C, as shells count it."""


@hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name="config")
def main(config: DictConfig) -> None:
    """Run one job: the program of ``recgauge run``, as run.py is one."""
    run(config)


def run(config: DictConfig) -> None:
    """Run one job by its composed settings, Hydra's among them; SystemExit if it fails, after its message."""
    from recgauge.cli.launching import run_alone  # takes a second to import, which `--help` need not wait for

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


def command_line(
    hydra_main: Callable[..., None] = main,
    words: Sequence[str] | None = None,
    on_error: Callable[[Exception], object] | None = None,
) -> int:
    """Carry out a command line with a function that `hydra.main` decorates; return the exit code.

    Errors that the user can mend are printed as one message on standard error and passed to `on_error`;
    others keep their traceback.
    """
    words = sys.argv[1:] if words is None else list(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # schedulers end a job this way
    atexit.register(gc.freeze)  # a last collection would take a fifth of a short run
    command = CommandLine({}, ())
    with private_output(words):
        try:
            refuse_numba_file()
            give_libraries_a_home()
            register_schema()
            command = CommandLine.read(words)
            _start(hydra_main, command)
        except KeyboardInterrupt:
            resumed = [word for word in words if not word.startswith(("reuse=", "force="))] + ["reuse=true"]
            print_error(f"stopped. Finished runs are kept. To go on: {program()} {shlex.join(resumed)}")
            return STOPPED
        except (HydraException, OmegaConfBaseException, YAMLError) as error:
            if os.environ.get("HYDRA_FULL_ERROR") == "1":
                raise
            print_error(explain_config_error(error, command.overrides, command.compose))
            return 1
        except Exception as error:
            if (reason := explain_error(error, Path("outputs"))) is None:
                raise
            print_error(reason)
            if on_error is not None:
                on_error(error)
            return 1
    return 0


def _start(hydra_main: Callable[..., None], command: CommandLine) -> None:
    """Run one job or a sweep, show help, or let Hydra show settings and the like."""
    if "help" in command.options:
        from recgauge.cli.help import run_help

        sys.stdout.write(f"{run_help(command.overrides, command.options.get('config_dir'))}\n")
        return
    config = OmegaConf.create() if "version" in command.options else command.composed()
    if command.shows:
        if "resolve" in command.options:
            _check_references(config)
        sys.argv[1:] = command.for_hydra()
        hydra_main()
    elif config.hydra.mode == RunMode.MULTIRUN:
        from recgauge.cli.launching import start_sweep

        start_sweep(config)
    else:
        hydra_main(config)


def _check_references(config: DictConfig) -> None:
    """Resolve all settings but Hydra's, whose own message on a wrong reference is a traceback."""
    HydraConfig.instance().set_config(config)
    for name in config:
        if name != "hydra" and OmegaConf.is_config(config[name]):
            OmegaConf.to_container(config[name], resolve=True)
