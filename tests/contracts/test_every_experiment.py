"""Every experiment has a page whose table is that of its results, and every published number a source."""

import gzip
import re
from importlib.metadata import version

import pytest
from omegaconf import OmegaConf

from conftest import REPOSITORY
from experiments_page import counts, experiments_page, sentence
from numbers_figure import FIGURE, plot_numbers
from recgauge.cli.commands.experiments import experiment_names, study_of
from recgauge.conventions import conventions
from recgauge.experiments import FOLDER
from recgauge.report.figures.style import save_png
from recgauge.studies import marked_part, read_results, where
from recgauge.studies.published_table import OPEN, VERDICTS, read_published
from recgauge.sweeps.places import conf_folder

SECTIONS = (
    "**Question.**",
    "**Protocol.**",
    "**What the sources leave open.**",
    "**Command.**",
    "## What we learn",
)


STUDIES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


def test_the_front_pages_count_what_the_results_say():
    folder = REPOSITORY / "experiments"
    assert (folder / "README.md").read_text(encoding="utf-8") == experiments_page(folder), "run: make docs"
    assert sentence(counts(folder)) in (REPOSITORY / "README.md").read_text(encoding="utf-8"), (
        "run: make docs"
    )


def test_packed_results_count_as_others_do(tmp_path):
    """Of the same rows, packed or not, come the same counts and the same figure."""
    drawn = []
    for packed in (False, True):
        folder = tmp_path / str(packed)
        for name in ("ease_curve", "stability", "worked_examples"):
            content = (FOLDER / name / "results.csv").read_bytes()
            (folder / name).mkdir(parents=True)
            if packed:
                (folder / name / "results.csv.gz").write_bytes(gzip.compress(content))
            else:
                (folder / name / "results.csv").write_bytes(content)
        drawn.append((counts(folder), save_png(plot_numbers(folder), folder / FIGURE).read_bytes()))
    assert drawn[0] == drawn[1]
    assert drawn[0][0]["ease_curve"]["reproduced"] == 294


def test_folders_and_studies_are_the_same():
    assert FOLDER == REPOSITORY / "experiments"
    studies = {name: study for name in experiment_names() if (study := study_of(name)) is not None}
    assert sorted(studies) == STUDIES
    assert all(study.name == name for name, study in studies.items())


@pytest.mark.parametrize("name", experiment_names())
def test_an_experiment_says_how_long_it_takes(name):
    text = (conf_folder() / "experiment" / f"{name}.yaml").read_text(encoding="utf-8")
    assert re.search(r"^# Takes .*(second|minute)", text, re.MULTILINE)


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


@pytest.mark.parametrize("name", ["any_library", "stability", "tuned_models"])
def test_a_page_has_the_models_of_its_grid(name):
    grid = OmegaConf.load(conf_folder() / "experiment" / f"{name}.yaml").hydra.sweeper.params
    rows = read_results(FOLDER / name / "results.csv")
    assert {row["model"] for row in rows} == set(grid.model.split(","))


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_has_its_parts_and_its_figures(name):
    folder = FOLDER / name
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert [section for section in SECTIONS if section not in readme] == []
    assert f"`recgauge run experiment={name}`" in readme
    figures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", readme)
    assert {path.name for path in folder.glob("*.png")} == set(figures)


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
