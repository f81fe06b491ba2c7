"""Every experiment has a page whose table is that of its results, and every published number a source."""

import re
from functools import cache

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from conftest import REPOSITORY
from recgauge.app.commands.experiments import experiment_names
from recgauge.app.compose import build_study
from recgauge.app.places import conf_folder, experiments_folder
from recgauge.app.settings import register_schema
from recgauge.studies import marked_part, read_results
from recgauge.studies.published import OPEN, VERDICTS, read_published

SECTIONS = (
    "**Question.**",
    "**Protocol.**",
    "**What the sources leave open.**",
    "**Command.**",
    "## What we learn",
)


@cache
def study_of(name):
    register_schema()
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        node = compose("config", [f"experiment={name}"]).study
    return None if node is None else build_study(OmegaConf.to_container(node, resolve=True), [])


STUDIES = sorted(path.name for path in experiments_folder().iterdir())


def test_folders_and_studies_are_the_same():
    assert experiments_folder() == REPOSITORY / "experiments"
    studies = {name: study for name in experiment_names() if (study := study_of(name)) is not None}
    assert sorted(studies) == STUDIES
    assert all(study.name == name for name, study in studies.items())


@pytest.mark.parametrize("name", experiment_names())
def test_an_experiment_says_how_long_it_takes(name):
    text = (conf_folder() / "experiment" / f"{name}.yaml").read_text(encoding="utf-8")
    assert re.search(r"^# Takes .*(second|minute)", text, re.MULTILINE)


@pytest.mark.parametrize("name", STUDIES)
def test_the_committed_page_is_that_of_the_committed_results(name):
    folder = experiments_folder() / name
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert marked_part(readme) == study_of(name).markdown(read_results(folder / "results.csv")).strip()


@pytest.mark.parametrize("name", STUDIES)
def test_what_the_terminal_shows_is_short_and_says_something(name):
    summary = study_of(name).summary(read_results(experiments_folder() / name / "results.csv"))
    assert 5 <= len(summary.splitlines()) <= 50
    assert "<details>" not in summary
    assert "](" not in summary


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_has_its_parts_and_its_figures(name):
    folder = experiments_folder() / name
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert [section for section in SECTIONS if section not in readme] == []
    assert f"`python run.py experiment={name}`" in readme
    figures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", readme)
    assert {path.name for path in folder.glob("*.png")} == set(figures)


@pytest.mark.parametrize("name", STUDIES)
def test_verdicts_are_known_words_and_open_ones_have_a_reason(name):
    for row in read_results(experiments_folder() / name / "results.csv"):
        if row.get("verdict"):
            assert row["verdict"] in VERDICTS
            assert row["verdict"] != OPEN or row["reason"]


@pytest.mark.parametrize(
    "path", sorted(experiments_folder().glob("*/published.csv")), ids=lambda path: path.parent.name
)
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


def test_every_worked_example_names_an_article_that_the_page_describes():
    folder = experiments_folder() / "worked_examples"
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for article in {row["article"] for row in read_results(folder / "results.csv")}:
        assert re.search(rf"^\| {article} \| \S+", readme, re.MULTILINE)
