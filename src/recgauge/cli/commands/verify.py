"""``recgauge verify``: a stored run repeated from its own record, or the runs of a package judged again."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from functools import partial
from math import inf, nan
from pathlib import Path
from tempfile import TemporaryDirectory

from recgauge._version import __version__
from recgauge.cli.commands.options import RUN, add_allowed, add_store, say, store_uri
from recgauge.cli.commands.run_data import settings_of, untrained
from recgauge.errors import ConfigError, listed
from recgauge.experiment import run_experiment
from recgauge.packages import PREDICTED, RANKS, Lists, copy_tables, runs_in
from recgauge.packages.checks import (
    changed_files,
    changed_pages,
    is_package,
    judge_again,
    opened,
    read_about,
)
from recgauge.report.console import ConsoleProgress
from recgauge.runs.environment import environment, environment_of
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, RECORD, read_checksums
from recgauge.runs.record import RunRecord
from recgauge.runs.repeated import (
    Difference,
    differing_rows,
    differing_surroundings,
    differing_table,
    differing_values,
)
from recgauge.runs.stored import PREDICTIONS, TEST, user_table
from recgauge.sweeps.artifacts import HITS, LISTS, PER_USER, which_lists, write_tables
from recgauge.sweeps.compose import compose
from recgauge.tracking import run_folder

TABLES = (TEST, LISTS, HITS, PER_USER, PREDICTIONS, RANKS, PREDICTED)
SHOWN = 10  # differences of one kind that are named


def add_verify_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``verify``."""
    parser.add_argument("run", metavar="RUN_ID", help=f"{RUN}, or a package")
    tolerance = "largest difference of a number that is not counted (default: %(default)s)"
    parser.add_argument("--tolerance", type=float, default=0.0, metavar="SIZE", help=tolerance)
    train = "of a package: also repeat every run, as of a single run"
    parser.add_argument("--train", action="store_true", help=train)
    add_allowed(parser)
    add_store(parser)


def run_verify(options: Namespace) -> int:
    """Repeat the run and print what differs; return 0 if nothing does, else 1."""
    if not 0 <= options.tolerance < inf:
        raise ConfigError(f"--tolerance: must be a number from 0, got {options.tolerance}.")
    if is_package(path := Path(options.run)):
        return int(not _verify_package(path, options))
    if options.train:
        raise ConfigError("--train: a run is always repeated; the option is for packages.")
    folder = run_folder(options.run, store_uri(options), [RECORD, CHECKSUMS, *TABLES])
    return int(not _verify_run(folder, options))


def _verify_run(folder: Path, options: Namespace, *, packed: bool = False) -> bool:
    """Repeat a run and print what differs; return whether nothing does. `packed`: it is one of a package."""
    stored = FinishedRun.read(folder)
    with TemporaryDirectory(prefix="recgauge-") as made:
        repeated = _repeat(stored, options.allow, Path(made))
        now = Path(made)
        if packed:
            now = Path(made) / "packed"
            now.mkdir()
            held: dict[str, Lists] = {LISTS: "all", RANKS: "relevant"}
            lists: Lists = next((some for name, some in held.items() if (folder / name).is_file()), "none")
            copy_tables(Path(made), now, stored.record, lists)
        rows, counted = _differences(stored, repeated, now, TABLES, options)
    around = differing_surroundings(stored.record.environment, repeated.environment)
    rows = [*_damaged(folder), *rows]
    same = f"{_identical(options)}: {len(repeated.results)} numbers, rows and lists"
    _print_outcome(stored.record, "not as stored" if rows or counted else same, counted, rows)
    _print_surroundings(around)
    if counted and not rows and not around:
        say("made by  the same versions and kernels, on the same rows: the model is not repeatable")
    if stored.record.search is not None:
        say("note     the search was not repeated, only the run with the settings that it chose")
    return not (rows or counted)


def _verify_package(path: Path, options: Namespace) -> bool:
    """Judge the lists of a package again and print what differs; return whether nothing does."""
    with opened(path) as folder:
        about = read_about(folder, path)
        changed = changed_files(folder)
        _print_differences(changed)
        same_values, n_seen, n_results = True, 0, 0
        around: dict[Difference, None] = {}
        for run, now, left, made in judge_again(
            folder, partial(untrained, packages=options.allow), ConsoleProgress
        ):
            names = [file.name for file in made.iterdir()]
            rows, counted = _differences(run, now, made, names, options)
            n_numbers = len(now.results) - len(left)
            same = f"{_identical(options)}: {n_numbers} of {len(now.results)} numbers"
            _print_outcome(run.record, "not as packed" if rows or counted else same, counted, rows)
            if left and not rows:
                metrics = listed(dict.fromkeys(left), most=99)
                say(f"not seen {metrics}: more is needed than the package has; --train repeats the run")
            if rows or counted:
                same_values = False
            else:  # of what is not computed again, the means of users must be those of the record
                user_table(run.folder, run.record)
            n_seen, n_results = n_seen + n_numbers, n_results + len(now.results)
            here = environment()
            then = {name: fact for name, fact in run.record.environment.items() if name in here}
            around |= dict.fromkeys(differing_surroundings(then, here))
        good = same_values and not changed
        if same_values:  # else pages differ, too, since they follow from the values
            pages = changed_pages(folder)
            _print_differences(pages)
            good &= not pages
            if pages and about["recgauge"] != __version__:
                around[Difference("recgauge, which writes pages", about["recgauge"], __version__, nan)] = None
        _print_surroundings(around)
        if options.train:
            for job in runs_in(folder):
                good &= _verify_run(job.folder, options, packed=True)
    state = _identical(options) if good else "not as packed"
    trained = "" if options.train else "; nothing was trained (--train)"
    numbers = f"{n_seen} of {n_results} numbers computed again from lists and predictions"
    say(f"\n{path}: {state}, {numbers}{trained}", "bold")
    return good


def _identical(options: Namespace) -> str:
    return f"equal within {options.tolerance:g}" if options.tolerance else "identical"


def _print_outcome(
    record: RunRecord, outcome: str, numbers: Sequence[Difference], rows: Sequence[Difference] = ()
) -> None:
    say(f"\n{record.names['model']} on {record.names['dataset']}, seed {record.seed}: {outcome}", "bold")
    _print_differences(rows, most=len(rows))
    _print_differences(numbers)


def _print_differences(differences: Sequence[Difference], most: int = SHOWN) -> None:
    for each in differences[:most]:
        size = "" if each.size == inf else f" (difference {each.size:.3g})"
        say(f"differs  {each.what}: stored {each.stored}; now {each.repeated}{size}")
    if len(differences) > most:
        say(f"         and {len(differences) - most} more")


def _print_surroundings(facts: Iterable[Difference]) -> None:
    for fact in facts:
        say(f"made by  {fact.what}: stored {fact.stored}; now {fact.repeated}")


def _repeat(stored: FinishedRun, packages: Sequence[str], folder: Path) -> RunRecord:
    """Run the stored settings again and write the tables; nothing is tracked."""
    settings = settings_of(stored, packages)
    progress = ConsoleProgress()
    result = run_experiment(compose(settings, leave_out=True), progress)
    lists = "false" if result.ranking is None else which_lists(settings.artifacts.lists)
    write_tables(result, folder, lists)
    plain = stored.record.settings
    return RunRecord.from_result(
        result,
        names=stored.record.names,
        seed=stored.record.seed,
        command=stored.record.command,
        settings=plain,
        environment=environment_of(plain),
    )


def _differences(
    stored: FinishedRun, repeated: RunRecord, made: Path, names: Iterable[str], options: Namespace
) -> tuple[list[Difference], list[Difference]]:
    """Return other rows, and other numbers and tables, of these `names`, than the stored ones."""
    found = differing_values(stored.record, repeated)
    for name in names:
        before, now = stored.folder / name, made / name
        if before.is_file() != now.is_file():
            texts = ["there" if file.is_file() else "not there" for file in (before, now)]
            found.append(Difference(name, texts[0], texts[1]))
        elif before.is_file() and (difference := differing_table(before, now)):
            found.append(difference)
    counted = [difference for difference in found if difference.size > options.tolerance]
    return differing_rows(stored.record, repeated), counted


def _damaged(folder: Path) -> list[Difference]:
    """Return which files are not as the run stored them."""
    sums = read_checksums(folder / CHECKSUMS)
    if RECORD not in sums or any(len(digest) != 64 for digest in sums.values()):
        state = "damaged" if (folder / CHECKSUMS).is_file() else "not there"
        return [Difference(CHECKSUMS, state, "needed to know whether files were changed")]
    return changed_files(folder)
