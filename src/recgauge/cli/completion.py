"""Commands, options and settings that a shell completes, by argcomplete."""

import argparse
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from argcomplete import autocomplete

from recgauge.cli.explain import group_options
from recgauge.sweeps.places import conf_folder


def complete(texts: Mapping[str, str], module: Callable[[str], ModuleType]) -> int:
    """Answer the shell's question, which is in the environment, by each command's text and module."""
    parser = argparse.ArgumentParser(prog="recgauge")
    commands = parser.add_subparsers()
    for name, text in texts.items():
        options = commands.add_parser(name, help=text)
        if name == "run":
            words: Any = options.add_argument("words", nargs="*")
            words.completer = _settings
        else:
            getattr(module(name), f"add_{name}_options")(options)
    autocomplete(parser)
    return 0


def _settings(prefix: str, **_: object) -> list[str]:
    """Return what may follow in a run: groups, and the options of the group that is typed."""
    group, equals, _name = prefix.partition("=")
    if equals:
        return [f"{group}={option}" for option in group_options(group)]
    return [f"{folder.name}=" for folder in conf_folder().iterdir() if folder.is_dir()]
