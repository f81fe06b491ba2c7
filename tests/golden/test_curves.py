"""Curves, and areas of full rankings, give what the libraries give; areas of lists are among the rankings."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from golden.rating_lane import agree, entries
from recgauge.metrics.curves import precision_recall_curve, roc_curve
from recgauge.metrics.curves.full_ranking import AUC, StepAveragePrecision, rank_block, rank_one

FULL_RANKINGS = {
    ("sklearn", "roc_auc_score_per_user"): AUC(),
    ("recbole", "GAUC"): AUC(aggregate="weighted"),
    ("cornac", "AUC"): AUC(ties=0),
    ("elliot", "GAUC"): AUC(ties="item_order", negatives="plus_one"),
    ("elliot", "AUC"): AUC(ties="item_order", negatives="plus_one", aggregate="weighted"),
    ("cornac", "MAP"): StepAveragePrecision(),
}
POOLED = {("recbole", "AUC")}
BINARY = {
    "roc_auc_score": lambda y, s: AUC().value(rank_one(y, s)),
    "average_precision_score": lambda y, s: StepAveragePrecision().value(rank_one(y, s)),
    "label_ranking_average_precision_score": lambda y, s: StepAveragePrecision().value(rank_one(y, s)),
    "auc(precision_recall_curve)": lambda y, s: precision_recall_curve(y, s).area(),
    "roc_curve": roc_curve,
    "roc_curve(drop_intermediate)": lambda y, s: roc_curve(y, s, drop_collinear=True),
    "precision_recall_curve": precision_recall_curve,
}
LEFT_OUT = {
    "ndcg_score": "a metric of ranked lists, compared where nDCG is",
    "dcg_score": "a metric of ranked lists, compared where DCG is",
    "ndcg_score(ignore_ties)": "a metric of ranked lists; with ties the library's order is noise",
}
FIELDS = {
    "fpr": "false_positive_rate",
    "tpr": "true_positive_rate",
    "thresholds": "thresholds",
    "precision": "precision",
    "recall": "recall",
}


class Ranking:
    """One stored ranking case in the forms that metrics take; rows are the users with relevant items."""

    def __init__(self, inputs):
        self.users, self.n_items = inputs["users"], inputs["n_items"]
        items = {user: sorted(int(item) for item in inputs["truth"][user]) for user in self.users}
        self.rows = [row for row, user in enumerate(self.users) if items[user]]
        own = [items[self.users[row]] for row in self.rows]
        self.start = np.concatenate(([0], np.cumsum([len(one) for one in own]))).astype(np.int64)
        self.items = np.array([item for one in own for item in one], np.int32)
        dense = np.zeros((len(self.users), self.n_items), np.int8)
        for row, user in enumerate(self.users):
            dense[row, inputs["train"][user]] = 1
        self.seen = sparse.csr_array(dense)
        full = inputs["full_scores"]
        self.scores = None if full is None else np.array([full[self.users[row]] for row in self.rows])

    def rankings(self):
        return rank_block(self.scores, self.start, self.items, self.seen[self.rows])

    def pooled(self):
        candidate = self.seen[self.rows].toarray() == 0
        relevant = np.zeros(candidate.shape, bool)
        for row in range(len(self.rows)):
            relevant[row, self.items[self.start[row] : self.start[row + 1]]] = True
        return AUC().value(rank_one(relevant[candidate], self.scores[candidate]))


def compare_full(ranking, metric, expected):
    rankings = ranking.rankings()
    n = agree(metric.value(rankings), expected["value"])
    if "per_user" in expected:
        values = np.full(len(ranking.users), np.nan)
        values[ranking.rows] = metric.per_user(rankings)
        n += agree(values, expected["per_user"])
    return n


def compare_binary(case, expected):
    computed = BINARY[expected["metric"]](case["inputs"]["y"], case["inputs"]["score"])
    if not isinstance(expected["value"], dict):
        return agree(computed, expected["value"])
    return sum(agree(getattr(computed, FIELDS[name]), values) for name, values in expected["value"].items())


def compare(case, expected):
    """Return how many numbers were compared, or None if the entry is left out."""
    key = expected["library"], expected["metric"]
    if case["kind"] == "binary":
        return None if key[1] in LEFT_OUT else compare_binary(case, expected)
    ranking = Ranking(case["inputs"])
    if expected["value"] == "NaN":  # no user has both kinds of candidates
        assert np.isnan(AUC().per_user(ranking.rankings())).all()
        return 1
    if key in POOLED:
        return agree(ranking.pooled(), expected["value"])
    return compare_full(ranking, FULL_RANKINGS[key], expected)


@cache
def curve_entries():
    """All of the binary cases, and the curves among the ranking ones."""
    keys = {*FULL_RANKINGS, *POOLED}
    ranking = [(case, e) for case, e in entries("ranking") if (e["library"], e["metric"]) in keys]
    return ranking + entries("binary")


@cache
def compared(chosen):
    """Compare the values of one case, once; return what `compare` does for each of them."""
    return [compare(case, expected) for case, expected in curve_entries() if case["id"] == chosen]


CASES = sorted({case["id"] for case, _ in curve_entries()})


@pytest.mark.parametrize("chosen", CASES)
def test_every_value_of_a_case(chosen):
    compared(chosen)


def test_values_are_counted():
    results = [result for chosen in CASES for result in compared(chosen)]
    n_left_out = sum(result is None for result in results)
    assert len(results) - n_left_out == 362
    assert n_left_out == 96
