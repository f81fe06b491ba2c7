"""``recgauge export`` and ``package``: runs as files of other tools, and as one zip that others can check."""

from argparse import ArgumentParser, Namespace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from recgauge.cli.commands.options import RUN, add_allowed, add_sources, add_store, say, store_uri
from recgauge.cli.run_data import load_data
from recgauge.report.console import ConsoleProgress
from recgauge.runs.export import ABOUT, FORMS, NEED_LISTS, Grades, Scores, export_run
from recgauge.runs.finished import FinishedRun
from recgauge.runs.stored import LISTS, PREDICTIONS, RECORD, TEST
from recgauge.tracking.finding import require_stored, run_folder
from recgauge.utils.files import user_path
from recgauge.utils.messages import print_note


def add_export_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``export``."""
    default = "(default: %(default)s)"
    parser.add_argument("run", metavar="RUN_ID", help=RUN)
    forms = f"one or several of {', '.join(FORMS)}"
    parser.add_argument("--as", dest="forms", metavar="FORMAT", nargs="+", required=True, help=forms)
    parser.add_argument("--out", metavar="FOLDER", type=Path, required=True, help="made if missing")
    scores = "of trec: falling with the rank, or the model's, whose ties tools order on their own"
    parser.add_argument("--scores", choices=get_args(Scores), default="rank", help=f"{scores} {default}")
    grades = f"of relevant items in trec {default}"
    parser.add_argument("--grades", choices=get_args(Grades), default="rating", help=grades)
    no_train = "leave out training and validation rows, for which the data set is loaded again"
    parser.add_argument("--no-train", action="store_true", help=no_train)
    parser.add_argument("--overwrite", action="store_true", help="replace files that are there")
    add_allowed(parser)
    add_store(parser)


def run_export(options: Namespace) -> None:
    """Write the files of each format, and about.md, which says what they hold.

    Examples
    --------
    recgauge export RUN_ID --as csv --out folder
        lists, training and test rows
    recgauge export RUN_ID --as trec recbole --out folder
        for other tools
    """
    forms: Any = [word for part in options.forms for word in part.split(",") if word]
    folder = run_folder(options.run, store_uri(options), [RECORD, LISTS, TEST, PREDICTIONS])
    run, out = FinishedRun.read(folder), user_path(str(options.out))
    rated = (folder / PREDICTIONS).is_file() and "trec" not in forms
    needs_lists = not rated and any(form in NEED_LISTS for form in forms)
    require_stored(options.run, folder, [*([LISTS] if needs_lists else []), TEST])
    load = partial(load_data, trusted=options.allow, progress=ConsoleProgress())
    files, notes = export_run(
        run,
        options.run,
        out,
        forms,
        scores=options.scores,
        grades=options.grades,
        load=None if options.no_train else load,
        overwrite=options.overwrite,
    )
    for note in notes:
        print_note(note)
    for path, n_rows in files.items():
        say(f"{path}{'' if n_rows is None else f': {n_rows:,} rows'}")
    say(f"{out / ABOUT} says what they hold, and how to evaluate them")


def add_package_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``package``."""
    add_sources(parser)
    default = "(default: %(default)s)"
    parser.add_argument("--out", metavar="FILE", type=Path, default=Path("package.zip"), help=default)
    parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")


def run_package(options: Namespace) -> None:
    """Write the zip, and say how to check it.

    Examples
    --------
    recgauge package outputs/2026-01-01/12-00-00 --out runs.zip
        a sweep
    recgauge package experiment=baselines --out baselines.zip
        the runs of an experiment
    """
    from recgauge.packages import package  # brings what compares runs

    file = package(
        options.sources,
        options.out,
        uri=store_uri(options),
        experiment=options.experiment,
        search=options.where,
        overwrite=options.overwrite,
    )
    say(f"package  {file}: {file.stat().st_size:,} bytes")
    say(f"check    recgauge verify {file}")
