"""What each filter keeps, checked against a slow and obvious count."""

from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError, SchemaError
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


def test_dates_need_times():
    with pytest.raises(SchemaError, match="must have times, these have none"):
        DateRange(start="2018-01-01").keep(Interactions.from_ids([1], [1]))


def test_whole_users_are_drawn(demo):
    rows = SampleUsers(0.25).apply(demo, rng=np.random.default_rng(3)).interactions
    assert rows.n_users == 250
    counts = dict(zip(demo.interactions.user_ids, demo.interactions.user_counts(), strict=True))
    assert rows.user_counts().tolist() == [counts[user] for user in rows.user_ids]


@pytest.mark.parametrize("users", [1001, 0.0001])
def test_a_draw_of_nobody_or_of_too_many_is_refused(demo, users):
    with pytest.raises(ConfigError, match="from 1 to 1000 users, all that demo has here"):
        SampleUsers(users).apply(demo, rng=RNG)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: NCore(0), "n must be a whole number >= 1, got 0"),
        (lambda: UserRows(), "no limit is set"),
        (lambda: ItemRows(more_than=5, at_most=5), "at_most=5 and at least 6; no one can meet both"),
        (lambda: PopularItems(0), "a count .* or a share .*, got 0"),
        (lambda: Duplicates("newest"), "one of error, first, last, mean, max, count; got 'newest'"),
        (lambda: DateRange(), "set start, end or both"),
        (lambda: DateRange(start="yesterday"), "a date such as .*; got 'yesterday'"),
    ],
)
def test_wrong_settings_are_refused(build, message):
    with pytest.raises(ConfigError, match=message):
        build()
