"""``recgauge recommend RUN_ID --users 1,2,3``: lists of the model that a run has saved."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table

from recgauge.cli.commands.options import RUN, add_allowed, add_store, store_uri
from recgauge.errors import ConfigError, MissingDataError
from recgauge.files.limits import opened_text
from recgauge.models.saved import ABOUT, SavedModel
from recgauge.report.console import output, print_table
from recgauge.runs.folder import MODEL, MODEL_FILES
from recgauge.runs.targets import allowed_packages
from recgauge.tracking import run_folder
from recgauge.utils.checks import check_int
from recgauge.utils.files import refuse_irregular
from recgauge.utils.messages import print_note
from recgauge.utils.output_files import text_writer, write_files

Rows = dict[str, npt.NDArray[Any]]
FORMATS = (".csv", ".parquet", ".json")
SHOWN = 10  # unknown users that a message names


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``recommend``."""
    parser.add_argument("run", metavar="RUN_ID", help=RUN)
    parser.add_argument("--users", required=True, help="ids such as 1,2,3; @FILE with one per line; or all")
    parser.add_argument("--k", type=int, default=10, help="length of the lists (default: %(default)s)")
    parser.add_argument("--out", metavar="FILE", type=Path, help="write a .csv, .parquet or .json instead")
    add_allowed(parser)
    add_store(parser)


def carry_out(asked: Namespace) -> None:
    """Print or write the lists that the command line asks for."""
    print_recommendations(
        asked.run,
        uri=store_uri(asked),
        users=asked.users,
        k=asked.k,
        out=asked.out,
        packages=asked.allow,
    )


def print_recommendations(
    run: str, *, uri: str, users: str, k: int, out: Path | None, packages: Sequence[str] = ()
) -> None:
    """Print a table per user, or write one file for all."""
    check_int("--k", k, minimum=1)
    if out is not None and out.suffix not in FORMATS:
        raise ConfigError(f"--out: {out} must end in one of {', '.join(FORMATS)}.")
    asked = None if users == "all" else _asked(users)
    saved = SavedModel.load(_model_folder(run, uri), allowed_packages(packages))
    known = saved.user_ids.tolist() if asked is None else _known(saved, asked)
    rows = saved.rows(known, k)
    if out is None:
        _print(rows, [str(user) for user in known])
        return
    _write(rows, out)
    output().print(f"{len(rows['rank']):,} rows of {len(known):,} users are in {out}")


def _asked(users: str) -> list[str]:
    """Return the ids that the user named, each once."""
    named = users.split(",")
    if users.startswith("@"):
        refuse_irregular(Path(users[1:]), "--users")
        try:
            with opened_text(Path(users[1:])) as lines:
                named = list(lines)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"--users: {users[1:]} cannot be read: {error}.") from error
    found = list(dict.fromkeys(name.strip() for name in named if name.strip()))
    if not found:
        raise ConfigError(
            f"--users: {users!r} names nobody; use --users 1,2,3, --users @FILE or --users all."
        )
    return found


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


def _known(saved: SavedModel, asked: Sequence[str]) -> list[str]:
    """Return the users that the model knows, and say in one line which it does not."""
    unknown = saved.unknown(asked)
    more = f" and {len(unknown) - SHOWN:,} more" if len(unknown) > SHOWN else ""
    told = f"not in the training data, so without a list: {', '.join(unknown[:SHOWN])}{more}"
    if len(unknown) == len(asked):
        raise ConfigError(f"--users: {told}. Ids look like {saved.user_ids[0]!s}.")
    if unknown:
        print_note(told)
    missing = set(unknown)
    return [user for user in asked if user not in missing]


def _print(rows: Rows, users: Sequence[str]) -> None:
    """Print the lists in the order of the users; one without candidates has an empty table."""
    console = output()
    names = [name for name in rows if name != "user_id"]
    lines: dict[str, list[list[str]]] = {user: [] for user in users}
    for user, *cells in zip(rows["user_id"], *(rows[name] for name in names), strict=True):
        lines[str(user)].append(
            [f"{cell:.6g}" if isinstance(cell, np.floating) else str(cell) for cell in cells]
        )
    for user, some in lines.items():
        table = Table(pad_edge=False, box=None)
        for name in names:
            table.add_column(name, justify="left" if name == "title" else "right")
        for cells in some:
            table.add_row(*cells)
        console.print(f"\nuser {user}" + ("" if some else ": no item is left to recommend"))
        if some:
            print_table(console, table)


def _write(rows: Rows, out: Path) -> None:
    """Write the rows to a file; scores lose no digit."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    writers: dict[str, Callable[[Path], object]] = {
        ".csv": lambda path: frame.to_csv(path, index=False, lineterminator="\n"),
        ".parquet": lambda path: frame.to_parquet(path, index=False),
    }
    text = json.dumps(frame.to_dict("records"), ensure_ascii=False, indent=1) if out.suffix == ".json" else ""
    write_files({out: writers.get(out.suffix, text_writer(text + "\n"))})
