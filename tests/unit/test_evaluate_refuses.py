"""Wrong input to `evaluate` gets one message that names the argument."""

import numpy as np
import pandas as pd
import pytest

import recgauge
from recgauge.errors import RecgaugeError

LISTS = {"ann": [1, 2, 3], "bob": [4, 5]}
RELEVANT = {"ann": [2], "bob": {4: 2.0, 9: 1.0}}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"recommendations": {"ann": [1, 1]}}, "recommendations: the list of user 'ann' holds an item twice"),
        ({"recommendations": {}}, "recommendations is empty"),
        ({"recommendations": {"ann": [[1], [2]]}}, "item: ids must be hashable|items: ids must be hashable"),
        ({"recommendations": [[1, 2]]}, "recommendations must be a mapping or a DataFrame, got list"),
        ({"recommendations": pd.DataFrame({"user": [1], "score": [1]})}, "column 'item' is missing"),
        ({"recommendations": {"ann": [1, float("nan")]}}, "recommendations: item: ids must not be missing"),
        ({"recommendations": {"ann": "abc"}}, "recommendations: user 'ann' needs a collection of items"),
        ({"recommendations": pd.DataFrame({"user": [1], "item": [1]})}, "needs a column 'score' or 'rank'"),
        ({"relevant": {"ann": {2: -1.0}}}, "relevant: grades must be 0 or more, got -1 for user 'ann'"),
        ({"relevant": {"ann": [2, 2]}}, "relevant: user 'ann' has an item twice"),
        ({"relevant": {"ann": {2: float("nan")}}}, "relevant: grade: numbers must be finite"),
        ({"metrics": (3,)}, "metrics: expected names or metrics, got int"),
        ({"metrics": ()}, "suite is empty"),
        ({"conventions": 3}, "conventions must be a name or a Convention, got int"),
        ({"relevant": {}}, "undefined for every user"),
        ({"metrics": ("ndgc",)}, "unknown metric 'ndgc'. Did you mean ndcg?"),
        ({"metrics": ("nDCG@10",)}, "Cutoffs stand apart: metrics=[ndcg], cutoffs=[10]."),
        ({"metrics": ("precision", "precision")}, "metrics: 'precision' is requested twice"),
        ({"cutoffs": (0,)}, "cutoffs: each cutoff must be a whole number >= 1, got 0"),
        ({"cutoffs": 5}, "cutoffs must be a list of whole numbers"),
        ({"conventions": "recbol"}, "conventions: unknown name 'recbol'. Did you mean recbole?"),
        ({"users": ["ann"]}, "recommendations: user 'bob' is not among `users`"),
        ({"users": ["ann", "bob", "ann"]}, "users: an id appears twice"),
        ({"scores": {"ann": [3, 2, 1]}}, "scores: user 'bob' has a list but no scores"),
        ({"scores": [[3, 2, 1], [1]]}, "scores must have the shape of the lists"),
        ({"scores": [[3, 2, 1], [1, 2]]}, "scores of user 'bob' rise"),
        ({"n_items": 2}, "n_items must be a whole number >= 6, got 2"),
        ({"item_features": {1: [1.0]}}, "item_features: item 2 is recommended but has no features"),
    ],
)
def test_message_names_the_argument(changed: dict[str, object], said: str) -> None:
    arguments: dict[str, object] = {"recommendations": LISTS, "relevant": RELEVANT, **changed}
    pattern = said if "|" in said else said.replace("(", r"\(").replace("?", r"\?").replace("[", r"\[")
    with pytest.raises(RecgaugeError, match=pattern):
        recgauge.evaluate(arguments.pop("recommendations"), arguments.pop("relevant"), **arguments)


def test_stranger_in_relevant_is_refused() -> None:
    with pytest.raises(RecgaugeError, match="relevant: user 'cid' is not among `users`"):
        recgauge.evaluate(LISTS, {**RELEVANT, "cid": [1]}, users=["ann", "bob"])


def test_unknown_metric_lists_the_valid_ones() -> None:
    with pytest.raises(RecgaugeError, match=r" precision, .*r_precision"):
        recgauge.evaluate(LISTS, RELEVANT, metrics=("nonsense",))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rmse", "'rmse' measures predicted ratings, not lists; pass it to recgauge.evaluate_ratings"),
        ("class_f1", "'class_f1' measures class labels"),
        ("auc", "'auc' needs the scores of all candidates, not lists: ask for it in a run"),
    ],
)
def test_what_a_metric_needs_is_named(name: str, said: str) -> None:
    with pytest.raises(RecgaugeError, match=said):
        recgauge.evaluate(LISTS, RELEVANT, metrics=(name,))


def test_what_appears_is_the_catalogue_where_nobody_told_its_size() -> None:
    values = recgauge.evaluate(LISTS, RELEVANT, metrics=("entropy", "personalization"), cutoffs=(2,)).values()
    assert values == pytest.approx({"entropy_at_2": 2.0, "personalization_at_2": 1.0})


def test_policies_refuse_by_name() -> None:
    with pytest.raises(RecgaugeError, match="Recall refuses user 'bob', one of 1 without relevant items"):
        recgauge.evaluate(LISTS, {"ann": [2]}, metrics=("recall",), conventions="recmetrics", cutoffs=(3,))
    with pytest.raises(RecgaugeError, match="no_list must be one of zero, skip, nan, raise; got 'drop'"):
        recgauge.Policies(no_list="drop")


def test_a_metric_refuses_users_without_a_value() -> None:
    with pytest.raises(RecgaugeError, match=r"miss=raise.* refuses user 'ann'"):
        recgauge.evaluate(LISTS, {"ann": [9], "bob": [4]}, metrics=("rr",), conventions="cornac")


def test_nothing_of_the_callers_changes() -> None:
    items = np.array([3, 1, 2])
    recgauge.evaluate({"ann": items}, {"ann": [1]}, cutoffs=(2,))
    assert items.tolist() == [3, 1, 2]
    assert items.flags.writeable
