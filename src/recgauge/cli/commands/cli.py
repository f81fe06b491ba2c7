"""The ``recgauge`` command: ``run`` as ``python run.py`` does, data, experiments, and looks at results."""

import argparse
import os
import shlex
import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

from recgauge._version import __version__
from recgauge.errors import RecgaugeError, did_you_mean
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
EXAMPLES: Mapping[str, Mapping[str, str]] = {
    "ui": {"": "the runs of the current folder", "--port 8080": "on another port"},
    "runs": {
        "--metrics ndcg@10,recall@20 --last 5": "the newest five",
        "--where \"params.model = 'svd' and metrics.ndcg@10 > 0.1\"": "a search",
    },
    "show": {"RUN_ID": "a tracked run", "outputs/2026-01-01/12-00-00": "a run's folder"},
    "experiments": {"": "what there is, and what can run here", "--run": "run all of these"},
    "compare": {
        "--metrics ndcg@10,recall@10": "the runs of the MLflow experiment",
        "outputs/2026-01-01/12-00-00 --out table.tex": "a sweep, as a table for a paper",
    },
    "check": {
        "--candidate new.csv --baseline old.csv --truth test.csv": "two files of lists",
        "--candidate RUN_ID --baseline RUN_ID --rules check.yaml": "two runs, by your rules",
    },
    "segments": {
        "outputs/2026-01-01/12-00-00 --by activity": "users by their training rows",
        "outputs/2026-01-01/12-00-00 --by plan --users users.csv": "by a column of yours",
    },
    "stability": {
        "outputs/2026-01-01/12-00-00": "the runs of a sweep",
        "outputs/2026-01-01/12-00-00 --metric recall@20": "by another metric",
    },
    "report": {
        "outputs/2026-01-01/12-00-00": "a sweep's report.html",
        "--where \"params.dataset = 'ml_1m'\" --out ml_1m.html": "tracked runs",
    },
    "evaluate": {
        "--run lists.csv --truth test.csv --metrics ndcg@10": "a file of user,item,score",
        "--run a.csv b.csv --truth test.csv --train train.csv": "two, with their training rows",
    },
    "conventions": {"": "all names", "recbole": "what RecBole computes", "RUN_ID": "a run under each"},
    "recommend": {
        "RUN_ID --users 1,2,3": "ten items for three users",
        "RUN_ID --users all --k 20 --out lists.csv": "lists of all users",
    },
    "export": {
        "RUN_ID --as csv --out folder": "lists, training and test rows",
        "RUN_ID --as trec ranx --out folder": "for other tools",
    },
    "package": {
        "outputs/2026-01-01/12-00-00 --out runs.zip": "a sweep",
        "experiment=baselines --out baselines.zip": "the runs of an experiment",
    },
    "verify": {"RUN_ID": "run it again, compare", "runs.zip": "a package: judge its lists again"},
    "data": {
        "look ratings.csv": "what your file is taken for, and the command to copy",
        "card ml_100k split=random_per_user": "what is in a data set",
    },
    "sync": {"": "all runs that wait", "outputs/2026-01-01/12-00-00 --list": "what would be tracked"},
}
"""Words of each command, and what they do."""
MODULES = {"show": "runs", "sync": "runs", "report": "compare", "stability": "segments", "package": "export"}
"""Modules with commands that are not their name. A command is ``add_NAME_options`` and ``run_NAME``."""

STOPPED = 130
"""Exit code after Ctrl-C, as shells count it."""


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand and return the exit code.

    Only the module of the subcommand is imported, so that each begins as soon as it can.
    """
    words = sys.argv[1:] if arguments is None else arguments
    give_libraries_a_home()
    if "_ARGCOMPLETE" in os.environ:  # the shell asks, by the environment, as argcomplete has it
        from recgauge.cli.completion import complete

        return complete(COMMANDS, command_module)
    if words[:1] == ["run"]:
        try:
            from recgauge.cli.main import command_line
        except KeyboardInterrupt:  # while libraries are imported
            print_error("stopped.")
            return STOPPED
        return command_line(words=words[1:])
    with private_output(words):
        if not words:
            _parser().print_help()
            return 0
        if words[0] not in COMMANDS:
            parser = _parser()
            parser.parse_known_args(words)  # ends with help or the version
            parser.error(_unknown(words[0], words))
        return _carry_out(words[0], words[1:])


def command_module(command: str) -> ModuleType:
    """Return the module of a subcommand, with its ``add_NAME_options`` and ``run_NAME``."""
    return import_module(f"{__package__}.{MODULES.get(command, command)}")


def _parser() -> argparse.ArgumentParser:
    """Return the parser of a command line that begins with no command."""
    width = max(map(len, COMMANDS)) + 2
    groups = (
        "\n".join([title, *(f"  {name:{width}}{text}" for name, text in group.items())])
        for title, group in GROUPS.items()
    )
    parser = argparse.ArgumentParser(
        prog="recgauge",
        usage="recgauge COMMAND ...",
        description="Evaluate recommender systems.",
        epilog="\n\n".join([*groups, "`recgauge COMMAND --help` says more."]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"recgauge {__version__}")
    return parser


def _unknown(word: str, words: list[str]) -> str:
    """Return the message for a first word that is no command."""
    if "=" in word or word in ("-m", "--multirun", "--plan", "--cfg"):
        return f"{word}: settings belong to a command. Write recgauge run {shlex.join(words)}."
    if word.startswith("-"):
        return f"{word}: a command comes first. Commands: {', '.join(COMMANDS)}."
    return f"{word}: there is no such command. {did_you_mean(word, COMMANDS)}Commands: {', '.join(COMMANDS)}."


def _carry_out(command: str, words: list[str]) -> int:
    """Run a subcommand; the user's errors come as one message."""
    try:
        refuse_numba_file()
    except RecgaugeError as error:
        print_error(str(error))
        return 1
    module = command_module(command)
    parser = argparse.ArgumentParser(
        prog=f"recgauge {command}",
        description=COMMANDS[command],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    getattr(module, f"add_{command}_options")(parser)
    lines = (f"  recgauge {command} {example}\n      {text}" for example, text in EXAMPLES[command].items())
    parser.epilog = "\n".join(["examples:", *lines, *(["", parser.epilog] if parser.epilog else [])])
    options, rest = parser.parse_known_args(words)
    if rest:  # settings may also follow an option, which argparse does not allow
        if not hasattr(options, "overrides") or any(word.startswith("-") for word in rest):
            parser.error(f"unrecognized arguments: {' '.join(rest)}")
        options.overrides += rest
    try:
        return int(getattr(module, f"run_{command}")(options) or 0)
    except KeyboardInterrupt:
        print_error("stopped.")
        return STOPPED
    except Exception as error:
        if (reason := explain_error(error)) is None:
            raise
        print_error(reason)
        return 1
