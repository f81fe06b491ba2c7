"""``recgauge verify RUN_ID``: a stored run repeated from its own record, and compared with what is stored."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

from recgauge.cli.commands.options import RUN, add_allowed, add_store, store_uri
from recgauge.cli.commands.run_data import settings_of
from recgauge.errors import ConfigError
from recgauge.experiment import run_experiment
from recgauge.report.console import ConsoleProgress, output
from recgauge.runs.environment import environment_of
from recgauge.runs.folder import CHECKSUMS, RECORD, file_digest, read_checksums
from recgauge.runs.list_files import HITS, LISTS, which_lists
from recgauge.runs.record import RunRecord
from recgauge.runs.repeated import (
    Difference,
    differing_rows,
    differing_surroundings,
    differing_table,
    differing_values,
)
from recgauge.runs.stored import TEST, RunFolder
from recgauge.sweeps.artifacts import PER_USER, write_tables
from recgauge.sweeps.compose import compose
from recgauge.tracking import run_folder

TABLES = (TEST, LISTS, HITS, PER_USER, "predictions.parquet")
SHOWN = 10  # differences of one kind that are named


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``verify``."""
    parser.add_argument("run", metavar="RUN_ID", help=RUN)
    tolerance = "largest difference of a number that is not counted (default: %(default)s)"
    parser.add_argument("--tolerance", type=float, default=0.0, metavar="SIZE", help=tolerance)
    add_allowed(parser)
    add_store(parser)


def carry_out(options: Namespace) -> int:
    """Repeat the run and print what differs; return 0 if nothing does, else 1."""
    if not 0 <= options.tolerance < inf:
        raise ConfigError(f"--tolerance: must be a number from 0, got {options.tolerance}.")
    folder = run_folder(options.run, store_uri(options), [RECORD, CHECKSUMS, *TABLES])
    stored = RunFolder.read(folder)
    with TemporaryDirectory(prefix="recgauge-") as made:
        repeated = _repeat(stored, options.allow, Path(made))
        rows = differing_rows(stored.record, repeated)
        values = differing_values(stored.record, repeated)
        tables = _tables(folder, Path(made))
    around = differing_surroundings(stored.record.environment, repeated.environment)
    counted = [difference for difference in (*values, *tables) if difference.size > options.tolerance]
    damaged = _damaged(folder)
    _print(stored.record, [*damaged, *rows], counted, around)
    small = [difference.size for difference in (*values, *tables) if difference.size <= options.tolerance]
    if small:
        output().print(f"within   {len(small)} differ by at most {max(small):.3g}, which --tolerance allows")
    return int(bool(damaged or rows or counted))


def _repeat(stored: RunFolder, packages: Sequence[str], folder: Path) -> RunRecord:
    """Run the stored settings again and write the tables; nothing is tracked."""
    settings = settings_of(stored, packages)
    progress = ConsoleProgress()
    result = run_experiment(compose(settings, leave_out=True), progress)
    lists = "false" if result.ranking is None else which_lists(settings.artifacts.lists)
    write_tables(result, folder, lists, progress)
    plain = stored.record.settings
    return RunRecord.from_result(
        result,
        names=stored.record.names,
        seed=stored.record.seed,
        command=stored.record.command,
        settings=plain,
        environment=environment_of(plain),
    )


def _tables(stored: Path, repeated: Path) -> list[Difference]:
    """Compare the tables that the stored run has."""
    differences = []
    for name in TABLES:
        before, now = stored / name, repeated / name
        if before.is_file() != now.is_file():
            texts = ["there" if file.is_file() else "not there" for file in (before, now)]
            differences.append(Difference(name, texts[0], texts[1]))
        elif before.is_file() and (difference := differing_table(before, now)):
            differences.append(difference)
    return differences


def _damaged(folder: Path) -> list[Difference]:
    """Return which files are not as the run stored them."""
    sums = read_checksums(folder / CHECKSUMS) if (folder / CHECKSUMS).is_file() else None
    if not sums or RECORD not in sums or any(len(digest) != 64 for digest in sums.values()):
        state = "not there" if sums is None else "damaged"
        return [Difference(CHECKSUMS, state, "needed to know whether files were changed")]
    return [
        Difference(name, f"sha256 {digest[:12]}", f"sha256 {now[:12]}: the file was changed after the run")
        for name, digest in sums.items()
        if (folder / name).is_file() and (now := file_digest(folder / name)) != digest
    ]


def _print(
    record: RunRecord, rows: Sequence[Difference], numbers: Sequence[Difference], around: Sequence[Difference]
) -> None:
    console = output()
    name = f"{record.names['model']} on {record.names['dataset']}, seed {record.seed}"
    same = f"identical: {len(record.results)} numbers, rows and lists"
    console.print(f"\n{name}: {'not as stored' if rows or numbers else same}", style="bold")
    for one in (*rows, *numbers[:SHOWN]):
        size = "" if one.size == inf else f" (difference {one.size:.3g})"
        console.print(f"differs  {one.what}: stored {one.stored}; now {one.repeated}{size}")
    if len(numbers) > SHOWN:
        console.print(f"         and {len(numbers) - SHOWN} more")
    for one in around:
        console.print(f"made by  {one.what}: stored {one.stored}; now {one.repeated}")
    if numbers and not rows and not around:
        console.print("made by  the same versions and kernels, on the same rows: the model is not repeatable")
    if record.search is not None:
        console.print("note     the search was not repeated, only the run with the settings that it chose")
