"""The end of an experiment: its study's rows become files, a page, a summary run and a printed table."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markdown import Markdown

from recgauge.app.names import typed_words
from recgauge.app.settings import experiments_folder
from recgauge.app.terminal.console import output
from recgauge.app.tracking.note import shortened
from recgauge.app.tracking.tracker import RunStart, Tracker, experiment_tag
from recgauge.errors import MissingDataError
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.settings import free_settings
from recgauge.studies import Row, Study, results_text, with_marked_part, without_details
from recgauge.utils.files import is_writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HARMLESS = (free_settings() - {"study"}) | {"experiment", "hydra"}
"""Settings of the command line that leave an experiment as it is: its runs and its table stay the same."""


def conclude_study(
    study: Study, runs: Sequence[JobOutcome], *, tracker: Tracker, hydra: Any, folder: Path
) -> list[Row]:
    """Write, track and print what a study makes of its runs.

    Parameters
    ----------
    study : Study
    runs : sequence of JobOutcome
    tracker : Tracker
        Gets a run of its own with the table as note and artifact, unless it has the same one already.
    hydra : HydraConf
        What Hydra knows of the sweep or job.
    folder : Path
        The output folder, which gets results.csv, results.md, the figures and the page, README.md. In a
        checkout, ``experiments/<name>`` gets them too, unless the command line changes the experiment.

    Returns
    -------
    list of dict
        The rows of results.csv.

    Raises
    ------
    RecgaugeError
        If the study's inputs are missing or wrong.
    """
    source = experiments_folder() / study.name
    study.check(source)
    rows = study.rows(runs, source)
    part = study.markdown(rows)
    changed = [word for word in typed_words(hydra) if not _is_harmless(word)]
    figures = study.figures(rows)
    files = _write_results(folder, rows, figures)
    (folder / "results.md").write_text(f"{part}\n", encoding="utf-8")
    _write_readme(folder, source, part)
    published = None if changed else _checkout_folder(study.name)
    if published is not None:
        _write_results(published, rows, figures)
        _write_readme(published, published, part)
    console = output()
    console.print()
    console.print(Markdown(study.summary(rows)))
    console.print(f"details  {folder / 'results.md'}", markup=False, soft_wrap=True)
    console.print(f"page     {(published or folder) / 'README.md'}", markup=False, soft_wrap=True)
    if changed:
        told = f"experiments/{study.name} is unchanged, since {' '.join(changed)} makes another experiment"
        console.print(f"note     {told}", markup=False, soft_wrap=True)
    run_id = _track(study, rows, part, [*files, folder / "results.md"], tracker)
    if run_id is not None:
        console.print(f"summary  run {run_id}", markup=False)
    return rows


def _is_harmless(word: str) -> bool:
    return word.lstrip("+~").split("=")[0].split(".")[0] in HARMLESS


def _write_results(folder: Path, rows: Sequence[Row], figures: "dict[str, Figure]") -> list[Path]:
    from recgauge.report.figures.style import save_png

    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "results.csv"]
    files[0].write_text(results_text(rows), encoding="utf-8")
    for name, figure in figures.items():
        files.append(folder / f"{name}.png")
        save_png(figure, files[-1])
    return files


def _checkout_folder(name: str) -> Path | None:
    """Return the experiment's folder in the current folder if that is a checkout, None anywhere else.

    An installed package writes to the output folder alone.
    """
    folder = Path("experiments") / name
    return folder if (folder / "README.md").is_file() and is_writable(folder) else None


def _write_readme(folder: Path, source: Path, part: str) -> None:
    """Write the page of `source` with another marked part."""
    page = source / "README.md"
    if not page.is_file():
        raise MissingDataError(f"{page}: there is no such file. An experiment's page is made from it.")
    text = with_marked_part(page.read_text(encoding="utf-8"), part)
    (folder / "README.md").write_text(text, encoding="utf-8")


def _track(
    study: Study, rows: Sequence[Row], part: str, files: Sequence[Path], tracker: Tracker
) -> str | None:
    """Store a summary run, unless the newest one has the same content."""
    digest = sha256(f"{study.name}\n{results_text(rows)}\n{part}".encode()).hexdigest()
    if found := tracker.find(digest):
        return found[0]
    tags = {
        experiment_tag(study.name): "true",
        "recgauge.summary": study.name,
        "recgauge.fingerprint": digest,
        "mlflow.source.type": "LOCAL",
    }
    counted = Counter(row["verdict"] for row in rows if row.get("verdict"))
    values = {f"verdicts/{verdict.replace(' ', '_')}": float(n) for verdict, n in counted.items()}
    with tracker.start(RunStart(f"summary {study.name}", {}, tags)) as log:
        log.conclude(shortened(without_details(part).split("\n"), "results.md"), values, files)
    return log.run_id
