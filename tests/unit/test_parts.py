"""Evaluation in parts equals that of all rows at once to the last bit, however users are divided."""

import numpy as np
import pyarrow as pa
import pytest

import recgauge
from recgauge import Part, PartTask
from recgauge.conventions import get_convention
from recgauge.errors import ConfigError, MetricError, SchemaError
from recgauge.metrics.beyond.catalogue import Entropy

OF_USERS = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg", "dcg", "rbp", "f1_of_means")
OF_ITEMS = ("catalog_coverage", "gini", "entropy", "personalization", "herfindahl", "prediction_coverage")
N_ITEMS = 90


@pytest.fixture(scope="module")
def tables():
    """Lists of different lengths with equal scores, and grades; some users are in one table only."""
    rng = np.random.default_rng(3)
    lists, truth = [], []
    for user in range(400):
        if user % 11:
            items = rng.permutation(80)[: rng.integers(1, 14)]
            scores = -np.sort(-rng.integers(0, 9, len(items)) / 4)
            lists += [(user, f"i{item}", score) for item, score in zip(items, scores, strict=True)]
        if user % 7:
            # whoever has a number that 5 divides has grades of 3 alone
            grades = [3] if user % 5 == 0 else [0, 1, 2, 5]
            truth += [
                (user, f"i{i}", float(rng.choice(grades))) for i in rng.permutation(80)[: rng.integers(1, 6)]
            ]
    names = (("user", "item", "score"), ("user", "item", "grade"))
    return tuple(
        pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))
        for columns, rows in zip(names, (lists, truth), strict=True)
    )


def of_users(table, users):
    return table.filter(pa.compute.is_in(table["user"], pa.array(users)))


def assert_equal(one, other):
    assert one.values() == other.values()
    assert one.stderrs() == other.stderrs()
    assert one.definitions() == other.definitions()
    assert dict(one.counts) == dict(other.counts)
    assert [entry.n_users for entry in one.results] == [entry.n_users for entry in other.results]
    assert one.policies == other.policies


@pytest.mark.parametrize("convention", ["standard", "recbole", "trec", "elliot"])
@pytest.mark.parametrize("n_parts", [1, 7, 64])
def test_parts_equal_the_whole_to_the_last_bit(tables, convention, n_parts) -> None:
    rng, frames = np.random.default_rng(n_parts), [table.to_pandas() for table in tables]
    asked = {"metrics": (*OF_USERS, *OF_ITEMS), "cutoffs": (1, 5, 10), "conventions": convention}
    whole = recgauge.evaluate(*frames, **asked, n_items=N_ITEMS)
    task = PartTask(**asked, items=[f"i{i}" for i in range(80)], n_items=N_ITEMS, per_user=True)
    parts = []
    for users in np.array_split(rng.permutation(400), n_parts):
        # users in any order, each one's rows in theirs
        place = rng.permutation(400)
        parts.append(
            task.judge(
                *(
                    frame[frame["user"].isin(users)].sort_values("user", key=place.take, kind="stable")
                    for frame in frames
                )
            )
        )
    by_part = task.merge(parts[::-1])
    assert_equal(by_part, whole)
    order = np.argsort(whole.users)
    assert by_part.users.tolist() == whole.users[order].tolist()
    for entry in whole.results:
        if entry.per_user is not None:
            assert np.array_equal(by_part.per_user(entry.key), entry.per_user[order], equal_nan=True)


def test_parts_are_sent_as_bytes(tables) -> None:
    task = PartTask(
        metrics=("ndcg", "gini"), cutoffs=(5,), items=[f"i{i}" for i in range(80)], n_items=N_ITEMS
    )
    parts = [task.judge(*(of_users(table, range(at, 400, 3)) for table in tables)) for at in range(3)]
    sent = [Part.from_bytes(part.to_bytes()) for part in parts]
    assert_equal(task.merge(sent), task.merge(parts))
    assert [(part.findings, part.meetings) for part in sent] == [
        (part.findings, part.meetings) for part in parts
    ]
    with pytest.raises(SchemaError, match="wrote"):
        Part.from_bytes(b"nothing")


@pytest.mark.parametrize(
    ("metrics", "ties"), [({"entropy": Entropy(weight="users")}, "item_code"), ({"ndcg": "ndcg"}, "expected")]
)
def test_weights_of_users_and_expected_ties_merge_too(tables, metrics, ties) -> None:
    convention = get_convention("standard").with_policies({"ties": ties})
    items = sorted({*tables[0]["item"].to_pylist(), *tables[1]["item"].to_pylist()})
    task = PartTask(metrics=metrics, cutoffs=(5, None), conventions=convention, items=items)
    frames = [table.to_pandas() for table in tables]
    whole = recgauge.evaluate(*frames, metrics=metrics, cutoffs=(5, None), conventions=convention)
    parts = [task.judge(*(of_users(table, range(at, 400, 3)) for table in tables)) for at in range(3)]
    assert task.merge(parts).values() == whole.values()
    assert task.merge(parts).stderrs() == whole.stderrs()


def test_parts_of_other_tasks_and_users_in_two_parts_are_refused(tables) -> None:
    task, other = PartTask(cutoffs=(5,), per_user=True), PartTask(cutoffs=(10,))
    with pytest.raises(ConfigError, match="another task"):
        task.merge([other.judge(*tables)])
    parts = [task.judge(*(of_users(table, [1, one]) for table in tables)) for one in (2, 3)]
    for two in (parts, [Part.from_bytes(part.to_bytes()) for part in parts]):
        with pytest.raises(SchemaError, match="user 1 is in two parts"):
            task.merge(two)
    with pytest.raises(ConfigError, match="at least one part"):
        task.merge([])


def test_what_parts_cannot_give_is_refused_at_once(tables) -> None:
    with pytest.raises(ConfigError, match="novelty needs training rows"):
        PartTask(metrics=("novelty",))
    with pytest.raises(ConfigError, match="random orders"):
        PartTask(conventions=get_convention("standard").with_policies({"ties": "random"}))
    with pytest.raises(MetricError, match="Gini needs the catalogue's size"):
        PartTask(metrics=("gini",)).judge(*tables)
    with pytest.raises(SchemaError, match="items: lists or truth have others"):
        PartTask(metrics=("ndcg",), items=["i0"]).judge(*tables)
    strangers = tables[1].set_column(0, "user", pa.array(tables[1]["user"].to_numpy() + 1000))
    task = PartTask(metrics=("ndcg",))
    with pytest.raises(SchemaError, match="users: 0 in both, of 342 in the truth"):
        task.merge([task.judge(tables[0], strangers)])
