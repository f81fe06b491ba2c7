"""Means that ranx, ir_measures, RecTools and scikit-learn gave for inputs at the edge of their definitions.

Users whose judged items all have grade 0, repeated items, scores that tie in 32 bits only, values that lie
half-way between two printed ones; `differential/record.py` asks the libraries and notes their versions.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import recgauge
from differential.cases import Case
from differential.libraries import recgauge_means
from golden.cases import same
from recgauge.conventions import Convention
from recgauge.errors import MetricError

SAID = json.loads((Path(__file__).parent / "edge_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("said", SAID, ids=lambda said: f"{said['package']}-{said['version']}")
def test_every_mean_is_reproduced(said):
    wrong, compared = [], 0
    for row in said["rows"]:
        case = Case(**row["case"])
        values = recgauge_means(case, said["convention"], row["means"])
        for key, theirs in row["means"].items():
            compared += 1
            if not same(values[key], theirs):
                wrong.append((key, values[key], theirs, case))
    assert not wrong, wrong[:3]
    assert compared >= 100


def test_users_of_grade_0_only_are_counted_as_the_convention_says():
    lists = {"a": [1, 2], "b": [1, 2], "d": [1]}
    grades = {"a": {1: 1}, "b": {1: 0}, "c": {2: 0}}
    counts = {}
    for conventions in ("standard", "trec", "ranx", "rectools", "sklearn", "replay"):
        result = recgauge.evaluate(lists, grades, metrics="ndcg", cutoffs=(1,), conventions=conventions)
        counts[conventions] = round(1 / result.values()["ndcg_at_1"])
        assert result.counts["users_evaluated"] == counts[conventions]
        assert result.counts["users_evaluated_without_relevant_items"] == counts[conventions] - 1
        assert result.counts["users_without_relevant_items"] == 3
    # b and c have judged items, c lacks a list, d has a list only; replay counts everybody
    assert counts == {"standard": 1, "trec": 3, "ranx": 3, "rectools": 1, "sklearn": 2, "replay": 4}


def test_policies_tell_users_of_grade_0_from_users_without_judged_items():
    lists, grades = {"a": [1], "b": [1], "c": [1]}, {"a": {1: 1}, "b": {1: 0}}
    values = {}
    for chosen in ("same", "zero", "skip", "nan"):
        policies = recgauge.Policies(no_relevant="zero", no_positive_grade=chosen)
        convention = Convention("mine", "", policies=policies)
        result = recgauge.evaluate(lists, grades, metrics="hit", cutoffs=(1,), conventions=convention)
        values[chosen] = result.values()["hit_at_1"]
    assert values == pytest.approx({"same": 1 / 3, "zero": 1 / 3, "skip": 1 / 2, "nan": 1 / 2})
    refusing = Convention("mine", "", policies=recgauge.Policies(no_positive_grade="raise"))
    with pytest.raises(MetricError, match="refuses user 'b', one of 1 without relevant items"):
        recgauge.evaluate(lists, grades, metrics="hit", cutoffs=(1,), conventions=refusing)


def test_err_is_printed_as_c_prints_it():
    """1 / 16 / 20 is a little above 0.003125 in binary; gdeval prints 0.00313, numpy.round gives 0.00312."""
    result = recgauge.evaluate(
        {"u": list(range(20))}, {"u": {19: 1}}, metrics="err", cutoffs=(20,), conventions="trec"
    )
    assert result.values() == {"err_at_20": 0.00313}
    assert np.round(1 / 16 / 20, 5) == 0.00312


def test_a_repeat_counts_as_another_item_in_rectools():
    """Precision and recall of [1, 1, 2] with 1 and 9 relevant: two hits of three, and of 3 relevant."""
    result = recgauge.evaluate(
        {"u": [1, 1, 2]}, {"u": [1, 9]}, metrics=("precision", "recall"), cutoffs=(3,), conventions="rectools"
    )
    assert result.values() == pytest.approx({"precision_at_3": 2 / 3, "recall_at_3": 2 / 3})
