"""`recgauge report`: one page, whose numbers are those of every other table, and which nothing can break."""

import csv
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from finished import finished
from recgauge.cli.commands.cli import main
from recgauge.cli.commands.compare import print_comparison
from recgauge.cli.run_data import load_data
from recgauge.comparison import Procedure, compare
from recgauge.comparison.runs import compare_runs
from recgauge.metrics.names import metric_label
from recgauge.page import data as gathering
from recgauge.page import report_page, write_figures, write_page
from recgauge.page.data import DatasetPart, ReportData, report_data
from recgauge.report.blocks import Cell, TableBlock
from recgauge.report.comparison_tables import write_comparison
from recgauge.tracking.finding import find_runs
from report_page import Page, read_page

MODELS = ("svd", "popularity")
WORDS = ("cutoffs=[5,10]", "metrics=[ranking,beyond_accuracy]")
HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "a\nb | c & d % e _ f # g $x_1$ {h} \\i ~j ^k",
    "\u202egnp.exe \u05d0\u05d1\u05d2 \x00\x1b[31m",
    "",
    "long " * 200,
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return [finished(folder, model, *WORDS) for model in MODELS]


@pytest.fixture(scope="module")
def found(folders):
    runs, notes = find_runs([str(folder) for folder in folders], "sqlite:///none.db")
    return compare_runs(runs, Procedure(n_resamples=300), notes=notes)


@pytest.fixture(scope="module")
def data(found):
    return report_data(found, load_data)


@pytest.fixture(scope="module")
def page(data):
    return Page(report_page(data))


@pytest.fixture
def undrawn(monkeypatch):
    """Figures take most of the time of a page; one test looks at all of them."""
    monkeypatch.setattr("recgauge.report.figures.style.svg_text", lambda *_: "<svg></svg>")


def test_the_page_is_sound_and_loads_nothing(page):
    assert page.problems == []
    assert len(page.pictures) >= 8
    assert (3, "Protocol in words") in page.headings
    assert any(re.search(r"over cutoffs\. .* leads at .*\.$", told) for told in page.pictures)
    assert len(page.text) < 1 << 20
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in page.text


def leaderboard(page):
    """Return the cells of the leaderboard by run and column: text, letters and lines below."""
    (caption,) = (
        caption for caption in page.tables if re.match(r"demo: \d runs, \d+ of 1,000 users", caption)
    )
    (header, *rows) = page.tables[caption]
    return {row[0][0]: dict(zip([cell[0] for cell in header], row, strict=True)) for row in rows}


def numbers_of(text, run):
    """Return the numbers between a run's name and the next run's, in LaTeX, Markdown or a terminal."""
    (_, own) = re.split(rf"^[|\s]*{run}\b", text, maxsplit=1, flags=re.MULTILINE)
    return set(re.findall(r"\d[\d.,]*\d", re.split("|".join(MODELS), own)[0]))


def test_every_mean_equals_terminal_markdown_latex_csv_and_record(found, page, tmp_path, capsys):
    names = [tmp_path / f"c{suffix}" for suffix in (".md", ".tex", ".csv")]
    write_comparison(found, names)
    print_comparison(found)
    printed = capsys.readouterr().out.partition(": a minus b")[0]
    markdown, latex = (path.read_text(encoding="utf-8") for path in names[:2])
    cells = leaderboard(page)
    rows = pd.read_csv(names[2])
    assert len(rows) == len(MODELS) * len(found.metrics) == 8
    for run, own in rows.groupby("run"):
        first, shown = own.iloc[0], cells[run]
        wanted = {f"{first[name]:.2f}" for name in ("fit_seconds", "recommend_seconds")}
        wanted |= {f"{first[name] / 1e6:,.1f}" for name in ("peak_bytes", "model_bytes")}
        assert {shown[name][0] for name in ("fit s", "lists s", "peak MB", "model MB")} == wanted
        for row in own.itertuples():
            mean, low, high = (f"{value:.4f}" for value in (row.mean, row.low, row.high))
            assert shown[row.metric.replace("_at_", "@")][:3] == [mean, row.letters, f"[{low},\xa0{high}]"]
            wanted |= {mean, low, high}
        for text in (printed, markdown.partition(": a minus b")[0], latex.partition("\\end{table}")[0]):
            assert wanted <= numbers_of(text, run)
        record = found.groups["demo", run].runs[0].record
        values = [record.values()[metric] for metric in own["metric"]]
        assert own["mean"].tolist() == pytest.approx(values, rel=1e-12)


def test_the_table_of_every_metric_has_the_values_of_the_records(found, page):
    every = page.tables[next(caption for caption in page.tables if caption.startswith("Best in bold"))]
    cutoffs = [cell[0] for cell in every[0][2:]]
    assert len(found.groups) == len(MODELS)
    for (_, name), group in found.groups.items():
        wanted: dict[str, set[str]] = {}
        for entry in group.records[0].results:
            column = "value" if entry.k is None else f"@{entry.k}"
            wanted.setdefault(column, set()).add((metric_label(entry.name), f"{entry.value:.4f}"))
        assert wanted.keys() == set(cutoffs)
        for place, cutoff in enumerate(cutoffs, 2):
            mine = {(row[1][0], row[place][0]) for row in every[1:] if row[0] == [name] and row[place]}
            assert mine == wanted[cutoff]


def test_the_command_writes_the_page(folders, tmp_path, capsys, monkeypatch, undrawn):
    monkeypatch.setattr(gathering, "stability_of", lambda *_, **__: None)
    monkeypatch.setattr(gathering, "GROUPS", ("activity",))
    out = tmp_path / "sub" / "r.html"
    words = ["--resamples", "200", "--out", str(out), *map(str, folders[:2])]
    assert main(["report", *words]) == 0
    assert "svd is better than popularity" in capsys.readouterr().out
    assert read_page(out).problems == []
    assert main(["report", *words, "--metrics", "nothing"]) == 1
    assert main(["report", "--out", str(tmp_path / "r.pdf"), *map(str, folders[:2])]) == 1


def test_figures_are_written_as_png_and_svg(data, tmp_path):
    part = DatasetPart(data.parts[0].name, data.parts[0].runs)
    folded = ReportData(data.comparison, (part, part))  # as those of several data sets are
    files = write_figures(folded, tmp_path / "figures")
    assert {path.suffix for path in files if path.stem == "cutoffs_demo_ndcg"} == {".png", ".svg"}
    assert all(path.stat().st_size > 500 for path in files)


def test_damaged_lists_leave_out_a_section_alone(folders, found, tmp_path, monkeypatch, undrawn):
    monkeypatch.setattr(gathering, "GROUPS", ())
    group = found.groups["demo", "svd"]
    for name in ("record.json", "per_user.parquet"):
        (tmp_path / name).write_bytes((group.runs[0].folder / name).read_bytes())
    for name in ("recommendations.parquet", "test.parquet"):
        (tmp_path / name).write_bytes(b"PAR1 no")
    damaged = replace(group, runs=(replace(group.runs[0], folder=tmp_path),))
    groups = {**found.groups, ("demo", "svd"): damaged}
    page = Page(report_page(report_data(replace(found, groups=groups), load_data)))
    assert page.problems == []
    assert "Left out" in [title for _, title in page.headings]


def test_hostile_names_are_harmless_in_every_format(rng, found, tmp_path):
    users = np.arange(60)
    tables = {name: pd.DataFrame({"user": users, "ndcg@10": rng.normal(0, 0.05, 60)}) for name in HOSTILE}
    comparison = replace(compare(tables, n_resamples=200), warnings=HOSTILE, notes=HOSTILE)
    first = found.groups["demo", "svd"]
    row = ("1", Cell(HOSTILE[0], look="hit"), HOSTILE[1])
    story = TableBlock(HOSTILE[1], ("rank", *HOSTILE[:2]), (row,), HOSTILE[:2], note="; ".join(HOSTILE))
    part = DatasetPart(
        comparison.datasets[0], {row.run: first for row in comparison.results[0].rows}, stories=(story,)
    )
    page = read_page(write_page(ReportData(comparison, (part,)), tmp_path / "r.html"))
    assert page.problems == []
    assert page.elements.count("script") == 1
    assert "img" not in page.elements
    assert not set("\x00\x1b\u202e") & set(page.text)
    files = [tmp_path / "c.md", tmp_path / "c.tex"]
    write_comparison(comparison, files)
    markdown, latex = (path.read_text(encoding="utf-8") for path in files)
    assert not re.search(r"<[a-zA-Z/!?]", markdown)
    assert not set("\x00\x1b\u202e") & set(markdown + latex)
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {3, 12}
    for table in latex.split("\\begin{tabular}")[1:]:
        body = table.partition("\\midrule")[2].partition("\\bottomrule")[0].strip()
        assert all(line.endswith(r" \\") for line in body.splitlines())
        assert not re.search(r"(?<!\\)[#%_]", body.replace(r"\_", ""))


def test_no_cell_of_a_csv_file_is_a_formula(rng, tmp_path):
    """Names of runs and groups come from files of others; numbers stay as they are."""
    runs = {name: pd.DataFrame({"user_id": range(9), "ndcg": rng.random(9)}) for name in ("=1+1", "@b", "-c")}
    write_comparison(compare(runs), [tmp_path / "c.csv"])
    for file in (tmp_path / "c.csv", tmp_path / "c_pairs.csv"):
        cells = [cell for row in csv.reader(file.read_text(encoding="utf-8").splitlines()) for cell in row]
        assert not any(cell.startswith(("=", "@", "-c")) for cell in cells)
        assert "'=1+1" in cells
