"""What each filter keeps or changes, checked against a slow and obvious count."""

from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError, SchemaError
from recgauge.filters import apply_filters
from recgauge.filters.rows import (
    POLICIES,
    DateRange,
    Duplicates,
    ItemRows,
    NCore,
    PopularItems,
    SampleUsers,
    UserRows,
)
from recgauge.filters.where import Where
from strategies import logs

RNG = np.random.default_rng(0)


@given(logs(), st.integers(1, 4), st.one_of(st.none(), st.integers(1, 4)))
def test_n_core_leaves_only_users_and_items_with_enough_rows(rows, n, item_n):
    kept = rows.take(NCore(n, item_n).keep(rows))
    for counts, least in ((kept.user_counts(), n), (kept.item_counts(), n if item_n is None else item_n)):
        assert counts[counts > 0].min(initial=least) >= least
    assert NCore(n, item_n).keep(kept).all()


@settings(max_examples=20)  # of 256 parts each
@given(logs(max_users=4, max_items=4, max_rows=10), st.integers(1, 3))
def test_n_core_is_the_largest_such_part(rows, n):
    """Every part of users and items that satisfies the limits lies inside the core."""
    kept = NCore(n).keep(rows)
    for users in range(16):
        for items in range(16):
            inside = (users >> rows.user & 1).astype(bool) & (items >> rows.item & 1).astype(bool)
            part = rows.take(inside)
            counts = np.concatenate([part.user_counts(), part.item_counts()])
            if len(part) and counts[counts > 0].min() >= n:
                assert kept[inside].all()


@given(logs(), st.integers(1, 4))
def test_one_pass_counts_users_and_items_on_the_rows_as_they_come(rows, n):
    users, items = Counter(rows.user.tolist()), Counter(rows.item.tolist())
    wanted = [users[u] >= n and items[i] >= n for u, i in zip(rows.user, rows.item, strict=True)]
    kept = NCore(n, repeat=False).keep(rows)
    assert kept.tolist() == wanted
    assert (kept | ~NCore(n).keep(rows)).all()


@given(logs(), st.integers(1, 6), st.integers(0, 6), st.integers(0, 6))
def test_rows_of_users_and_items_are_within_limits(rows, at_least, more_than, room):
    at_most = max(at_least, more_than + 1) + room
    for kind, codes in ((UserRows, rows.user), (ItemRows, rows.item)):
        counts = Counter(codes.tolist())
        wanted = [at_least <= counts[c] <= at_most and counts[c] > more_than for c in codes.tolist()]
        assert kind(at_least, more_than, at_most).keep(rows).tolist() == wanted


@given(logs(), st.integers(1, 7))
def test_the_most_popular_items_go_and_ties_by_id(rows, top):
    counts = Counter(rows.item.tolist())
    gone = sorted(counts, key=lambda item: (-counts[item], item))[:top]
    assert PopularItems(top).keep(rows).tolist() == [item not in gone for item in rows.item.tolist()]


def test_a_share_of_items_is_rounded_down(demo):
    items = demo.interactions.item
    kept = PopularItems(0.01).keep(demo.interactions)
    assert len(np.unique(items)) - len(np.unique(items[kept])) == int(len(np.unique(items)) * 0.01)
    hundred = Interactions.from_ids(np.arange(100), np.arange(100))
    assert PopularItems(0.29).keep(hundred).sum() == 71  # 100 * 0.29 is 28.999999999999996


@given(logs(), st.sampled_from(POLICIES[1:]), st.booleans())
def test_one_row_a_pair_by_its_policy(dataset_of, rows, policy, timeless):
    if timeless:
        rows = Interactions(rows.user, rows.item, rows.value, None, rows.user_ids, rows.item_ids)
    times = [0] * len(rows) if timeless else rows.timestamp.tolist()
    groups = {}
    for place, pair in enumerate(zip(rows.user.tolist(), rows.item.tolist(), strict=True)):
        groups.setdefault(pair, []).append((times[place], place, float(rows.value[place])))
    merge = {
        "first": lambda group: min(group)[2],
        "last": lambda group: max(group)[2],
        "mean": lambda group: sum(value for *_, value in group) / len(group),
        "max": lambda group: max(value for *_, value in group),
        "count": len,
    }[policy]
    chosen = min if policy == "first" else max
    wanted = sorted((chosen(group)[1], *pair, merge(group)) for pair, group in groups.items())
    left = Duplicates(policy).apply(dataset_of(rows), rng=RNG)
    kept = left.interactions
    found = zip(kept.user_ids[kept.user].tolist(), kept.item_ids[kept.item].tolist(), strict=True)
    assert list(found) == [(rows.user_ids[user], rows.item_ids[item]) for _, user, item, _ in wanted]
    assert kept.value.tolist() == pytest.approx([value for *_, value in wanted], rel=1e-6)
    assert left.feedback == ("implicit" if policy == "count" else "explicit")
    assert left.relevant_from == (None if policy == "count" else 4.0)


def test_repeated_pairs_are_refused_by_name(dataset_of):
    rows = Interactions.from_ids(["ann", "bob", "ann", "ann"], [7, 7, 7, 7])
    with pytest.raises(SchemaError, match=r"2 rows more than pairs; row 3 repeats user 'ann', item 7"):
        Duplicates("error").apply(dataset_of(rows), rng=RNG)
    once = dataset_of(rows.take(np.array([0, 1])))
    assert len(Duplicates("error").apply(once, rng=RNG).interactions) == 2


@given(logs(), st.integers(0, 9), st.integers(1, 5))
def test_ranges_that_follow_one_another_part_the_rows(rows, day, length):
    start, end = 1_500_000_000 + 86_400 * day, 1_500_000_000 + 86_400 * (day + length)
    inside = (rows.timestamp >= start) & (rows.timestamp < end)
    for rule, wanted in (
        (DateRange(start=start, end=end), inside),
        (DateRange(end=start), rows.timestamp < start),
        (DateRange(start=datetime.fromtimestamp(end, UTC).isoformat()), rows.timestamp >= end),
    ):
        if wanted.any():
            assert np.array_equal(rule.keep(rows), wanted)
        else:
            with pytest.raises(EmptySplitError, match=r"the data reach from 2017-07-\d\dT02:40:00Z to"):
                rule.keep(rows)


def test_whole_users_are_drawn(demo):
    rows = SampleUsers(0.25).apply(demo, rng=np.random.default_rng(3)).interactions
    assert rows.n_users == 250
    counts = dict(zip(demo.interactions.user_ids, demo.interactions.user_counts(), strict=True))
    assert rows.user_counts().tolist() == [counts[user] for user in rows.user_ids]


EVENTS = ["view", "cart", "purchase"]


def log_of(rows, column="event"):
    users, items, events = zip(*rows, strict=True)
    interactions = Interactions.from_ids(users, items, attributes={column: events})
    return Dataset("shop", interactions, "implicit", None, "0" * 64, "made", "here", "none")


ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(EVENTS)), min_size=1, max_size=40
)


def by_ids(dataset):
    rows = dataset.interactions
    column = rows.attributes["event"]
    return sorted(
        zip(
            rows.user_ids[rows.user].tolist(),
            rows.item_ids[rows.item].tolist(),
            column.names[column.codes].tolist(),
            strict=True,
        )
    )


@given(ROWS, st.lists(st.sampled_from(EVENTS), min_size=1, unique=True))
def test_rows_with_one_of_the_values_stay(rows, values):
    kept = sorted(row for row in rows if row[2] in values)
    there = {row[2] for row in rows}
    if not kept or not there.issuperset(values):
        return
    dataset, (step,) = apply_filters(log_of(rows), [Where("event", values)])
    assert by_ids(dataset) == kept
    assert step.rows == (len(rows), len(kept))


@pytest.mark.parametrize("before", [ItemRows(at_least=1), NCore(1), SampleUsers(2), Duplicates("first")])
def test_the_column_follows_its_rows_through_other_filters(before):
    rows = [(1, 1, "view"), (1, 2, "cart"), (2, 1, "purchase"), (2, 3, "view")]
    dataset, _ = apply_filters(log_of(rows), [before, Where("event", ["view"])])
    assert by_ids(dataset) == [row for row in rows if row[2] == "view"]


def test_an_unknown_value_or_column_is_refused():
    log = log_of([(1, 1, "view")])
    with pytest.raises(SchemaError, match="view"):
        apply_filters(log, [Where("event", ["veiw"])])
    with pytest.raises(SchemaError, match="kind"):
        apply_filters(log, [Where("kind", ["view"])])
    with pytest.raises(ConfigError, match="values"):
        Where("event", "view")


def test_a_column_of_a_file_without_header_is_counted():
    dataset, _ = apply_filters(log_of([(1, 1, "view"), (2, 1, "cart")], "0"), [Where(0, ["cart"])])
    assert dataset.interactions.user_ids.tolist() == [2]
