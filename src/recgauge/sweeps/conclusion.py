"""What an experiment's study makes of its runs: files, a page, a run in the store."""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import time

from rich.markdown import Markdown

from recgauge.report.console import output, shown_path
from recgauge.runs.environment import user_name
from recgauge.runs.folder import JobOutcome, Summary, write_folder
from recgauge.runs.record import JobFacts
from recgauge.runs.settings import use_of
from recgauge.studies import (
    Row,
    Study,
    publish,
    read_results,
    results_file,
    results_text,
    without_details,
    write_page,
    write_results,
)
from recgauge.studies.published_table import OPEN
from recgauge.sweeps.places import experiment_folder
from recgauge.sweeps.sweep import Sweep
from recgauge.tracking.outbox import Deliveries
from recgauge.tracking.page import shortened
from recgauge.utils.files import is_writable

_MOST_LINES = 45  # lines of a study that the terminal shows; the others are in its file
_EMPTY_HEADINGS = re.compile(r"(\s*^#+ .*)*\s*\Z", re.MULTILINE)


def conclude_study(study: Study, runs: Sequence[JobOutcome], sweep: Sweep, deliveries: Deliveries) -> None:
    """Write, track and print what a study makes of its runs.

    The output folder gets results.csv, results.md, the figures and the page, README.md. In a checkout,
    ``experiments/<name>`` gets them too, unless the command line changes the experiment or more rows are open
    than there. The store gets a run of its own with the table as note and artifact, unless it has the same
    one already.
    """
    folder = sweep.folder
    source = experiment_folder(study.name)
    study.check(source)
    rows = study.rows(runs, source)
    part = study.markdown(rows)
    figures = study.figures(rows)
    files = write_results(folder, rows, figures, compressed=study.compressed)
    (folder / "results.md").write_text(f"{part}\n", encoding="utf-8")
    write_page(folder, source, part)
    published = _checkout_folder(study.name)
    reason = _obstacle(rows, runs, sweep.words, published)
    if published is not None and not reason:
        publish(study, rows, published)
    console = output()
    console.print()
    lines = without_details(part).split("\n")
    console.print(Markdown(_EMPTY_HEADINGS.sub("", "\n".join(lines[:_MOST_LINES]))))
    console.print(f"details  {shown_path(folder / 'results.md')}", soft_wrap=True)
    page = folder if reason or published is None else published
    console.print(f"page     {shown_path(page / 'README.md')}", soft_wrap=True)
    if reason:
        console.print(f"note     experiments/{study.name} is unchanged, since {reason}", soft_wrap=True)
    counts = Counter(row["verdict"] for row in rows if row.get("verdict"))
    summary = Summary(
        job=job_facts(sweep, f"summary {study.name}", study.name),
        subject=study.name,
        fingerprint=sha256(f"{study.name}\n{results_text(rows)}\n{part}".encode()).hexdigest(),
        note=shortened(lines, "results.md"),
        values={f"verdicts/{verdict.replace(' ', '_')}": float(n) for verdict, n in counts.items()},
    )
    track(summary, [*files, folder / "results.md"], sweep, deliveries)


def _obstacle(
    rows: Sequence[Row], runs: Sequence[JobOutcome], words: Sequence[str], published: Path | None
) -> str:
    """Return why results are not published: another experiment, or less than what is there."""
    if changed := [word for word in words if _changes_experiment(word)]:
        return f"{' '.join(changed)} makes another experiment"
    if published is None:
        return ""
    if lacking := sum(job.record is None for job in runs):
        return f"{lacking} of {len(runs)} runs have no results"
    file = results_file(published)
    stored = read_results(file) if file.is_file() else []
    n_open, n_stored = (sum(row.get("verdict") == OPEN for row in each) for each in (rows, stored))
    return f"{n_open:,} numbers are open here, {n_stored:,} there" if stored and n_open > n_stored else ""


def _changes_experiment(word: str) -> bool:
    """Whether a word of the command line makes other runs, or another table, than the experiment has."""
    name = word.lstrip("+~").partition("=")[0].partition(".")[0]
    return name == "study" or (
        name not in ("experiment", "hydra") and use_of(name) not in ("place", "output")
    )


def _checkout_folder(name: str) -> Path | None:
    """Return the experiment's folder in the current folder if that is a checkout, None anywhere else.

    An installed package writes to the output folder alone.
    """
    folder = Path("experiments") / name
    return folder if (folder / "README.md").is_file() and is_writable(folder) else None


def job_facts(sweep: Sweep, name: str, experiment: str = "") -> JobFacts:
    """Return when and by whom a summary of a sweep is made, and for which store."""
    now, store = time(), {} if sweep.store is None else sweep.store.plain()
    return JobFacts(name, now, now, user_name(), sweep.folder.as_posix(), experiment, store)


def track(summary: Summary, files: Sequence[Path], sweep: Sweep, deliveries: Deliveries) -> None:
    """Store what a sweep or a study ends with as a run of its own; where that fails, its folder waits."""
    place = sweep.folder / summary.subject
    if sweep.store is not None:
        with suppress(OSError):
            write_folder(summary, place, files)
            deliveries.submit(place, sweep.store)
            if (page := deliveries.run_address(place)) is not None:
                output().print(f"summary  {page}", soft_wrap=True)
