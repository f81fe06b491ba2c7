"""The page of ``recgauge report``: self-contained HTML, read offline and without script."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from recgauge.errors import listed, quantity
from recgauge.metrics.names import label
from recgauge.page import results
from recgauge.page.answer import answer, ranks
from recgauge.page.behind import behind
from recgauge.page.data import ReportData, by_dataset
from recgauge.report.blocks import Folded, PageBlock, Picture, Pictures, Section
from recgauge.report.figures.style import save_png, save_svg
from recgauge.report.html import render_page
from recgauge.utils.files import text_writer, write_files


def sections(data: ReportData) -> list[Section]:
    """Return the sections of a report; what the numbers stand on is folded in the last one."""
    parts = [
        answer(data),
        by_dataset("Leaderboard", data, results.leaderboard, folded=False),
        ranks(data),
        by_dataset("Pairs of runs", data, results.pairs),
        by_dataset("Who gains, who loses", data, results.segments),
        by_dataset("Every metric over cutoffs", data, results.over_cutoffs),
        by_dataset("Quality against cost", data, results.costs),
        by_dataset("Does the winner stay?", data, results.stability),
        by_dataset("Example users", data, results.stories),
        behind(data),
    ]
    return [section for section in parts if section is not None]


def report_page(data: ReportData) -> str:
    """Return the report as a page that needs no other file and no network; equal data give an equal page."""
    comparison = data.comparison
    n_models = len({row.run for result in comparison.results for row in result.rows})
    n_jobs = sum(len(part.records()) for part in data.parts)
    n_runs = quantity(n_jobs, "run") + ("" if n_jobs == n_models else f" of {quantity(n_models, 'model')}")
    return render_page(
        f"{n_runs} on {listed(part.name for part in data.parts)}",
        f"compared by {listed(map(label, comparison.metrics))}",
        sections(data),
    )


def write_page(data: ReportData, path: Path) -> Path:
    """Write a report, whole or not at all."""
    return write_files({path: text_writer(report_page(data))})[0]


def write_figures(data: ReportData, folder: Path) -> list[Path]:
    """Write every figure of a report as PNG and as SVG."""
    files: dict[Path, Callable[[Path], Path]] = {}
    for picture in (each for section in sections(data) for each in _pictures(section.blocks)):
        files[folder / f"{picture.name}.png"] = partial(save_png, picture.draw())
        files[folder / f"{picture.name}.svg"] = partial(save_svg, picture.draw())
    return write_files(files)


def _pictures(blocks: Sequence[PageBlock]) -> Iterator[Picture]:
    """Give every figure, also folded ones."""
    for block in blocks:
        if isinstance(block, Folded):
            yield from _pictures(block.blocks)
        elif isinstance(block, Pictures):
            yield from block.pictures
