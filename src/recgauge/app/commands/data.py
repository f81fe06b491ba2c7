"""``recgauge data``: which data sets there are, where they are, whether they are right, what is in them."""

import argparse
from pathlib import Path

_OVERRIDES = "settings as of a run, such as data.mirror=FOLDER or dataset.archive=FILE"
_CARD = "also split=random, filters=[n_core], dataset.path=ratings.csv, seed=1"


def add_data_commands(parser: argparse.ArgumentParser) -> None:
    """Add ``list``, ``fetch``, ``verify`` and ``card``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of ``recgauge data``.
    """
    commands = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for what, text in (
        ("list", "every data set: size, terms, whether its archive is here"),
        ("fetch", "get an archive into the cache folder, verified"),
        ("verify", "check the archive that is here; exit code 1 if it is wrong"),
        ("card", "what is in a data set: counts, ratings, popularity, time, train against test"),
    ):
        command = commands.add_parser(what, help=text, description=text)
        if what != "list":
            command.add_argument("name", metavar="NAME", help="data set, as `recgauge data list` shows")
        overrides = f"{_OVERRIDES}; {_CARD}" if what == "card" else _OVERRIDES
        command.add_argument("overrides", metavar="KEY=VALUE", nargs="*", default=[], help=overrides)
        if what == "card":
            command.add_argument(
                "--out", metavar="FOLDER", type=Path, help="write data_card.md and figures, too"
            )


def parse_words(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Parse a command line on which settings may also follow an option, which argparse does not allow.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of ``recgauge``.
    words : list of str

    Raises
    ------
    SystemExit
        If there are words that nobody takes.
    """
    asked, rest = parser.parse_known_args(words)
    if rest and (asked.command != "data" or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        asked.overrides = [*asked.overrides, *rest]
    return asked


def run_data(asked: argparse.Namespace) -> None:
    """Carry out a command of ``recgauge data``.

    Raises
    ------
    RecgaugeError
        If it cannot be carried out.
    """
    if asked.what == "card":
        from recgauge.app.commands.data_card import print_card

        print_card(asked.name, asked.overrides, asked.out)
        return
    from recgauge.app.commands.data_archives import fetch_data, list_data, verify_data

    if asked.what == "list":
        list_data(asked.overrides)
    elif asked.what == "fetch":
        fetch_data(asked.name, asked.overrides)
    else:
        verify_data(asked.name, asked.overrides)
