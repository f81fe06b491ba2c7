"""``recgauge env``: environments of libraries that cannot be installed beside recgauge."""

import argparse

from recgauge.cli.commands.options import say
from recgauge.isolated import (
    LIBRARIES,
    Environment,
    environments_folder,
    look_for,
    make_environment,
    remove_environment,
)
from recgauge.report.blocks import TableBlock
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.sweeps.places import program
from recgauge.utils.resources import in_units

_EXAMPLE = "then: recgauge run model=NAME"


def add_env_options(parser: argparse.ArgumentParser) -> None:
    """Add ``make``, ``list`` and ``remove``."""
    commands = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    known = ", ".join(LIBRARIES)
    for what, text in (
        ("make", f"install a library in an environment of its own, in the cache folder; {_EXAMPLE}"),
        ("list", "every library: is its environment there, its versions, its size"),
        ("remove", "delete the environment of a library"),
    ):
        command = commands.add_parser(what, help=text, description=text)
        if what != "list":
            command.add_argument("name", metavar="NAME", help=f"one of {known}")
        if what == "make":
            command.add_argument("--python", metavar="PATH", help="interpreter (default: the one that runs)")
            command.add_argument("--again", action="store_true", help="make it anew even if it is there")


def run_env(options: argparse.Namespace) -> None:
    """Do what the command line asks."""
    if options.what == "list":
        _list()
    elif options.what == "remove":
        folder = remove_environment(options.name, ConsoleProgress())
        say(f"removed  {folder}")
    else:
        _make(options)


def _make(options: argparse.Namespace) -> None:
    environment, made = make_environment(
        options.name, ConsoleProgress(), python=options.python, again=options.again
    )
    if not made:
        say("it is there already; --again makes it anew")
    say(f"ready    {_versions(environment)}")
    say(f"files    {environment.folder}")
    say(f"next     {program()} model={options.name}")


def _list() -> None:
    rows = []
    for name in LIBRARIES:
        if environment := look_for(name):
            files = (path for path in environment.folder.rglob("*") if not path.is_symlink())
            size = in_units(sum(path.lstat().st_size for path in files))
            rows.append((name, "yes", size, _versions(environment)))
        else:
            rows.append((name, "no", "", f"recgauge env make {name}"))
    header = ("library", "here", "size", "versions")
    render_terminal([TableBlock("", header, tuple(rows), words=header)], output())
    say(f"\nfolder   {environments_folder()}")


def _versions(environment: Environment) -> str:
    return ", ".join(f"{name} {version}" for name, version in environment.versions().items())
