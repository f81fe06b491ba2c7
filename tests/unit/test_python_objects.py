"""Whatever Python holds lists, truth, features and ratings in is read as it is meant, or refused."""

from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from recgauge import Interactions, Relevant, TopK, evaluate, evaluate_ratings
from recgauge.errors import RecgaugeError
from recgauge.metrics.classes import ClassFScore


@st.composite
def problems(draw):
    """Draw ``{user: [items]}`` and ``{user: {item: grade}}`` with ids of one type each."""
    of_users, of_items = (
        draw(st.sampled_from([st.integers(1, 60), st.text("abc", min_size=2)])) for _ in "ui"
    )
    users = draw(st.lists(of_users, min_size=1, max_size=5, unique=True))
    items = draw(st.lists(of_items, min_size=3, max_size=8, unique=True))
    some = st.lists(st.sampled_from(items), min_size=1, max_size=6, unique=True)
    lists = {user: draw(some) for user in users}
    return lists, {user: {item: draw(st.integers(1, 4)) for item in draw(some)} for user in users}


def scored(items):
    """Give a list scores that fall, the best as a number of the whole numbers that follow."""
    return {item: len(items) - at for at, item in enumerate(items)}


def turned(mapping):
    """Return the same mapping, its entries in another order."""
    return dict(sorted(mapping.items(), key=lambda entry: str(entry)[::-1]))


def frame(rows, **columns):
    """Return rows of users' items as a table whose rows are in another order."""
    table = pd.DataFrame([(user, *entry) for user, entries in rows.items() for entry in entries])
    return table.set_axis(["userId", "item_id", *columns], axis=1).iloc[::-1]


def in_cells(rows, value):
    """Return a table with a row per user, the items in one cell and their numbers in another."""
    cells = [(user, [*entries], [*entries.values()]) for user, entries in rows.items()]
    return pa.Table.from_pandas(pd.DataFrame(cells, columns=["user", "item", value]))


def with_views(table):
    """Return a table as polars writes it: texts, categories and lists of texts are views."""
    kinds = {pa.string(): pa.string_view(), pa.large_string(): pa.string_view()}
    for place, name in enumerate(table.column_names):
        column = table.column(place).combine_chunks()
        if pa.types.is_list(column.type):
            column = column.cast(pa.list_(kinds.get(column.type.value_type, column.type.value_type)))
        elif (column := column.cast(kinds.get(column.type, column.type))).type == pa.string_view():
            codes = column.cast(pa.string()).dictionary_encode()
            column = pa.DictionaryArray.from_arrays(codes.indices, codes.dictionary.cast(pa.string_view()))
        table = table.set_column(place, name, column)
    return table


def padded(items):
    """Return a list as whole numbers filled up with -1, if items are numbers."""
    return np.array([*items, -1, -1]) if isinstance(items[0], int) else np.array(items)


def each(change):
    """Return a function that changes each user's row."""
    return lambda rows: {user: change(row) for user, row in rows.items()}


LISTS = {
    "tuple": each(tuple),
    "array": each(np.array),
    "filled up": each(padded),
    "Series": each(pd.Series),
    "Arrow array": each(pa.array),
    "Series of lists": lambda lists: pd.Series(each(list)(lists)),
    "scores by item": each(lambda items: turned(scored(items))),
    "pairs": each(lambda items: [*scored(items).items()]),
    "Series of scores": each(lambda items: pd.Series(turned(scored(items)), dtype=float)),
    "ranks": lambda lists: frame(each(lambda items: [(i, r) for r, i in enumerate(items, 1)])(lists), rank=0),
    "scores": lambda lists: frame(each(lambda items: scored(items).items())(lists), score=0),
    "Arrow table": lambda lists: pa.Table.from_pandas(LISTS["scores"](lists), preserve_index=False),
    "lists in cells": lambda lists: pd.DataFrame({"user": [*lists], "items": [*lists.values()]}),
    "texts of views": lambda lists: with_views(LISTS["Arrow table"](lists)),
}
TRUTHS = {
    "Series of grades": each(lambda grades: pd.Series(turned(grades), dtype=float)),
    "table": lambda truth: frame(each(lambda grades: grades.items())(truth), rating=0),
    "Arrow table": lambda truth: pa.Table.from_pandas(TRUTHS["table"](truth), preserve_index=False),
    "interactions": lambda truth: Interactions.from_ids(
        *TRUTHS["table"](truth)[["userId", "item_id", "rating"]].T.to_numpy().tolist()
    ),
}
ITEMS = {
    "tuple": each(tuple), "set": each(set), "frozenset": each(frozenset), "keys": each(dict.keys),
    "array": each(lambda grades: np.array([*grades])), "filled up": each(lambda grades: padded([*grades])),
    "Series": each(lambda grades: pd.Series([*grades])),
    "table": lambda truth: frame(each(lambda grades: [(item,) for item in grades])(truth)),
}  # fmt: skip


def outcome(lists, truth, **settings):
    """Return all numbers and whose they are, or that the same inputs are refused in every shape."""
    try:
        found = evaluate(lists, truth, metrics=("ndcg", "recall", "rr"), cutoffs=(1, 3, None), **settings)
    except RecgaugeError as error:
        return type(error)
    order = np.argsort([str(user) for user in found.users])
    return found.values(), [str(found.users[at]) for at in order]


@settings(max_examples=8)
@given(problem=problems())
def test_every_shape_of_lists_is_judged_as_lists_of_items(problem):
    lists, truth = problem
    expected = outcome(lists, truth)
    for name, shape in LISTS.items():
        assert outcome(shape(lists), truth) == expected, name


@settings(max_examples=8)
@given(problem=problems())
def test_every_shape_of_truth_is_judged_as_items_with_grades(problem):
    lists, truth = problem
    expected = outcome(lists, truth)
    for name, shape in TRUTHS.items():
        assert outcome(lists, shape(truth)) == expected, name
    expected = outcome(lists, each(list)(truth))
    for name, shape in ITEMS.items():
        assert outcome(lists, shape(truth)) == expected, name


@settings(max_examples=8)
@given(problem=problems())
def test_training_rows_and_scores_may_have_every_shape(problem):
    lists, truth = problem
    expected = outcome(lists, truth, train=truth)
    for shape in (*TRUTHS.values(), *ITEMS.values()):
        assert outcome(lists, truth, train=shape(truth)) == expected
    equal = each(lambda items: [-(at // 2) for at in range(len(items))])(lists)
    by_item = {user: dict(zip(lists[user], row, strict=True)) for user, row in equal.items()}
    expected = outcome(lists, truth, scores=equal, ties="expected")
    for scores in ([*equal.values()], each(np.array)(equal), each(turned)(by_item), turned(by_item)):
        assert outcome(lists, truth, scores=scores, ties="expected") == expected


LISTS_FRAME = pd.DataFrame(
    {"user_id": [1, 1, 2, 2, 3], "item_id": [5, 6, 5, 7, 8], "rating": [0.9, 0.8, 0.7, 0.6, 1]}
)
TRUTH_FRAME = pd.DataFrame({"userId": [1, 2, 2, 3], "movieId": [6, 9, 7, 4], "stars": [4, 5, 1, 2]})


@pytest.mark.parametrize(
    ("lists", "truth", "words"),
    [
        (LISTS_FRAME, TRUTH_FRAME.assign(stars=[0, 1, 1, 0]).rename(columns={"stars": "clicked"}), "clicked"),
        (LISTS_FRAME.assign(model=list("AABBA")), TRUTH_FRAME, "drop"),
        (LISTS_FRAME.assign(rank=[1, 3, 1, 2, 1]), TRUTH_FRAME, "rank"),
        (LISTS_FRAME.assign(rank=[2, 1, 1, 2, 1]), TRUTH_FRAME, "disagree"),
        (LISTS_FRAME.assign(item_id=[5, -1, 5, -1, 8]), TRUTH_FRAME, "implausible"),
        (LISTS_FRAME.assign(item_id=[5, None, 5, 7, 8]), TRUTH_FRAME, "item_id"),
        (LISTS_FRAME.drop(columns="rating"), TRUTH_FRAME, "rank"),
        (LISTS_FRAME["item_id"], TRUTH_FRAME, "mapping"),
        (in_cells({1: {5: 1, 6: 2}}, "score"), TRUTH_FRAME, "beside lists"),
        (LISTS_FRAME, pd.DataFrame({"user": [1], "items": [[5, 6]], "grade": [3]}), "beside lists"),
    ],
)
def test_frames_with_a_question_are_refused(lists, truth, words):
    with pytest.raises(RecgaugeError, match=words):
        evaluate(lists, truth)


LISTED = {"u": ["a", "b"], "v": ["b"]}
NOT_LISTS = {
    "a set": {"a", "b"}, "a frozenset": frozenset("ab"), "keys": {"a": 1}.keys(), "text": "ab",
    "bytes": b"ab",
    "a generator": iter("ab"), "values": {"x": "a"}.values(), "nothing": None, "two dimensions": [["a", "b"]],
    "an array of two dimensions": np.array([["a", "b"]]), "a table": pd.DataFrame({"item": ["a"]}),
    "counts by item": pd.Series([2, 1], ["a", "b"]), "rising pairs": [("a", 0.1), ("b", 0.2)],
    "some with scores": [("a", 0.1), "b"], "text as scores": {"a": "0.2"}, "no score": {"a": None},
    "triples": [("u", "a", 0.5)], "a mask": np.array([True, False]),
    "masked": np.ma.masked_array([1, 2], [0, 1]),
    "filled up at the beginning": [-1, 3], "-1 with a score": {3: 0.5, -1: 0.0},
}  # fmt: skip


@pytest.mark.parametrize("row", NOT_LISTS.values(), ids=NOT_LISTS)
def test_what_is_no_list_is_refused_with_its_user(row):
    with pytest.raises(RecgaugeError, match="'u'"):
        evaluate({"u": row}, {"u": ["a"]})


NO_IDS = {
    "None": None, "NaN": float("nan"), "NaT": pd.NaT, "NA": pd.NA, "fraction": 1.5, "whole fraction": 1.0,
    "truth value": True, "date": date(2020, 1, 2), "moment": np.datetime64("2020-01-02", "ns"),
    "tuple": ("a", 2), "pair": ("a", "b"), "list": ["a"], "array": np.array(["a"]),
}  # fmt: skip


@pytest.mark.parametrize("value", NO_IDS.values(), ids=NO_IDS)
def test_what_is_no_id_is_refused_wherever_it_stands(value):
    message = r"ids must|needs a collection|between|finite|missing"
    with pytest.raises(RecgaugeError, match=message):
        evaluate({"u": ["a", "b", value]}, {"u": ["a"]})
    with pytest.raises(RecgaugeError, match=message):
        evaluate({"u": ["a"]}, {"u": ["a", value]})
    with pytest.raises(RecgaugeError, match=message):
        Interactions.from_ids(["a", value], ["x", "y"])
    with pytest.raises(RecgaugeError, match=message):
        evaluate_ratings([1, 2], [1, 2], users=["a", value])
    if value is not NO_IDS["list"] and value is not NO_IDS["array"]:
        with pytest.raises(RecgaugeError, match=message):
            evaluate({"u": ["a"], value: ["a"]}, {"u": ["a"]})


def test_a_number_and_its_text_are_two_ids_and_numbers_of_numpy_are_python_s():
    found = evaluate({1: ["a"], "1": ["b"]}, {np.int64(1): ["a"], "1": ["a"]}, metrics=("hit",), cutoffs=(1,))
    assert dict(zip(found.users.tolist(), found.per_user("hit_at_1"), strict=True)) == {1: 1.0, "1": 0.0}
    large = 10**30
    assert (
        evaluate({large: [2**70]}, {large: [2**70]}, metrics=("hit",), cutoffs=(1,)).values()["hit_at_1"] == 1
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"users": "uv"}, {"users": iter("uv")}, {"scores": {"u": {"a": 1.0}, "v": {"b": 1.0}}},
        {"scores": {"u": {2.0, 1.0}, "v": [1.0]}}, {"scores": pd.Series([1.0])}, {"scores": "ab"},
        {"scores": {"u": ["2", "1"], "v": [1.0]}}, {"cutoffs": "2"}, {"cutoffs": 2},
    ],
)  # fmt: skip
def test_users_scores_and_cutoffs_of_other_shapes_are_refused(settings):
    with pytest.raises(RecgaugeError, match=r"users|scores|cutoffs"):
        evaluate(LISTED, LISTED, **settings)


FEATURES = {"a": [0.0, 1.0], "b": [1.0, 1.0], "c": [1.0, 0.0]}
SIMILAR = pd.DataFrame([[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]], index=list("abc"), columns=list("abc"))
TABLE = pd.DataFrame.from_dict(FEATURES, orient="index", columns=["x", "y"])


def diversity(**tables):
    """Return the diversity of two lists by features or similarities of three items."""
    lists = {"u": ["a", "b", "c"], "v": ["c", "a"]}
    return evaluate(
        lists, {"u": ["a"]}, metrics=("list_diversity",), conventions="capri", cutoffs=(2,), **tables
    )


@pytest.mark.parametrize(
    "features",
    [
        TABLE, TABLE.loc[["c", "a", "b"]], TABLE.loc[["b", "c", "a"]].rename_axis("movieId").reset_index(),
        TABLE[["y", "x"]].reset_index(names="item"), TABLE.reset_index(names="item").set_index([[9, 4, 7]]),
        pa.Table.from_pandas(TABLE.reset_index(names="item_id").iloc[::-1], preserve_index=False),
        {"c": {"x"}, "a": {"y"}, "b": {"x", "y"}}, {"a": {"y": 1}, "b": {"y": 1, "x": 1}, "c": {"x": True}},
        {item: pd.Series(row, ["x", "y"]).iloc[:: 1 - 2 * (item == "b")] for item, row in FEATURES.items()},
    ],
)  # fmt: skip
def test_features_are_those_of_their_items(features):
    assert diversity(item_features=features).values() == diversity(item_features=FEATURES).values()


@pytest.mark.parametrize(
    "similarity",
    [
        SIMILAR.loc[["c", "a", "b"]],
        SIMILAR[["b", "a", "c"]],
        SIMILAR.to_dict(),
        {i: SIMILAR[i] for i in "bca"},
    ],
)
def test_similarities_are_those_of_their_items(similarity):
    assert diversity(item_similarity=similarity).values() == diversity(item_similarity=SIMILAR).values()


@pytest.mark.parametrize(
    "table",
    [
        TABLE.reset_index(drop=True), TABLE.assign(genre="x"), pd.concat([TABLE, TABLE]), "abc", {"a", "b"},
        TABLE.reset_index(names="movieId").set_index([[9, 4, 7]]), TABLE.assign(x=[1.0, np.nan, 1.0]),
        {**FEATURES, "b": [1.0, np.inf]}, {**FEATURES, "b": {"x"}}, {**FEATURES, "b": "xy"}, [[1], [1, 2]],
        {**FEATURES, "b": [1.0]}, {**FEATURES, "b": ["x", "y"]}, TABLE["x"], {**FEATURES, None: [1.0, 1.0]},
        np.array([["x"]]), sparse.csr_array(np.array([[1j]])),
    ],
)  # fmt: skip
def test_features_of_no_item_or_without_value_are_refused(table):
    with pytest.raises(RecgaugeError, match="item_features"):
        diversity(item_features=table)


TRAIN = Interactions.from_ids(["ann", "bob", "ann"], ["x", "y", "z"])
CODES = TopK(np.array([0, 1]), np.array([[1, 2], [1, 0]]), np.array([[0.9, 0.5], [0.8, 0.8]]))


def test_codes_become_the_ids_of_their_tables():
    truth = {"ann": ["x", "z"], "bob": ["y"]}
    by_ids = evaluate(CODES.by_ids(TRAIN.user_ids, TRAIN.item_ids), truth).to_frame()
    for lists, relevant, train in (
        (CODES, Relevant.from_interactions(TRAIN, None), None), (CODES, TRAIN, None), (CODES, truth, TRAIN),
    ):  # fmt: skip
        pd.testing.assert_frame_equal(evaluate(lists, relevant, train=train).to_frame(), by_ids)
    by_item = {"x": [1.0, 0], "y": [1.0, 1], "z": [0, 1.0]}
    relevant, similarity = Relevant.from_interactions(TRAIN, None), "intra_list_similarity"
    for features in (turned(by_item), np.array([*by_item.values()])):
        found = evaluate(CODES, relevant, metrics=(similarity,), cutoffs=(2,), item_features=features)
        assert found.values() == {f"{similarity}_at_2": pytest.approx(0.5**0.5)}


@pytest.mark.parametrize(
    ("lists", "relevant", "settings"),
    [
        (CODES, {0: [1]}, {}),
        (TopK(np.array([0, 7]), CODES.items, CODES.scores), Relevant.from_interactions(TRAIN, None), {}),
        (TopK(np.array([0, 1]), CODES.items + 2, CODES.scores), Relevant.from_interactions(TRAIN, None), {}),
        (CODES, Relevant.from_interactions(TRAIN, None), {"train": Interactions.from_ids(["ann"], ["x"])}),
        (CODES, Relevant.from_interactions(TRAIN, None), {"users": ["ann", "bob"]}),
        (CODES, Relevant.from_interactions(TRAIN, None), {"scores": [[1, 1], [1, 1]]}),
    ],
)
def test_codes_of_other_tables_are_refused(lists, relevant, settings):
    with pytest.raises(RecgaugeError):
        evaluate(lists, relevant, **settings)


ACTUAL = pd.Series([4.0, 2.0, 5.0], list("abc"))


@given(order=st.permutations("abc"))
def test_series_are_paired_by_their_index(order):
    turned = ACTUAL[order]
    assert evaluate_ratings(ACTUAL, turned).values() == {"mae": 0.0, "rmse": 0.0}
    users = pd.Series(["u", "v", "u"], list("abc"))[order]
    found = evaluate_ratings(ACTUAL, ACTUAL + 1, users=users, metrics=("mae",))
    assert found.users.tolist() == ["u", "v"]
    labels = ACTUAL.map({4.0: "x", 2.0: "y", 5.0: "x"})
    assert ClassFScore().value(labels, labels[order]) == 1.0
    table = pd.get_dummies(labels)
    assert ClassFScore().value(table, table.loc[order, ["y", "x"]]) == 1.0
    rows = Interactions.from_ids(pd.Series(list("uvw"), list("abc")), labels[order], ACTUAL[order])
    assert rows.item_ids[rows.item].tolist() == ["x", "y", "x"]
    assert rows.value.tolist() == [4.0, 2.0, 5.0]


def test_series_with_other_indexes_are_refused():
    other = ACTUAL.rename({"a": "z"})
    for compare in (evaluate_ratings, ClassFScore().value, Interactions.from_ids):
        with pytest.raises(RecgaugeError, match="index"):
            compare(ACTUAL.astype(int), other.astype(int))


@pytest.mark.parametrize("users", [{"a", "b"}, frozenset("ab"), {"a": 1, "b": 2}.keys()])
def test_a_set_pairs_no_rows(users):
    with pytest.raises(RecgaugeError, match=r"user.*order"):
        Interactions.from_ids(users, ["x", "y"], [1, 2])
    with pytest.raises(RecgaugeError, match=r"users.*order"):
        evaluate_ratings([1, 2], [1, 2], users=users)


@pytest.mark.parametrize(
    "times",
    [
        [1577836800000, 1577923200000], [1577836800, 1577923200000], pd.to_datetime(["2020-01-01", None]),
        [1577836800.5, 1577923200], pd.to_datetime([1577836800500, 1577923200000], unit="ms"),
        ["2020-01-01", "2020-01-02"], np.array([1577836800, 1577923200], np.float32), [1577836800],
        pd.Series(pd.period_range("2020-01-01", periods=2)),
    ],
)  # fmt: skip
def test_times_that_are_no_whole_seconds_are_refused(times):
    with pytest.raises(RecgaugeError, match="timestamp"):
        Interactions.from_ids([1, 2], [1, 2], timestamp=times)
