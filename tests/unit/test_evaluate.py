"""`evaluate` takes lists from anywhere, says who counted, and names the argument that is wrong."""

import numpy as np
import pandas as pd
import pytest

import recgauge
from recgauge.data.interactions import Interactions
from recgauge.data.lists import Relevant
from recgauge.errors import RecgaugeError, SchemaError
from recgauge.metrics.discounted import NDCG

LISTS = {"ann": [1, 2, 3], "bob": [4, 5]}
RELEVANT = {"ann": {2: 1.0}, "bob": {4: 2.0, 9: 1.0}}


def test_users_are_counted_by_policy() -> None:
    lists, relevant = {"a": [1], "b": [2], "c": []}, {"a": [1], "d": [3], "c": [1]}
    result = recgauge.evaluate(lists, relevant, metrics=("hit",), cutoffs=(1,), users=list("abcde"))
    assert list(result.users) == list("abcde")
    assert result.per_user("hit_at_1").tolist() == pytest.approx([1, np.nan, 0, 0, np.nan], nan_ok=True)
    assert result.values()["hit_at_1"] == pytest.approx(1 / 3)
    (warning,) = recgauge.evaluate({"a": [1]}, {"a": [1], "b": [1], "c": [1]}).warnings()
    assert warning.startswith("2 of 3 users have no list, and count as 0")
    assert result.counts == {
        "users_evaluated": 3,
        "users_evaluated_without_relevant_items": 0,
        "users_left_out": 2,
        "users_without_relevant_items": 2,
        "users_without_list": 3,
    }
    zero = recgauge.evaluate(
        lists, relevant, metrics=("hit",), cutoffs=(1,), users=list("abcde"), conventions="replay"
    )
    assert zero.values()["hit_at_1"] == pytest.approx(1 / 5)
    both = recgauge.evaluate(lists, relevant, metrics=("hit",), cutoffs=(1,), conventions="irspack")
    assert both.values()["hit_at_1"] == 1.0


def test_deviations_follow_the_name_and_show_in_the_definition() -> None:
    result = recgauge.evaluate(
        {"a": [1]}, {"a": [1], "b": [2]}, metrics={"mine": "ndcg", "p": "precision"}, cutoffs=(1,),
        conventions="recommenders",
    )  # fmt: skip
    assert result.values() == {"mine_at_1": 0.5, "p_at_1": 1.0}
    assert (
        result.definitions()["mine_at_1"] == "nDCG(gain=binary, discount=log2, ideal=at_k)@1 [no_list=zero]"
    )


def test_metric_objects_and_frames() -> None:
    result = recgauge.evaluate(LISTS, RELEVANT, metrics=(NDCG(gain="exponential"),), cutoffs=(2, None))
    assert list(result.values()) == ["ndcg_at_2", "ndcg"]
    frame = result.to_frame()
    assert frame.loc["bob", "ndcg_at_2"] == result.per_user("ndcg_at_2")[1]
    assert result.policies.startswith("no_relevant=skip")


def test_an_item_held_out_several_times_is_relevant_once_with_its_highest_gain() -> None:
    held_out = Interactions.from_ids([1, 1, 1, 2, 2], [7, 7, 8, 7, 7], [4, 5, 4, 2, 3])
    relevant = Relevant.from_interactions(held_out, 4)
    assert (relevant.users.tolist(), relevant.items.tolist()) == ([0], [0, 1])
    assert (relevant.gains.tolist(), relevant.n_without) == ([5, 4], 1)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"recommendations": "a.csv"}, "got str. Write {user: [items]}, .* Of a file: pandas.read_csv"),
        ({"relevant": {"ann": {2: -1.0}}}, "relevant: grades must be 0 or more, got -1 for user 'ann'"),
        (
            {"relevant": pd.DataFrame({"user": ["ann"] * 2, "item": [2, 2], "grade": [1, 0]})},
            "relevant: user 'ann' has an item twice",
        ),
        ({"metrics": ("nDCG@ten",)}, "unknown metric 'ndcg@ten'. After @ stands a whole number"),
        ({"metrics": ("ndcg@10", "ndcg@10")}, "'ndcg_at_10' is requested twice"),
        ({"conventions": "recbol"}, "conventions: unknown name 'recbol'. Did you mean recbole?"),
        ({"users": ["ann"]}, "recommendations: user 'bob' is not among `users`"),
        ({"scores": {"ann": [3, 2, 1]}}, "scores: user 'bob' has a list but no scores"),
        ({"n_items": 2}, "n_items must be a whole number >= 6, got 2"),
        ({"item_features": {1: [1.0]}}, "item_features: item 2 is recommended but has no features"),
    ],
)
def test_message_names_the_argument(changed: dict[str, object], said: str) -> None:
    arguments: dict[str, object] = {"recommendations": LISTS, "relevant": RELEVANT, **changed}
    pattern = said if "|" in said else said.replace("(", r"\(").replace("?", r"\?").replace("[", r"\[")
    with pytest.raises(RecgaugeError, match=pattern):
        recgauge.evaluate(arguments.pop("recommendations"), arguments.pop("relevant"), **arguments)


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


def test_a_metric_refuses_users_without_a_value() -> None:
    with pytest.raises(RecgaugeError, match=r"miss=raise.* refuses user 'ann'"):
        recgauge.evaluate(LISTS, {"ann": [9], "bob": [4]}, metrics=("rr",), conventions="cornac")


def test_nothing_of_the_callers_changes() -> None:
    items = np.array([3, 1, 2])
    recgauge.evaluate({"ann": items}, {"ann": [1]}, cutoffs=(2,))
    assert items.tolist() == [3, 1, 2]
    assert items.flags.writeable


@pytest.mark.parametrize(
    ("lists", "truth", "examples"),
    [
        ({"u": ["7", "8"]}, {"u": [7]}, "'7' only in the lists and 7 only in the relevant items"),
        ({"1": [7, 8], "2": [7]}, {1: [7], 2: [7]}, "'2' only in the lists and 2 only in the relevant items"),
        ({"u": ["8.0"]}, {"u": ["8"]}, "'8.0' only in the lists and '8' only in the relevant items"),
        ({"u": np.arange(2)}, {"u": ["film-x", "film-y"]}, "codes from 0 to 1"),
    ],
)
def test_ids_written_in_two_ways_are_refused_unless_kept(lists, truth, examples) -> None:
    with pytest.raises(SchemaError, match='go on with keep=\\["unmet"\\]') as caught:
        recgauge.evaluate(lists, truth, metrics="recall", cutoffs=(2,))
    assert examples in str(caught.value)
    kept = recgauge.evaluate(lists, truth, metrics="recall", cutoffs=(2,), keep=["unmet"])
    assert repr(kept).startswith("Warning: ")


def test_training_rows_written_in_another_way_are_refused() -> None:
    lists, truth = {"u": ["b3", "b4"]}, {"u": ["b4"]}
    with pytest.raises(SchemaError, match="prefix"):
        recgauge.evaluate(lists, truth, metrics="recall", cutoffs=(2,), train={"u": ["3", "4"]})
