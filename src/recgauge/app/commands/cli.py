"""The ``recgauge`` command: ``run`` as ``python run.py`` does, data, experiments, and looks at results."""

import argparse
import sys
from pathlib import Path

from recgauge._version import __version__
from recgauge.app.terminal.messages import prepare_streams, print_error
from recgauge.app.terminal.secrets import private_output
from recgauge.errors import RecgaugeError

RUN_HELP = "train and evaluate; `recgauge run --help` lists groups and options"
_OVERRIDES = "settings as of a run, such as data.mirror=FOLDER or dataset.archive=FILE"
_ALLOWED = "another package whose classes may be loaded, as allowed_targets of a run"
_CARD = "also split=random, filters=[n_core], dataset.path=ratings.csv, seed=1"


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand and return the exit code.

    Parameters
    ----------
    arguments : list of str, optional
        Default: the command line's.
    """
    prepare_streams()
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["evaluate"]:  # before anything of Hydra is imported: an answer in a second
        from recgauge.app.commands.evaluate import evaluate_command

        return evaluate_command(words[1:])
    from recgauge.app.settings import give_libraries_a_home

    give_libraries_a_home()
    if words[:1] == ["run"]:
        from recgauge.app.main import run_command

        return run_command(words[1:])
    with private_output(words):
        return _carry_out(_parse_words(_parser(), words))


def _parser() -> argparse.ArgumentParser:
    from recgauge.app.commands.compare import TEXT, add_options

    parser = argparse.ArgumentParser(prog="recgauge", description="Evaluate recommender systems.")
    parser.add_argument("--version", action="version", version=f"recgauge {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("run", help=RUN_HELP, add_help=False)
    commands.add_parser("evaluate", help="measure and compare lists from files", add_help=False)
    store = argparse.ArgumentParser(add_help=False)
    store.add_argument(
        "--uri", help="tracking store (default: MLFLOW_TRACKING_URI, else sqlite:///mlflow.db)"
    )
    store.add_argument("--experiment", default="recgauge", help="MLflow experiment (default: %(default)s)")
    ui = commands.add_parser("ui", parents=[store], help="open the tracked results in a browser")
    ui.add_argument("--port", type=int, default=5000, help="port of the page (default: %(default)s)")
    add_options(commands.add_parser("compare", parents=[store], help=TEXT, description=TEXT))
    table = commands.add_parser("conventions", parents=[store], help="a run's lists under every convention")
    table.add_argument("run", metavar="RUN_ID", help="id of a tracked run, or a run's output folder")
    table.add_argument("--k", type=int, help="cutoff (default: 10, else the run's largest)")
    _add_stability(commands.add_parser("stability", parents=[store], help="does the order of models stay?"))
    _add_segments(commands.add_parser("segments", parents=[store], help="who gains and who loses"))
    lists = commands.add_parser("recommend", parents=[store], help="lists of the model that a run has saved")
    lists.add_argument("run", metavar="RUN_ID", help="id of a tracked run, or a run's output folder")
    lists.add_argument("--users", required=True, help="ids such as 1,2,3; @FILE with one per line; or all")
    lists.add_argument("--k", type=int, default=10, help="length of the lists (default: %(default)s)")
    lists.add_argument("--out", metavar="FILE", type=Path, help="write a .csv, .parquet or .json instead")
    lists.add_argument("--allow", metavar="PACKAGE", action="append", default=[], help=_ALLOWED)
    _add_data_commands(commands.add_parser("data", help="list, fetch, verify and describe data sets"))
    experiments = commands.add_parser("experiments", help="list the experiments, or run all of them")
    experiments.add_argument("--run", action="store_true", help="run all whose data can be had")
    return parser


def _add_data_commands(parser: argparse.ArgumentParser) -> None:
    """Add ``list``, ``fetch``, ``verify`` and ``card``."""
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


def _add_sources(parser: argparse.ArgumentParser) -> None:
    """Add which runs are meant, as of ``compare``."""
    from recgauge.app.commands.compare import SEARCH, SOURCES

    parser.add_argument("sources", metavar="SOURCE", nargs="*", help=SOURCES)
    parser.add_argument("--where", metavar="SEARCH", default="", help=SEARCH)


def _add_stability(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``stability``."""
    _add_sources(parser)
    parser.add_argument("--metric", default="", help="the reference (default: ndcg@10, else what there is)")
    parser.add_argument("--metrics", default="", help="metrics that are compared, such as ndcg,recall,map")
    parser.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, nargs="+", default=[], help=".md, .csv, .json, .png"
    )


def _add_segments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``segments``."""
    _add_sources(parser)
    known = "activity, item_popularity, age, genre, items, or columns of --users, with commas between"
    parser.add_argument("--by", default="activity", help=f"{known} (default: %(default)s)")
    parser.add_argument("--users", metavar="TABLE", type=Path, help="your table of users: user_id, columns")
    parser.add_argument("--metric", default="", help="(default: ndcg@10, else what there is)")
    parser.add_argument("--groups", type=int, default=4, help="groups of numbers (default: %(default)s)")
    parser.add_argument("--baseline", help="the model others are compared with (default: the first)")
    parser.add_argument(
        "--examples", type=int, default=0, help="users with the largest gain and loss to show"
    )
    parser.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    parser.add_argument("--allow", metavar="PACKAGE", action="append", default=[], help=_ALLOWED)
    parser.add_argument("--out", metavar="FILE", type=Path, nargs="+", default=[], help=".md, .csv, .json")


def _parse_words(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Parse a command line on which settings may also follow an option, which argparse does not allow."""
    asked, rest = parser.parse_known_args(words)
    if rest and (asked.command != "data" or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        asked.overrides += rest
    return asked


def _uri(asked: argparse.Namespace) -> str:
    from recgauge.app.settings import store_of_user

    return asked.uri or store_of_user()


def _run_data(asked: argparse.Namespace) -> None:
    from recgauge.app.commands import data

    if asked.what == "list":
        data.list_data(asked.overrides)
    elif asked.what == "fetch":
        data.fetch_data(asked.name, asked.overrides)
    elif asked.what == "verify":
        data.verify_data(asked.name, asked.overrides)
    else:
        data.print_card(asked.name, asked.overrides, asked.out)


def _recommend(asked: argparse.Namespace) -> None:
    from recgauge.app.commands.recommend import print_recommendations

    print_recommendations(
        asked.run,
        uri=_uri(asked),
        users=asked.users,
        k=asked.k,
        out=asked.out,
        packages=asked.allow,
    )


def _stability(asked: argparse.Namespace) -> None:
    from recgauge.app.commands.stability import print_stability
    from recgauge.app.compare.sources import Where
    from recgauge.studies.stability_axes import Asked

    metrics = tuple(name.strip() for name in asked.metrics.split(",") if name.strip())
    wanted = Asked(asked.metric, metrics, asked.confidence)
    where = Where(_uri(asked), asked.experiment, asked.where)
    print_stability(asked.sources, wanted, where=where, out=asked.out)


def _segments(asked: argparse.Namespace) -> None:
    from recgauge.app.commands.segments import Asked, print_segments
    from recgauge.app.compare.sources import Where

    wanted = Asked(
        tuple(name.strip() for name in asked.by.split(",") if name.strip()),
        asked.metric,
        asked.users,
        asked.groups,
        asked.baseline,
        asked.examples,
        asked.confidence,
        tuple(asked.allow),
    )
    where = Where(_uri(asked), asked.experiment, asked.where)
    print_segments(asked.sources, wanted, where=where, out=asked.out)


def _carry_out(asked: argparse.Namespace) -> int:
    """Run the subcommand; the user's errors come as one message."""
    try:
        if asked.command == "ui":
            from recgauge.app.commands.ui import serve

            return serve(_uri(asked), asked.experiment, asked.port)
        if asked.command == "data":
            _run_data(asked)
            return 0
        if asked.command == "experiments":
            from recgauge.app.commands.experiments import list_experiments, run_experiments

            return run_experiments() if asked.run else list_experiments()
        if asked.command == "compare":
            from recgauge.app.commands.compare import print_compared

            print_compared(asked, _uri(asked))
            return 0
        if asked.command == "recommend":
            _recommend(asked)
            return 0
        if asked.command in ("segments", "stability"):
            (_segments if asked.command == "segments" else _stability)(asked)
            return 0
        from recgauge.app.commands.conventions import print_conventions

        print_conventions(asked.run, uri=_uri(asked), k=asked.k)
    except RecgaugeError as error:
        print_error(str(error))
        return 1
    return 0
