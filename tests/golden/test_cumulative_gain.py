"""Cumulative gain gives the vectors of the paper that defines it.

K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002, section 2.1:
the grades G' of a list and their cumulated gain CG'. The note on nDCG takes the same grades for its examples.
"""

import pytest

import recgauge
from golden.cases import article_cases

GRADES = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
CUMULATED = [3, 5, 8, 8, 8, 9, 11, 13, 16, 16]


def test_the_papers_vector():
    items = [f"document {rank}" for rank in range(1, 11)]
    grades = {item: grade for item, grade in zip(items, GRADES, strict=True) if grade}
    result = recgauge.evaluate({"query": items}, {"query": grades}, metrics="cg", cutoffs=tuple(range(1, 11)))
    assert list(result.values().values()) == pytest.approx(CUMULATED)
    noted = next(case for case in article_cases() if case["id"] == "dcg-k10-method0")
    assert noted["inputs"]["r"] == GRADES


def test_the_first_rank_is_dcg_and_binary_gains_count_hits():
    lists, grades = {"ann": ["x", "y", "z"]}, {"ann": {"x": 3, "z": 2}}
    result = recgauge.evaluate(lists, grades, metrics=("cg", "dcg"), cutoffs=(1, 3)).values()
    assert result["cg_at_1"] == result["dcg_at_1"] == 3
    assert result["cg_at_3"] == 5 > result["dcg_at_3"]
    hits = recgauge.metrics.discounted.CumulativeGain(gain="binary")
    assert recgauge.evaluate(lists, grades, metrics=hits, cutoffs=(3,)).values() == {"cg_at_3": 2}
