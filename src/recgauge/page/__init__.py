"""The page of ``recgauge report``: self-contained HTML, read offline and without script."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from recgauge.errors import listed
from recgauge.metrics.names import label
from recgauge.page import results
from recgauge.page.answer import answer
from recgauge.page.behind import behind
from recgauge.page.data import ReportData, by_dataset
from recgauge.report.blocks import Picture, Section, pictures_of
from recgauge.report.figures.style import save_png, save_svg
from recgauge.report.html import render_page
from recgauge.utils.files import text_writer, write_files


def sections(data: ReportData) -> list[Section]:
    """Return the sections of a report; what the numbers stand on is folded in the last one."""
    parts = [
        answer(data),
        results.leaderboards(data),
        results.pairs(data),
        by_dataset("Who gains, who loses", data, results.segments),
        by_dataset("Every metric over cutoffs", data, results.over_cutoffs),
        by_dataset("Quality against cost", data, results.costs),
        by_dataset("Does the winner stay?", data, results.stability),
        by_dataset("Example users", data, results.stories),
        behind(data),
    ]
    return [section for section in parts if section is not None]


def pictures(data: ReportData) -> Iterator[Picture]:
    """Yield the figures of a report; each is drawn by its own function, for PNG as for the page."""
    for section in sections(data):
        yield from pictures_of(section.blocks)


def report_page(data: ReportData) -> str:
    """Return the report as a page that needs no other file and no network; equal data give an equal page."""
    comparison = data.comparison
    names = {row.run for result in comparison.results for row in result.rows}
    jobs = sum(len(group.runs) for part in data.parts for group in part.runs.values())
    n_runs = f"{jobs} runs" if jobs == len(names) else f"{jobs} runs of {len(names)} models"
    return render_page(
        f"{n_runs} on {listed(comparison.datasets or [part.name for part in data.parts])}",
        f"compared by {listed(list(map(label, comparison.metrics)))}",
        sections(data),
    )


def write_page(data: ReportData, path: Path) -> Path:
    """Write a report, whole or not at all."""
    return write_files({path: text_writer(report_page(data))})[0]


def write_figures(data: ReportData, folder: Path) -> list[Path]:
    """Write every figure of a report as PNG and as SVG."""

    def write(picture: Picture, file: Path) -> None:
        (save_png if file.suffix == ".png" else save_svg)(picture.draw(), file)

    files = {folder / f"{each.name}{suffix}": each for each in pictures(data) for suffix in (".png", ".svg")}
    return write_files({path: partial(write, picture) for path, picture in files.items()})
