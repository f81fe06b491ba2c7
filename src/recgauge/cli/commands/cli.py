"""The ``recgauge`` command: ``run`` as ``python run.py`` does, data, experiments, and looks at results."""

import argparse
import inspect
import os
import re
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from textwrap import indent
from types import ModuleType
from typing import Any, NoReturn

from recgauge._version import __version__
from recgauge.errors import ConfigError, did_you_mean, listed, nearest
from recgauge.sweeps.places import give_libraries_a_home
from recgauge.utils.current_folder import refuse_numba_file
from recgauge.utils.messages import explain_error, print_error
from recgauge.utils.secrets import private_output

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Run, and look at runs": {
        "run": "train and evaluate; `recgauge run --help` shows what to choose",
        "ui": "tracked runs in a browser",
        "runs": "list tracked runs",
        "show": "print the tables of stored runs again",
        "experiments": "list the experiments, or run all of them",
    },
    "Judge and compare lists": {
        "compare": "which run is better, by how much, how sure",
        "check": "may this run replace that one, by rules; for CI",
        "segments": "who gains and who loses",
        "stability": "whether the order of models stays",
        "report": "one page that shows the comparison",
        "evaluate": "measure and compare lists from files",
        "conventions": "what other libraries call these numbers",
        "recommend": "lists of a model that a run has saved",
        "export": "a run's lists and rows as files of other tools",
        "package": "one zip of runs for a paper, with what it takes to check them",
        "verify": "repeat a run, or judge a package again, and compare every number",
    },
    "Manage data and stores": {
        "data": "list, fetch, verify and describe data sets",
        "sync": "track complete runs that their store did not take",
    },
}
COMMANDS: Mapping[str, str] = {name: text for group in GROUPS.values() for name, text in group.items()}
MODULES = {"show": "runs", "sync": "runs", "report": "compare", "stability": "segments", "package": "export"}
"""Modules with commands that are not their name. A command is ``add_NAME_options`` and ``run_NAME``, whose
docstring ends with its examples."""

STOPPED = 130
"""Exit code after Ctrl-C, as shells count it."""


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are one message, with what to type instead."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and an example, and exit with 2."""
        example = re.search(r"^  (recgauge .*?)(?:  +#.*)?$", self.epilog or "", re.MULTILINE)
        shown = f" Example: {example[1].rstrip()}." if example else ""
        print_error(f"{self.prog}: {message.rstrip('.')}.{shown} `{self.prog} --help` says more.")
        raise SystemExit(2)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Refuse an option that does not exist before one that is missing: it may be a wrong name of that."""
        actions = self.get_default("actions")
        if actions and args and not args[0].startswith("-") and args[0] not in actions:
            hint = did_you_mean(args[0], actions)
            self.error(f"{args[0]}: there is no such command. {hint}Commands: {listed(actions)}")
        names = self.get_default("option_names")
        words = takewhile("--".__ne__, args or () if names else ())
        typed = [word.partition("=")[0] for word in words if word.startswith("--") and " " not in word]
        if unknown := next((name for name in typed if name not in names), None):
            needed = [name for name in re.findall(r"--[\w-]+", self.usage or "") if name not in typed]
            near = nearest(unknown, names)
            hint = f"; needed: {', '.join(needed)}" if needed else f"; nearest: {near}" if near else ""
            if unknown == "--cutoffs" and "--metrics" in names:
                hint = "; a metric has its own: --metrics ndcg@5,ndcg@10"
            self.error(f"there is no option {unknown}{hint}")
        return super().parse_known_args(args, namespace)


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand and return the exit code.

    Only the module of the subcommand is imported, so that each begins as soon as it can.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    give_libraries_a_home()
    if "_ARGCOMPLETE" in os.environ:  # the shell asks by the environment, as argcomplete has it
        from argcomplete import autocomplete

        autocomplete(_parser(COMMANDS))
    if words[:1] == ["run"]:
        from recgauge.cli.main import command_line

        return command_line(words=words[1:])
    with private_output(words):
        parser = _parser(words[:1])
        if words in ([], ["--help"]):
            parser.print_help()
            return 0
        if words[0] not in (*COMMANDS, "-h", "--help", "--version"):
            parser.error(_unknown(words[0], words))
        return _carry_out(parser, words)


def command_module(command: str) -> ModuleType:
    """Return the module of a subcommand, with its ``add_NAME_options`` and ``run_NAME``."""
    return import_module(f"{__package__}.{MODULES.get(command, command)}")


def _parser(chosen: Collection[str]) -> argparse.ArgumentParser:
    """Return the parser of all commands, with the options and examples of those that are chosen."""
    width = max(map(len, COMMANDS)) + 2
    groups = (
        "\n".join([title, *(f"  {name:{width}}{text}" for name, text in group.items())])
        for title, group in GROUPS.items()
    )
    form: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    epilog = "\n\n".join(
        [*groups, "`recgauge COMMAND --help` says more. Shells complete commands: docs/install.md."]
    )
    parser = CommandParser(
        "recgauge", "recgauge COMMAND ...", "Evaluate recommender systems.", epilog, **form
    )
    parser.add_argument("--version", action="version", version=f"recgauge {__version__}")
    commands = parser.add_subparsers(prog="recgauge", dest="command", help=argparse.SUPPRESS)
    for name, text in COMMANDS.items():
        options = commands.add_parser(name, help=text, description=text, **form)
        if name in chosen:
            _add_options(name, options)
    return parser


def _add_options(command: str, options: argparse.ArgumentParser) -> None:
    if command == "run":  # which Hydra reads; here for shells
        from recgauge.cli.completion import settings

        words: Any = options.add_argument("words", nargs="*")
        words.completer = settings
        return
    module = command_module(command)
    getattr(module, f"add_{command}_options")(options)
    examples = str(inspect.getdoc(getattr(module, f"run_{command}"))).partition("--------\n")[2]
    if command != "data":  # whose options are those of its own commands
        options.set_defaults(option_names=re.findall(r"--[\w-]+", options.format_help()))
    options.epilog = f"examples:\n{indent(examples, '  ')}\n\n{options.epilog or ''}"


def _unknown(word: str, words: list[str]) -> str:
    """Return the message for a first word that is no command."""
    if "=" in word or word in ("-m", "--multirun", "--plan", "--cfg"):
        return f"{word}: settings belong to a command. Write recgauge run {shlex.join(words)}."
    if word.startswith("-"):
        likely = "Did you mean --version? " if word in ("-v", "-V") else ""
        return f"{word}: a command comes first. {likely}Commands: {', '.join(COMMANDS)}."
    return f"{word}: there is no such command. {did_you_mean(word, COMMANDS)}Commands: {', '.join(COMMANDS)}."


def _needless(word: str, words: list[str]) -> str:
    """Return the message for a word that belongs to no option of a command."""
    if word.startswith("-"):
        return f"recgauge {words[0]} {word}: there is no such option."
    *_, option, name = ["", "", *words[: words.index(word)]]
    names = option in ("--metrics", "--by", "--over", "--tests")
    remedy = f" Several names are one text: {option} {name},{word}." if names else ""
    return f"{word}: belongs to no option.{remedy}"


def _carry_out(parser: argparse.ArgumentParser, words: list[str]) -> int:
    """Run a subcommand; the user's errors come as one message."""
    try:
        refuse_numba_file()
        options, rest = parser.parse_known_args(words)
        if rest:
            raise ConfigError(f"{_needless(rest[0], words)} `recgauge {words[0]} --help` lists the options.")
        run = getattr(command_module(options.command), f"run_{options.command}")
        return int(run(options) or 0)
    except KeyboardInterrupt:
        print_error("stopped.")
        return STOPPED
    except Exception as error:
        if (reason := explain_error(error)) is None:
            raise
        print_error(reason)
        return 1
