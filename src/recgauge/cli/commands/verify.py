"""``recgauge verify``: a stored run repeated from its own record, or the runs of a package judged again."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from math import inf, nan
from pathlib import Path

from recgauge._version import __version__
from recgauge.cli.commands.options import RUN, add_allowed, add_store, say, store_uri
from recgauge.cli.run_data import settings_of, untrained
from recgauge.errors import ConfigError, listed
from recgauge.experiment import PreparedData
from recgauge.packages.repeating import (
    TABLES,
    Verification,
    changed_files,
    changed_pages,
    page_version,
    verify_by_training,
    verify_from_files,
)
from recgauge.packages.unpacking import PAGE, is_package, opened, runs_in
from recgauge.report.console import ConsoleProgress
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, RECORD
from recgauge.runs.repeated import Difference
from recgauge.sweeps.compose import compose
from recgauge.tracking import run_folder

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
    return int(not _train(FinishedRun.read(folder), options).is_same)


def _verify_package(path: Path, options: Namespace) -> bool:
    """Judge the lists of a package again and print what differs; return whether nothing does."""
    prepared: dict[str, PreparedData] = {}
    with opened(path) as folder:
        differences = changed_files(folder, PAGE)
        _print_differences(differences)
        runs = runs_in(folder)
        judged = [_judge(run, options, prepared) for run in runs]
        is_same = all(verification.is_same for verification in judged)
        if is_same:  # else the page differs, too, since it follows from the values
            pages = changed_pages(folder)
            _print_differences(pages)
            differences += pages
        facts = dict.fromkeys(fact for each in judged for fact in each.environment)
        if (version := page_version(folder)) != __version__:
            facts[Difference(f"{PAGE}, whose words may be others", version, __version__, nan)] = None
        _print_environment(facts)
        is_same &= not differences
        if options.train:
            trained = [_train(run, options, packed=True) for run in runs]
            is_same &= all(verification.is_same for verification in trained)
    n_results = sum(len(each.record.results) for each in judged)
    n_unseen = sum(len(each.unseen) for each in judged)
    state = _identical(options) if is_same else "not as packed"
    numbers = f"{n_results - n_unseen} of {n_results} numbers computed again from lists and predictions"
    hint = "" if options.train else "; nothing was trained (--train)"
    say(f"\n{path}: {state}, {numbers}{hint}", "bold")
    return is_same


def _train(run: FinishedRun, options: Namespace, *, packed: bool = False) -> Verification:
    """Repeat a run and print what differs; `packed`: it is one of a package."""
    experiment = compose(settings_of(run, options.allow), leave_out=True)
    verification = verify_by_training(
        run, experiment, ConsoleProgress(), tolerance=options.tolerance, packed=packed
    )
    n_numbers = len(run.record.results)
    same = f"{_identical(options)}: {n_numbers} numbers, rows and lists"
    _print_outcome(verification, same if verification.is_same else "not as stored")
    _print_environment(verification.environment)
    if verification.numbers and not verification.rows and not verification.environment:
        say("made by  the same versions and kernels, on the same rows: the model is not repeatable")
    if run.record.search is not None:
        say("note     the search was not repeated, only the run with the settings that it chose")
    return verification


def _judge(run: FinishedRun, options: Namespace, prepared: dict[str, PreparedData]) -> Verification:
    """Judge a run's lists again and print what differs."""
    experiment = untrained(run, options.allow)
    verification = verify_from_files(
        run, experiment, ConsoleProgress(), prepared, tolerance=options.tolerance
    )
    n_results, unseen = len(run.record.results), verification.unseen
    same = f"{_identical(options)}: {n_results - len(unseen)} of {n_results} numbers"
    _print_outcome(verification, same if verification.is_same else "not as packed")
    if unseen and not verification.rows:
        names = listed(dict.fromkeys(unseen), most=99)
        say(f"not seen {names}: more is needed than the package has; --train repeats the run")
    return verification


def _identical(options: Namespace) -> str:
    return f"equal within {options.tolerance:g}" if options.tolerance else "identical"


def _print_outcome(verification: Verification, outcome: str) -> None:
    record = verification.record
    say(f"\n{record.names['model']} on {record.names['dataset']}, seed {record.seed}: {outcome}", "bold")
    _print_differences(verification.rows, most=len(verification.rows))
    _print_differences(verification.numbers)


def _print_differences(differences: Sequence[Difference], most: int = SHOWN) -> None:
    for each in differences[:most]:
        size = "" if each.size == inf else f" (difference {each.size:.3g})"
        say(f"differs  {each.subject}: stored {each.stored}; now {each.repeated}{size}")
    if len(differences) > most:
        say(f"         and {len(differences) - most} more")


def _print_environment(facts: Iterable[Difference]) -> None:
    for fact in facts:
        say(f"made by  {fact.subject}: stored {fact.stored}; now {fact.repeated}")
