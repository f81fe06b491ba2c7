"""``recgauge recommend RUN_ID --users 1,2,3``: lists of the model that a run has saved."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.cli.commands.options import RUN, add_allowed, add_store, store_uri
from recgauge.datasets.table import Table
from recgauge.errors import ConfigError, MissingDataError, listed
from recgauge.models.saved import ABOUT, SavedModel
from recgauge.report.blocks import TableBlock
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.runs.folder import MODEL, MODEL_FILES
from recgauge.runs.targets import allowed_packages
from recgauge.tracking.finding import run_folder
from recgauge.utils.checks import check_int
from recgauge.utils.files import check_formats, text_writer, write_files
from recgauge.utils.messages import print_note

Rows = dict[str, npt.NDArray[Any]]
FORMATS = (".csv", ".parquet", ".json")
SHOWN = 10  # unknown users in a message


def add_recommend_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``recommend``."""
    parser.description = "Recommend unseen items with the model of a run that had save_model=true."
    parser.add_argument("run", metavar="RUN_ID", help=RUN)
    parser.add_argument("--users", required=True, help="ids such as 1,2,3, or all")
    table = "FILE, a table of user, item and, if rows are not in order, time: what users had, who may be new"
    parser.add_argument("--histories", metavar="FILE", help=table)
    parser.add_argument("--k", type=int, default=10, help="length of the lists (default: %(default)s)")
    parser.add_argument("--out", metavar="FILE", type=Path, help="write a .csv, .parquet or .json instead")
    add_allowed(parser)
    add_store(parser)


def run_recommend(options: Namespace) -> None:
    """Print a table per user, or write one file for all.

    Examples
    --------
    recgauge recommend RUN_ID --users 1,2,3
        ten items for three users
    recgauge recommend RUN_ID --users all --k 20 --out lists.csv
        lists of all users
    """
    check_int("--k", options.k, minimum=1)
    check_formats([] if options.out is None else [options.out], FORMATS)
    users = None if options.users == "all" else _read_users(options.users)
    folder = _model_folder(options.run, store_uri(options))
    saved = SavedModel.load(folder, allowed_packages(options.allow))
    if options.histories is not None:
        saved = _with_histories(saved, options.histories)
    listed_users = saved.user_ids.tolist() if users is None else _trained_users(saved, users)
    rows = saved.rows(listed_users, options.k)
    if options.out is None:
        _print(rows, [str(user) for user in listed_users])
        return
    import pandas as pd

    frame = pd.DataFrame(rows)
    text = json.dumps(frame.to_dict("records"), ensure_ascii=False, indent=1) + "\n"
    writers: dict[str, Callable[[Path], object]] = {
        ".csv": lambda path: frame.to_csv(path, index=False, lineterminator="\n"),
        ".parquet": lambda path: frame.to_parquet(path, index=False),
        ".json": text_writer(text),
    }
    write_files({options.out: writers[options.out.suffix]})
    output().print(f"{len(frame):,} rows of {len(listed_users):,} users are in {options.out}")


def _with_histories(saved: SavedModel, file: str) -> SavedModel:
    """Return the model for the histories of a file, and say how many of their rows it does not know."""
    rows = Table(path=file, prepared=False).load(ConsoleProgress()).interactions
    served = saved.with_histories(rows)
    is_new = ~np.isin(rows.item_ids.astype(str), saved.item_ids.astype(str))
    if n_unknown := int(rows.item_counts()[is_new].sum()):
        print_note(
            f"--histories: {n_unknown:,} of {len(rows):,} rows are of items that the model does not know"
        )
    return served


def _read_users(users: str) -> list[str]:
    """Return the ids of the option, each once."""
    ids = list(dict.fromkeys(name.strip() for name in users.split(",") if name.strip()))
    if not ids:
        raise ConfigError(f"--users: {users!r} names nobody; use --users 1,2,3 or --users all.")
    return ids


def _model_folder(run: str, uri: str) -> Path:
    folder = run_folder(run, uri, ["record.json", MODEL])
    if (folder / ABOUT).is_file():
        return folder
    if not all((folder / name).is_file() for name in MODEL_FILES):
        raise MissingDataError(
            f"{run}: the run has no saved model. Run it again with save_model=true; "
            "record.json has its command."
        )
    return folder / MODEL


def _trained_users(saved: SavedModel, users: Sequence[str]) -> list[str]:
    """Return the users that the model knows, and say in one line which it does not."""
    unknown = dict.fromkeys(saved.unknown(users))
    text = f"not in the training data, so without a list: {listed(unknown, most=SHOWN)}"
    if len(unknown) == len(users):
        raise ConfigError(f"--users: {text}. Ids look like {saved.user_ids[0]!s}.")
    if unknown:
        print_note(text)
    return [user for user in users if user not in unknown]


def _print(rows: Rows, users: Sequence[str]) -> None:
    """Print the lists in the order of the users; one without candidates has an empty table."""
    console = output()
    header = tuple(name for name in rows if name != "user_id")
    lists: dict[str, list[tuple[str, ...]]] = {user: [] for user in users}
    for user, *cells in zip(rows["user_id"], *(rows[name] for name in header), strict=True):
        texts = (f"{cell:.6g}" if isinstance(cell, np.floating) else str(cell) for cell in cells)
        lists[str(user)].append(tuple(texts))
    for user, items in lists.items():
        console.print(f"\nuser {user}" + ("" if items else ": no item is left to recommend"))
        if items:
            render_terminal([TableBlock("", header, tuple(items), words=("title",))], console)
