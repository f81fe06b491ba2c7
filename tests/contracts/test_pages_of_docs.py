"""Pages of docs/ that are made of code or settings: they are up to date and leave nothing out."""

import re

import pytest
from omegaconf import OmegaConf

from articles_page import SOURCES, articles_page, named_by_articles
from conftest import REPOSITORY
from metrics_page import metrics_page
from recgauge.conventions import ARTICLES, get_convention
from recgauge.experiments.worked_examples.cases import read_cases
from recgauge.models import EpochModel, RatingPredictor, Recommender
from recgauge.runs.targets import find_class
from settings_page import read_option, settings_page

METRICS_PAGE = REPOSITORY / "docs" / "metrics.md"


def test_the_page_of_metrics_is_up_to_date() -> None:
    assert METRICS_PAGE.read_text(encoding="utf-8") == metrics_page(), "run: make docs"


CONF = REPOSITORY / "conf"
GROUPS_WITH_SETTINGS = ("dataset", "filters", "split", "candidates", "model", "tune", "tracking")
PAGE = (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8")


def test_the_page_of_settings_is_up_to_date():
    assert settings_page(CONF) == PAGE, "run: make docs"


@pytest.mark.parametrize("group", GROUPS_WITH_SETTINGS)
def test_every_setting_of_a_group_has_its_row_and_says_what_it_means(group):
    for path in (CONF / group).glob("*.yaml"):
        option = read_option(path)
        assert option.about, path
        keys = leaves(OmegaConf.to_container(OmegaConf.load(path), resolve=False))
        named = {row.name for row in option.settings}
        for key in keys:
            if key.split(".")[-1] not in ("_target_", "name", "defaults"):
                assert key in named or any(key.startswith(f"{one}.") for one in named), (path, key)
        for row in option.settings:
            assert f"| `{group}.{row.name}` |" in PAGE
            assert row.meaning, (path, row.name)


def leaves(tree, prefix=""):
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


HAS = {"ranks": Recommender, "rates": RatingPredictor, "learns in epochs": EpochModel}


def rows():
    table = (REPOSITORY / "docs" / "models.md").read_text().partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    names = [cell.strip() for cell in lines[0].strip("|").split("|")]
    for line in lines[2:]:
        cells = dict(zip(names, (cell.strip() for cell in line.strip("|").split("|")), strict=True))
        for model in re.findall(r"`(\w+)`", cells["`model=`"]):
            yield model, cells


ROWS = dict(rows())


def test_every_model_is_on_the_page():
    options = {path.stem for path in (REPOSITORY / "conf" / "model").glob("*.yaml")}
    assert set(ROWS) == options - {"rating_knn"}


@pytest.mark.parametrize("name", ROWS)
def test_what_a_model_can_do_is_what_the_page_says(name):
    target = OmegaConf.load(REPOSITORY / "conf" / "model" / f"{name}.yaml").get("_target_")
    target = target or OmegaConf.load(REPOSITORY / "conf" / "model" / "rating_knn.yaml")["_target_"]
    kind = find_class(target, "model._target_", ("recgauge",))
    for column, contract in HAS.items():
        assert (ROWS[name][column] == "yes") == issubclass(kind, contract), column
    assert (ROWS[name]["new users"] == "yes") == hasattr(kind, "fold_in")


NAMED = named_by_articles()


def given(article, column):
    return {one for named in NAMED if named.article == article for one in getattr(named, column)}


def test_the_page_is_up_to_date():
    page = (REPOSITORY / "docs" / "articles.md").read_text(encoding="utf-8")
    assert page == articles_page(), "run: make docs"


def test_the_articles_are_those_of_the_conventions():
    assert [f"article_{name}" for name in SOURCES] == list(ARTICLES)
    assert {named.article for named in NAMED} == set(SOURCES)
    assert {named.kind for named in NAMED} == {"metric", "plot", "experiment"}


@pytest.mark.parametrize("article", SOURCES)
def test_every_metric_of_the_convention_and_of_the_worked_examples_is_named(article):
    assert given(article, "library") == set(get_convention(f"article_{article}").metrics)
    cases = read_cases(REPOSITORY / "experiments/worked_examples/cases.json")
    assert given(article, "cases") == {
        case["metric"] for case in cases if case["article"] == f"article_{article}"
    }


def test_every_metric_of_the_suite_is_named_and_the_other_way_round():
    suite = OmegaConf.load(REPOSITORY / "conf/metrics/articles.yaml")
    of_suite = [named for named in NAMED if named.kind == "metric" and "metrics=articles" in named.command]
    assert {one for named in of_suite for one in named.gives} == set(suite)
