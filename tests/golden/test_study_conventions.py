"""Conventions of reproducibility studies, on lists that are computed by hand from what their code does."""

from math import log2

import pytest

import recgauge
from recgauge.conventions import STUDIES

LISTS = {
    "ann": [1, 2, 3],
    "bob": [2, 6, 1],
    "cid": [4, 5, 6],
}  # nothing is relevant for cid, who does not count
RELEVANT = {"ann": [1, 3, 4, 5], "bob": [6]}
TRAIN = {"ann": [6], "bob": [3, 4], "cid": [1, 2, 3]}
BOTH = {
    "precision": 1 / 2,
    "recall": 3 / 4,
    "f1": 3 / 5,
    "mrr": 3 / 4,
    "item_coverage": 4 / 6,
    # items 1, 2 and 6 have one of six interactions, item 3 two; divided by six items
    "novelty": (5 * log2(6) + log2(3)) / 6 / 2,
}
IDEAL_OF_3 = 1 + 1 / log2(3) + 1 / 2
VALUES = {
    "dacrema_2021": BOTH
    | {
        "map": ((1 + 2 / 3) / 3 + 1 / 2) / 2,
        "ndcg": (1.5 / (IDEAL_OF_3 + 1 / log2(5)) + 1 / log2(3)) / 2,
        "mean_inter_list_diversity": 1 / 3,
        "herfindahl": 1 - (1 / 9 + 1 / 9 + 1 / 36 + 1 / 36),
        # two items never, two once, two twice
        "gini": 2 * (4 / 7 * 1 / 6 + 3 / 7 * 1 / 6 + 2 / 7 * 1 / 3 + 1 / 7 * 1 / 3),
        "shannon_entropy": 2 / 3 * log2(3) + 1 / 3 * log2(6),
    },
    "intent_aware_2025": BOTH
    | {
        "map": ((1 + 2 / 3) / 3 + (1 / 2) / 3) / 2,
        "ndcg": (1.5 / IDEAL_OF_3 + 1 / log2(3)) / 2,
    },
}


@pytest.mark.parametrize("study", STUDIES)
def test_the_values_are_those_of_the_study(study: str) -> None:
    found = recgauge.evaluate(
        LISTS, RELEVANT, metrics=tuple(VALUES[study]), cutoffs=(3,), conventions=study, train=TRAIN, n_items=6
    )
    expected = {f"{name}_at_3": value for name, value in VALUES[study].items()}
    assert found.values() == pytest.approx(expected, rel=1e-12)
