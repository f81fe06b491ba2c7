"""``python run.py`` and ``recgauge run``: words become settings, settings a run, an error one line."""

import atexit
import gc
import shlex
import signal
import sys
from collections.abc import Callable, Sequence

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from recgauge._version import __version__
from recgauge.cli.explain import explained
from recgauge.cli.settings import output_folder, register_schema
from recgauge.cli.words import CommandLine
from recgauge.sweeps.places import give_libraries_a_home, program
from recgauge.utils.current_folder import refuse_numba_file
from recgauge.utils.messages import explain_error, print_error
from recgauge.utils.secrets import private_output

STOPPED = 130
"""Exit code after Ctrl-C, as shells count it."""


def command_line(
    words: Sequence[str] | None = None, on_error: Callable[[Exception], object] | None = None
) -> int:
    """Carry out the command line of a run or a sweep; return the exit code.

    Errors that the user can mend are printed as one message on standard error and passed to `on_error`;
    others keep their traceback.
    """
    words = sys.argv[1:] if words is None else list(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # schedulers end a job this way
    atexit.register(gc.freeze)  # a last collection would take a fifth of a short run
    with private_output(words):
        try:
            refuse_numba_file()
            give_libraries_a_home()
            register_schema()
            return _start(CommandLine.read(words))
        except KeyboardInterrupt:
            resumed = [word for word in words if not word.startswith(("reuse=", "force="))] + ["reuse=true"]
            print_error(f"stopped. Finished runs are kept. To go on: {program()} {shlex.join(resumed)}")
            return STOPPED
        except Exception as error:
            if (reason := explain_error(error)) is None:
                raise
            print_error(reason)
            if on_error is not None:
                on_error(error)
            return 1


def _start(command: CommandLine) -> int:
    """Run one job or a sweep, or show help, the version or settings; return the exit code."""
    options = command.options
    if options["help"]:
        from recgauge.cli.help import run_help

        print(run_help(command.overrides, options["config_dir"]))  # noqa: T201 - the command's own output
        return 0
    if options["version"]:
        print(f"recgauge {__version__}")  # noqa: T201 - ditto
        return 0
    config = command.composed()
    if options["cfg"]:
        print(_shown(config, resolve=options["resolve"]), end="")  # noqa: T201 - ditto
        return 0
    from recgauge.cli.launching import run_alone, start_sweep  # take a second to import

    if config.hydra.mode == RunMode.MULTIRUN:
        start_sweep(config, command.parsed)
        return 0
    with output_folder(config):
        return int(not run_alone(config, command.parsed))


def _shown(config: DictConfig, *, resolve: bool) -> str:
    """Return all settings but Hydra's as YAML."""
    HydraConfig.instance().set_config(config)  # settings may refer to it
    with explained(), read_write(config), open_dict(config):
        config.pop("hydra")
        return OmegaConf.to_yaml(config, resolve=resolve)
