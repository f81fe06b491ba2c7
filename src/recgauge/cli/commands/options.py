"""Options that several subcommands of ``recgauge`` have."""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from recgauge.comparison.runs import agreeing
from recgauge.comparison.user_tables import UserTable
from recgauge.errors import ConfigError, MissingDataError, listed
from recgauge.files.stored import PARQUET
from recgauge.metrics.names import Directions
from recgauge.report.console import output
from recgauge.runs.finished import FinishedRun
from recgauge.sweeps.places import experiment_of_user, store_of_user
from recgauge.tracking.finding import find_runs
from recgauge.utils.files import user_path, write_files

ALLOWED = "another package whose classes may be loaded, or an address of data that records of runs name"
RUN = "id of a tracked run, or a run's output folder"
SOURCES = """output folders of runs or sweeps, ids of runs, names of MLflow experiments, experiment=NAME, or
tables of users' values (.csv, .parquet); without any, the finished runs of the MLflow experiment"""
TEXT = (".csv", ".tsv")
"""Endings of tables of text."""
SEARCH = "which runs of the experiment, as MLflow searches: \"params.dataset = 'ml_1m'\""


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the tracking store and the MLflow experiment."""
    uri = "tracking store (default: MLFLOW_TRACKING_URI, else sqlite:///mlflow.db)"
    parser.add_argument("--uri", help=uri)
    experiment = "MLflow experiment (default: MLFLOW_EXPERIMENT_NAME, else recgauge)"
    parser.add_argument("--experiment", default=experiment_of_user(), help=experiment)


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Add the runs, and the store that has them."""
    parser.usage = "%(prog)s [SOURCE ...] [OPTION ...]"
    parser.add_argument("sources", metavar="SOURCE", nargs="*", help=SOURCES)
    parser.add_argument("--where", metavar="SEARCH", default="", help=SEARCH)
    add_store(parser)


def add_allowed(parser: argparse.ArgumentParser) -> None:
    """Add whose classes may be loaded."""
    parser.add_argument("--allow", metavar="PACKAGE", action="append", default=[], help=ALLOWED)


def add_directions(parser: argparse.ArgumentParser) -> None:
    """Add the metrics of which less or more is better."""
    add: Any = parser.add_argument
    for option, word in (("--lower-is-better", "less"), ("--higher-is-better", "more")):
        text = f"a metric of your tables of which {word} is better, where recgauge does not know it"
        add(option, metavar="NAME", nargs="+", action="extend", default=[], help=text)


def users_of(options: argparse.Namespace) -> UserTable | None:
    """Return the user's own table of users, if it is named."""
    if options.users is None:
        if options.missing and not getattr(options, "truth", None):
            raise ConfigError("--missing: says which cells of --users are no group. Add --users TABLE.")
        return None
    return UserTable.of(str(options.users), missing=options.missing)


def directions_of(options: argparse.Namespace) -> Directions:
    """Return the directions of metrics by the options of `add_directions`."""
    return Directions.of(options.lower_is_better, options.higher_is_better)


def refuse_directions(options: argparse.Namespace) -> None:
    """Refuse the options of `add_directions` for finished runs."""
    if options.lower_is_better or options.higher_is_better:
        raise ConfigError(
            "--lower-is-better, --higher-is-better: finished runs say it themselves. Leave the options out."
        )


def store_uri(options: argparse.Namespace) -> str:
    """Return the address of the store that was named, else of the user's."""
    return options.uri or store_of_user()


def runs_of(options: argparse.Namespace, files: Sequence[str] = ()) -> tuple[list[FinishedRun], list[str]]:
    """Return the finished runs that the options of `add_sources` name, and what was left out."""
    metrics = getattr(options, "metrics", None) or [*filter(None, [getattr(options, "metric", "")])]
    return find_runs(
        options.sources,
        store_uri(options),
        experiment=options.experiment,
        where=options.where,
        files=files,
        metrics=metrics,
    )


def agreeing_runs(
    options: argparse.Namespace, files: Sequence[str] = ()
) -> tuple[list[FinishedRun], list[str]]:
    """Return the runs of `runs_of`; of a whole experiment those that differ in the model alone."""
    runs, notes = runs_of(options, files)
    if options.sources:
        return runs, notes
    comparable, left_out = agreeing(runs)
    return comparable or runs, [*notes, *left_out]


def are_tables(sources: Sequence[str]) -> bool:
    """Whether all sources are files, which hold users' values."""
    return bool(sources) and all(map(os.path.isfile, map(user_path, sources)))


def tables_of(sources: Sequence[str]) -> "str | dict[str, str]":
    """Return files by the names of their runs, or one long table."""
    if len(sources) == 1:
        return sources[0]
    packed = (".gz", ".bz2", ".xz")
    plain = [source[: -len(end)] if (end := Path(source).suffix) in packed else source for source in sources]
    tables = {Path(name).stem: source for name, source in zip(plain, sources, strict=True)}
    if len(tables) < len(sources):
        raise ConfigError(f"several tables are called {listed(tables)}. Give them distinct names.")
    return tables


def refuse_missing(sources: Sequence[str]) -> None:
    """Refuse names that end as a table's do where there is no such file."""
    for source in sources:
        if "://" not in source and Path(source).suffix in (*PARQUET, *TEXT) and not Path(source).exists():
            raise MissingDataError(f"{source}: there is no such file. Correct the name.")


def say(text: str, style: str | None = None) -> None:
    """Print a line that no terminal breaks."""
    output().print(text, style=style, soft_wrap=True)


def write_out(writers: Mapping[Path, Callable[[Path], object]]) -> None:
    """Write the files of ``--out``, whole or not at all, and name them."""
    for file in write_files(writers):
        say(f"files    {file}")


def named(text: str) -> tuple[Any, ...]:
    """Return the names of a list with commas between.

    Examples
    --------
    >>> named("ndcg, map,")
    ('ndcg', 'map')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())
