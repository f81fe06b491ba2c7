"""Every experiment has a page whose table is that of its results, and every published number a source."""

from importlib.metadata import version

import pytest

from conftest import REPOSITORY
from experiments_page import counts, experiments_page, sentence
from numbers_figure import FIGURE, plot_numbers
from recgauge.cli.commands.experiments import experiment_names, study_of
from recgauge.conventions import conventions
from recgauge.experiments import FOLDER
from recgauge.report.figures.style import save_png
from recgauge.studies import marked_part, read_results, where
from recgauge.studies.published_table import OPEN, VERDICTS, read_published

STUDIES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def test_the_front_pages_count_what_the_results_say():
    folder = REPOSITORY / "experiments"
    assert (folder / "README.md").read_text(encoding="utf-8") == experiments_page(folder), "run: make docs"
    assert sentence(counts(folder)) in (REPOSITORY / "README.md").read_text(encoding="utf-8"), (
        "run: make docs"
    )


def test_folders_and_studies_are_the_same():
    assert FOLDER == REPOSITORY / "experiments"
    studies = {name: study for name in experiment_names() if (study := study_of(name)) is not None}
    assert sorted(studies) == STUDIES
    assert all(study.name == name for name, study in studies.items())


@pytest.mark.parametrize("name", STUDIES)
def test_the_committed_page_is_that_of_the_committed_results(name):
    folder = FOLDER / name
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert marked_part(readme) == study_of(name).markdown(read_results(folder / "results.csv")).strip(), (
        "run: make docs"
    )


CONSTRAINTS = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
DRAWN_WITH = ("matplotlib", "pillow", "numpy")


drawn_as_committed = pytest.mark.skipif(
    any(f"{library}=={version(library)}" not in CONSTRAINTS for library in DRAWN_WITH),
    reason="other versions of what draws than those of constraints.txt",
)


@drawn_as_committed
def test_the_committed_figure_of_all_numbers_is_that_of_the_committed_results(tmp_path):
    again = save_png(plot_numbers(FOLDER), tmp_path / FIGURE).read_bytes()
    assert again == (FOLDER / FIGURE).read_bytes(), "run: make docs"
    assert len(again) < 200_000


@pytest.mark.slow
@drawn_as_committed
@pytest.mark.parametrize("name", STUDIES)
def test_the_committed_figures_are_those_of_the_committed_results(name, tmp_path):
    folder = FOLDER / name
    figures = study_of(name).figures(read_results(folder / "results.csv"))
    assert {f"{figure}.png" for figure in figures} == {path.name for path in folder.glob("*.png")}
    for figure, drawn in figures.items():
        again = save_png(drawn, tmp_path / f"{figure}.png").read_bytes()
        assert again == (folder / f"{figure}.png").read_bytes(), f"{figure}.png: run: make docs"


def test_pages_that_list_all_conventions_have_those_of_the_code():
    for name in ("same_lists", "metric_disagreement"):
        rows = [row for row in read_results(FOLDER / name / "results.csv") if row["metric"]]
        for key in {row["metric"] for row in rows}:
            metric = key.rpartition("_at_")[0]
            known = {one.name for one in conventions().values() if one.defines(metric)}
            assert {row["convention"] for row in where(rows, metric=key)} == known, (name, key)
    orders = read_results(FOLDER / "stability" / "results.csv")
    known = {one.name for one in conventions().values() if one.defines("ndcg")}
    assert {row["option"] for row in where(orders, choice="convention")} == known


@pytest.mark.parametrize("name", STUDIES)
def test_verdicts_are_known_words_and_open_ones_have_a_reason(name):
    for row in read_results(FOLDER / name / "results.csv"):
        if row.get("verdict"):
            assert row["verdict"] in VERDICTS
            assert row["verdict"] != OPEN or row["reason"]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/published.csv*")), ids=lambda path: path.parent.name)
def test_every_published_number_has_a_source_and_a_reason_for_its_tolerance(path):
    numbers = read_published(path)
    assert all(number.source and number.why for number in numbers)
    results = read_results(path.parent / "results.csv")
    told = [
        (row["dataset"], row["model"], row["metric"], row["published"], row["source"])
        for row in results
        if row["published"]
    ]
    assert told == [(n.dataset, n.label, n.key, n.value, n.source) for n in numbers]
