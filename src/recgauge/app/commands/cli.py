"""The ``recgauge`` command: ``run`` as ``python run.py`` does, data, experiments, and looks at results."""

import argparse
import sys
from collections.abc import Mapping
from importlib import import_module

from recgauge._version import __version__
from recgauge.app.places import give_libraries_a_home
from recgauge.app.terminal.messages import prepare_streams, print_error
from recgauge.app.terminal.secrets import private_output
from recgauge.errors import RecgaugeError
from recgauge.utils import collecting

COMMANDS: Mapping[str, str] = {
    "run": "train and evaluate; `recgauge run --help` lists groups and options",
    "ui": "open the tracked results in a browser",
    "evaluate": "measure and compare lists from files: CSV, TSV, parquet, JSON lines, TREC runs",
    "compare": "which run is better, by how much, how sure: intervals, paired tests, tables",
    "report": "one page that shows the comparison: tables, figures, who gains, protocol, citations",
    "runs": "list the runs of a tracking store, or delete some with their files",
    "show": "print the tables of stored runs again",
    "sync": "track runs that are complete on disk, and that their tracking store did not take",
    "verify": "repeat a stored run, and compare every number, list and row",
    "conventions": "what each convention means; a run's lists under all of them",
    "stability": "does the order of models stay?",
    "segments": "who gains and who loses",
    "export": "a run's lists and rows as files of other tools",
    "recommend": "lists of the model that a run has saved",
    "data": "list, fetch, verify and describe data sets",
    "env": "environments of other libraries, RecBole, LensKit and RecTools: make, list, remove",
    "experiments": "list the experiments, or run all of them",
}
"""Every subcommand; the module of its name in this folder has its `add_options` and `carry_out`."""

STOPPED = 130
"""Exit code after Ctrl-C, as shells count it."""


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand and return the exit code.

    Only the module of the subcommand is imported, so that each begins as soon as it can.

    Parameters
    ----------
    arguments : list of str, optional
        Default: the command line's.
    """
    if arguments is None:  # the process is this command's
        collecting.pause()
    prepare_streams()
    words = sys.argv[1:] if arguments is None else arguments
    give_libraries_a_home()
    if words[:1] == ["run"]:
        try:
            from recgauge.app.tracking import process

            process.start(words[1:])
            from recgauge.app.main import run_command
        except KeyboardInterrupt:  # while libraries are imported
            print_error("stopped.")
            return STOPPED
        return run_command(words[1:])
    with private_output(words):
        if not words or words[0] not in COMMANDS:
            _parser().parse_args(words)  # ends with help or an error
        return _carry_out(words[0], words[1:])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="recgauge", description="Evaluate recommender systems.")
    parser.add_argument("--version", action="version", version=f"recgauge {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in COMMANDS.items():
        commands.add_parser(name, help=text, add_help=False)
    return parser


def _carry_out(command: str, words: list[str]) -> int:
    """Run a subcommand; the user's errors come as one message."""
    module = import_module(f"{__package__}.{command}")
    parser = argparse.ArgumentParser(prog=f"recgauge {command}", description=COMMANDS[command])
    module.add_options(parser)
    asked = _parse_words(parser, words)
    collecting.go_on()
    try:
        return int(module.carry_out(asked) or 0)
    except RecgaugeError as error:
        print_error(str(error))
        return 1
    except KeyboardInterrupt:
        print_error("stopped.")
        return STOPPED


def _parse_words(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Parse a command line on which settings may also follow an option, which argparse does not allow."""
    asked, rest = parser.parse_known_args(words)
    if rest and (not hasattr(asked, "overrides") or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        asked.overrides += rest
    return asked
