"""``recgauge verify``: a stored run repeated from its own record, or the runs of a package judged again."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from math import inf
from pathlib import Path

from recgauge.cli.commands.options import RUN, add_allowed, add_store, say, store_uri
from recgauge.cli.run_data import QuietProgress, settings_of
from recgauge.errors import ConfigError, listed
from recgauge.packages.judging import recorded_experiment
from recgauge.packages.repeating import TABLES, Verification, changed_files, changed_pages, verify_run
from recgauge.packages.unpacking import PAGE, is_package, opened, runs_in
from recgauge.report.console import ConsoleProgress
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, RECORD
from recgauge.runs.repeated import Difference
from recgauge.sweeps.compose import compose
from recgauge.sweeps.run_data import untrained_experiment
from recgauge.tracking.finding import run_folder

SHOWN = 10  # differences of one kind that are named


def add_verify_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``verify``."""
    parser.add_argument("run", metavar="RUN_ID", help=f"{RUN}, or a package")
    tolerance = "largest difference of a number that is not counted (default: %(default)s)"
    train = "of a package: train its models again, instead of judging the lists that it has"
    parser.add_argument("--train", action="store_true", help=train)
    parser.add_argument("--tolerance", type=float, default=0.0, metavar="SIZE", help=tolerance)
    add_allowed(parser)
    add_store(parser)


def run_verify(options: Namespace) -> int:
    """Repeat the run and print what differs; return 0 if nothing does, else 1.

    Examples
    --------
    recgauge verify RUN_ID
        run it again, compare
    recgauge verify runs.zip
        a package: judge its lists again
    """
    if not 0 <= options.tolerance < inf:
        raise ConfigError(f"--tolerance: must be a number from 0, got {options.tolerance}.")
    if is_package(path := Path(options.run)):
        return int(not _verify_package(path, options))
    folder = run_folder(options.run, store_uri(options), [RECORD, CHECKSUMS, *TABLES])
    return int(not _verify(FinishedRun.read(folder), options, train=True).is_same)


def _verify_package(path: Path, options: Namespace) -> bool:
    """Judge the lists of a package again and print what differs; return whether nothing does."""
    with opened(path) as folder:
        runs = [_verify(run, options, train=options.train) for run in runs_in(folder)]
        differences = changed_files(folder, PAGE)
        if is_same := all(verification.is_same for verification in runs):
            differences += changed_pages(folder)  # else they differ, too, since they follow from the values
        _print_differences(differences)
    n_results = sum(len(each.record.results) for each in runs)
    n_seen = n_results - sum(len(each.unseen) for each in runs)
    is_same &= not differences
    state = (_identical(options) if n_seen else "not verified") if is_same else "not as packed"
    say(f"\n{path}: {state}, {n_seen} of {n_results} numbers computed again", "bold")
    return is_same and n_seen > 0


def _verify(run: FinishedRun, options: Namespace, *, train: bool) -> Verification:
    """Repeat a run, or judge its lists again, and print what differs."""
    if train:
        experiment = compose(settings_of(run, options.allow), leave_out=True)
    else:
        settings = settings_of(run, options.allow, ("rows", "metrics"))
        experiment = recorded_experiment(run, untrained_experiment(settings))
    progress = ConsoleProgress() if train else QuietProgress()
    verification = verify_run(run, experiment, progress, train=train, tolerance=options.tolerance)
    record, unseen = run.record, verification.unseen
    outcome = "not as stored"
    if verification.is_same:
        n_results = len(record.results)
        outcome = f"{_identical(options)}: {n_results - len(unseen)} of {n_results} numbers"
    say(f"\n{record.names['model']} on {record.names['dataset']}, seed {record.seed}: {outcome}", "bold")
    _print_differences(verification.rows, most=len(verification.rows))
    _print_differences(verification.numbers)
    for fact in verification.environment:
        say(f"made by  {fact.subject}: stored {fact.stored}; now {fact.repeated}")
    if unseen and not verification.rows:
        say(f"not seen {listed(dict.fromkeys(unseen), most=99)}: more is needed than the package has")
    if train and record.search is not None:
        say("note     the search was not repeated, only the run with the settings that it chose")
    return verification


def _identical(options: Namespace) -> str:
    return f"equal within {options.tolerance:g}" if options.tolerance else "identical"


def _print_differences(differences: Sequence[Difference], most: int = SHOWN) -> None:
    for each in differences[:most]:
        size = "" if each.size == inf else f" (difference {each.size:.3g})"
        say(f"differs  {each.subject}: stored {each.stored}; now {each.repeated}{size}")
    if len(differences) > most:
        say(f"         and {len(differences) - most} more")
