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
