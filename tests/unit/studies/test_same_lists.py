"""The page of the same lists: every difference has its words, groups and tables say what the rows say."""

import pytest

from recgauge.conventions import conventions, get_convention
from recgauge.experiments.same_lists.study import SameLists, reason
from recgauge.studies import read_results, where
from recgauge.sweeps.places import experiments_folder

METRICS = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")
STUDY = SameLists("same_lists", k=10)


@pytest.mark.parametrize("name", conventions())
def test_every_difference_from_the_default_is_known(name):
    convention = get_convention(name)
    told = [reason(convention, metric) for metric in METRICS if convention.defines(metric)]
    assert all("; ;" not in text for text in told)  # an unknown parameter or policy would be a KeyError


def test_every_committed_value_that_differs_has_its_reason():
    rows = read_results(experiments_folder() / "same_lists" / "results.csv")
    default = {
        (row["dataset"], row["model"], row["metric"]): float(row["value"])
        for row in where(rows, convention="standard")
    }
    differing = [
        row
        for row in rows
        if row["value"]
        and abs(float(row["value"]) - default[row["dataset"], row["model"], row["metric"]]) > 1e-7
    ]
    assert len(differing) > 100
    assert not [row for row in differing if not row["why"]]


def test_no_difference_no_words():
    assert reason(get_convention("ranx"), "recall") == "users without relevant items count 0"
    assert reason(get_convention("recbole"), "recall") == ""
    assert reason(get_convention("omnirec"), "ndcg") == (
        "every relevant item gains 1; the best list has k hits, however few items are relevant; "
        "users without relevant items count 0"
    )


def row(model, convention, value, why=""):
    found = {
        "dataset": "demo",
        "model": model,
        "metric": "map_at_10",
        "convention": convention,
        "value": value,
    }
    return found | {"definition": "MAP@10", "reason": "" if value else "refuses these lists", "why": why}


def test_the_page_has_every_value_and_groups_equal_ones():
    rows = [
        row("popularity", "standard", "0.1"),
        row("svd", "standard", "0.2"),
        row("svd", "trec", "0.2"),
        row("svd", "recbole", "0.3", "divides by at most k relevant items"),
        row("svd", "cornac", ""),
    ]
    page = STUDY.markdown(rows)
    assert "| `recbole` | 0.3000 |" in page
    assert "| `cornac` | refused |" in page
    assert "| map@10 | 0.2000 | `standard`, `trec` | as `standard` |" in page
    assert "| map@10 | 0.3000 | `recbole` | divides by at most k relevant items |" in page
    assert page.index("### The lists of svd") < page.index("popularity on demo")
    assert "| map@10 | cornac | 1 | refuses these lists |" in page
