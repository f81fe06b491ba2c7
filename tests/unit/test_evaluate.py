"""`evaluate` takes lists from anywhere and says who counted."""

import numpy as np
import pandas as pd
import pytest

import recgauge
from recgauge.data.interactions import Interactions
from recgauge.data.top_k import TopK
from recgauge.judging.judge import Relevant
from recgauge.metrics.dcg import NDCG

LISTS = {"ann": [1, 2, 3], "bob": [4, 5]}
RELEVANT = {"ann": {2: 1.0}, "bob": {4: 2.0, 9: 1.0}}


def test_frames_and_mappings_agree() -> None:
    rows = [(user, item, rank) for user, items in LISTS.items() for rank, item in enumerate(items)]
    ranked = pd.DataFrame(rows, columns=["user", "item", "rank"])
    scored = ranked.assign(score=-ranked["rank"].astype(float)).drop(columns="rank")
    truth = pd.DataFrame(
        [(user, item, grade) for user, items in RELEVANT.items() for item, grade in items.items()],
        columns=["user", "item", "grade"],
    )
    expected = recgauge.evaluate(LISTS, RELEVANT).values()
    assert recgauge.evaluate(ranked, RELEVANT).values() == expected
    assert recgauge.evaluate(ranked.sample(frac=1, random_state=1), truth).values() == expected
    assert recgauge.evaluate(scored.sample(frac=1, random_state=2), truth).values() == expected


def test_codes_and_ids_agree() -> None:
    items = np.array([[1, 2, 3], [4, 5, -1]], np.int32)
    scores = np.array([[3, 2, 1], [2, 1, -np.inf]], np.float32)
    top_k = TopK(np.array([0, 1], np.int32), items, scores)
    relevant = Relevant(
        np.array([0, 1], np.int32),
        np.array([0, 1, 3]),
        np.array([2, 4, 9], np.int32),
        np.array([1.0, 2, 1]),
        0,
    )
    expected = recgauge.evaluate(LISTS, RELEVANT).values()
    assert recgauge.evaluate(top_k, relevant).values() == expected
    assert recgauge.evaluate(top_k, {0: RELEVANT["ann"], 1: RELEVANT["bob"]}).values() == expected


@pytest.mark.parametrize(
    "rename", [str, lambda item: (item, "x"), lambda item: f"ü{item}", lambda item: item * 10**12, float]
)
def test_ids_of_any_hashable_type(rename) -> None:
    lists = {user: [rename(item) for item in items] for user, items in LISTS.items()}
    relevant = {
        user: {rename(item): grade for item, grade in items.items()} for user, items in RELEVANT.items()
    }
    assert recgauge.evaluate(lists, relevant).values() == recgauge.evaluate(LISTS, RELEVANT).values()


def test_ids_of_several_types_stay_apart() -> None:
    result = recgauge.evaluate({"u": [1, "1"]}, {"u": ["1"]}, metrics=("rr",), cutoffs=(None,))
    assert result.values() == {"rr": 0.5}


def test_users_are_counted_by_policy() -> None:
    lists, relevant = {"a": [1], "b": [2], "c": []}, {"a": [1], "d": [3], "c": [1]}
    result = recgauge.evaluate(lists, relevant, metrics=("hit",), cutoffs=(1,), users=list("abcde"))
    assert list(result.users) == list("abcde")
    assert result.per_user("hit_at_1").tolist() == pytest.approx([1, np.nan, 0, 0, np.nan], nan_ok=True)
    assert result.values()["hit_at_1"] == pytest.approx(1 / 3)
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


def test_ties_follow_the_convention() -> None:
    lists, relevant, scores = {"u": [1, 2, 3]}, {"u": [2]}, {"u": [0.5, 0.5, 0.5]}
    rank = {
        name: 1
        / recgauge.evaluate(
            lists, relevant, metrics=("rr",), cutoffs=(None,), conventions=name, scores=scores
        ).values()["rr"]
        for name in ("standard", "trec", "irspack")
    }
    assert rank == {"standard": 2.0, "trec": 2.0, "irspack": 2.0}
    highest = recgauge.evaluate(
        lists, {"u": [3]}, metrics=("rr",), cutoffs=(None,), conventions="trec", scores=scores
    )
    assert highest.values()["rr"] == 1.0
    without_scores = recgauge.evaluate(
        lists, {"u": [3]}, metrics=("rr",), cutoffs=(None,), conventions="trec"
    )
    assert without_scores.values()["rr"] == pytest.approx(1 / 3)


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
    assert (relevant.users.tolist(), relevant.items.tolist(), relevant.gains.tolist()) == (
        [0],
        [0, 1],
        [5, 4],
    )
    assert relevant.n_without == 1
