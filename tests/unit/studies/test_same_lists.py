"""The page of the same lists: every difference has its words, groups and tables say what the rows say."""

import pytest

from recgauge.conventions import conventions, get_convention
from recgauge.experiments.same_lists.study import reason

METRICS = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")


@pytest.mark.parametrize("name", conventions())
def test_every_difference_from_the_default_is_known(name):
    convention = get_convention(name)
    told = [reason(convention, metric) for metric in METRICS if convention.defines(metric)]
    assert all("; ;" not in text for text in told)  # an unknown parameter or policy would be a KeyError
