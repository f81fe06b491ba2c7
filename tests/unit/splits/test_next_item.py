"""Targets and histories, judged by plain Python that knows the rules alone; made sequences have many ties."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recgauge.candidates import AllItems
from recgauge.data.interactions import Interactions
from recgauge.errors import EmptySplitError, RecgaugeError
from recgauge.models import Recommender
from recgauge.models.recommend import fit, serving
from recgauge.splits import KFold, LeaveLastOut, NextItem
from strategies import interactions, logs

TIES = ("row_order", "row_order_reversed", "item_id", "item_id_reversed")
rules = st.sampled_from(TIES)


def sequences(rows, ties):
    """Return each user's rows as (time, item, place in the table), the oldest first."""
    of_user = defaultdict(list)
    for place, (user, item, time) in enumerate(
        zip(rows.user.tolist(), rows.item.tolist(), rows.timestamp.tolist(), strict=True)
    ):
        of_user[user].append((time, item, place))
    sign = -1 if ties.endswith("reversed") else 1
    key = 1 if ties.startswith("item") else 2
    # rows that share user, time and item id stay in the order of the table
    return {
        user: sorted(of_user[user], key=lambda r: (r[0], sign * r[key], r[2])) for user in sorted(of_user)
    }


def moment(rows, quantile):
    """Return a quantile of times, as the line between the two nearest."""
    times = sorted(rows.timestamp.tolist())
    place = quantile * (len(times) - 1)
    low = int(place)
    high = min(low + 1, len(times) - 1)
    return times[low] + (place - low) * (times[high] - times[low])


def questions(own, n_known, target):
    """Return the places (from 0) of targets and of what is before, of each query of a user's sequence."""
    first = n_known or 1  # who has no history gives up the first item
    places = list(range(first, len(own)))
    if not places:
        return []
    return {
        "first": [([first], first)],
        "last": [([len(own) - 1], len(own) - 1)],
        "all": [(places, first)],
        "successive": [([place], place) for place in places],
        "random": [([place], place) for place in places],  # one of these
    }[target]


def asked(split, ids):
    """Return the target items and the items before them of each user or query, by its id."""
    targets, before = defaultdict(list), defaultdict(list)
    for code, item in zip(split.test.user.tolist(), split.test.item.tolist(), strict=True):
        targets[code].append(item)
    for code, item in zip(split.before.user.tolist(), split.before.item.tolist(), strict=True):
        before[code].append(item)
    names = split.test.user_ids
    return {ids(names[code]): (sorted(items), before[code]) for code, items in targets.items()}


def split_or_skip(splitter, rows, seed=0):
    try:
        return splitter.split(rows, rng=np.random.default_rng(seed), overlap=True)
    except EmptySplitError:
        assume(False)


@given(
    logs(max_rows=40),
    rules,
    st.sampled_from(["first", "last", "all", "successive", "random"]),
    st.sampled_from([0.3, 0.5, 0.8]),
    st.sampled_from(["keep", "drop"]),
)
@settings(max_examples=80)
def test_targets_and_what_is_before_them(rows, ties, target, quantile, cold_users):
    splitter = NextItem(quantile=quantile, target=target, ties=ties, cold_users=cold_users)
    split = split_or_skip(splitter, rows)
    cut, expected, train = moment(rows, quantile), {}, []
    for user, own in sequences(rows, ties).items():
        n_known = sum(time <= cut for time, _, _ in own)
        train += [(user, item) for _, item, _ in own[:n_known]]
        if n_known or cold_users == "keep":
            name = str(rows.user_ids[user])
            for places, n_before in questions(own, n_known, target):
                ids = f"{name}#{n_before + 1}" if target in ("successive", "random") else name
                expected[ids] = (sorted(own[p][1] for p in places), [item for _, item, _ in own[:n_before]])
    assert sorted(train) == sorted(zip(split.train.user.tolist(), split.train.item.tolist(), strict=True))
    found = asked(split, str)
    if target == "random":
        found = {f"{user}#{len(before) + 1}": (items, before) for user, (items, before) in found.items()}
        assert len({ids.split("#")[0] for ids in expected}) == len(found)
        expected = {ids: expected[ids] for ids in found}
    assert found == expected
    seen = AllItems().choose(split, rng=np.random.default_rng(0)).excluded
    codes = {str(name): code for code, name in enumerate(split.test.user_ids.tolist())}
    for ids, (_, before) in asked(split, str).items():
        assert set(seen[[codes[ids]]].indices.tolist()) == set(before)


@given(logs(max_rows=40), rules, st.integers(1, 2), st.integers(0, 2), st.booleans())
@settings(max_examples=50)
def test_the_last_rows_and_what_models_see_before_them(rows, ties, n, n_validation, grows):
    history = "train_validation" if grows and n_validation else "train"
    splitter = LeaveLastOut(n=n, n_validation=n_validation, ties=ties, history=history)
    split = split_or_skip(splitter, rows)
    of_test, of_validation, trained = {}, {}, []
    for user, own in sequences(rows, ties).items():
        items = [item for _, item, _ in own]
        n_train = len(own) - n - n_validation
        if n_train < 1:
            n_train = len(own)
        else:
            of_test[user] = (sorted(items[-n:]), items[: len(own) - n])
            of_validation[user] = (sorted(items[n_train : len(own) - n]), items[:n_train])
        trained += [(user, item) for item in items[:n_train]]
    assert asked(split, int) == {int(rows.user_ids[user]): pair for user, pair in of_test.items()}
    model = fit(Recording(), split, rng=np.random.default_rng(0))
    assert model.fitted == trained
    served = serving(model, split)
    users = set(split.test.user.tolist())
    if history == "train":
        assert served is model
    else:
        own = [pair for pair in served.histories if pair[0] in users]
        assert own == [(user, item) for user in sorted(users) for item in of_test[user][1]]
    if n_validation and len(split.validation):
        chosen = split.on_validation()
        assert asked(chosen, int) == {int(rows.user_ids[user]): pair for user, pair in of_validation.items()}


class Recording(Recommender):
    """Remembers the rows that it was given."""

    uses_order = True

    def fit(self, train, *, rng):
        self.fitted = list(zip(train.user.tolist(), train.item.tolist(), strict=True))
        return self

    def with_histories(self, rows):
        other = Recording()
        other.histories = list(zip(rows.user.tolist(), rows.item.tolist(), strict=True))
        return other

    def score(self, users):
        raise NotImplementedError


@given(
    interactions(min_rows=12, days=10),
    st.sampled_from(["time", "last_item", "users"]),
    st.sampled_from([0.3, 1.0]),
)
@settings(max_examples=30)
def test_validation_has_its_own_targets_and_joins_all_rows_up_to_the_cut(rows, by, size):
    splitter = NextItem(quantile=0.7, validation_size=size, validation_by=by, ties="row_order")
    split = split_or_skip(splitter, rows)
    assume(len(split.validation))
    cut = moment(rows, 0.7)
    earlier = rows.take(np.flatnonzero(rows.timestamp <= cut))
    columns = (split.train.user, split.train.item, split.train.timestamp)
    train = set(zip(*(column.tolist() for column in columns), strict=True))
    for user, (items, before) in asked(split.on_validation(), int).items():
        own = [row for row in sequences(rows, "row_order")[user] if row[0] <= cut]
        known = [row for row in own if (user, row[1], row[0]) in train]
        assert items == [own[-1][1]]  # target=last
        assert before == [item for _, item, _ in own[:-1]]
        if by == "users":
            assert not known
        if by == "last_item":
            assert known == own[:-1]
    joined = split.with_validation_in_train()
    assert joined.train.sha256() == earlier.sha256()
    dropped = sum(step.dropped_rows for step in joined.steps)
    assert dropped + len(joined.train) + len(joined.test) == len(rows)
    assert asked(joined, int) == asked(split, int)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: NextItem(quantile=1.0), "above 0 and below 1"),
        (lambda _: NextItem(target="second"), "first, last, random, successive, all"),
        (
            lambda rows: NextItem(date="2031-01-01").split(rows, rng=None),
            "after the cut; the data span 2017-07-14",
        ),
        (lambda rows: NextItem().split(rows, rng=None), "if all rows have one time"),
        (lambda rows: fit(Recording(), KFold(n_splits=2).split(rows, rng=rng()), rng=rng()), "fold has none"),
    ],
)
def test_what_cannot_be_asked_is_one_line(make, message):
    at_once = Interactions.from_ids([1, 1, 2, 2, 3, 3], [1, 2, 1, 2, 1, 2], None, [1_500_000_000] * 6)
    with pytest.raises(RecgaugeError, match=message) as error:
        make(at_once)
    assert "\n" not in str(error.value)


def rng():
    return np.random.default_rng(0)


@given(logs(max_rows=30), rules, st.sampled_from(["first", "last", "successive", "all"]))
@settings(max_examples=30)
def test_users_are_counted_whose_target_shares_its_time(rows, ties, target):
    split = split_or_skip(NextItem(quantile=0.5, target=target, ties=ties), rows)
    cut, n_tied = moment(rows, 0.5), 0
    for own in sequences(rows, ties).values():
        times = [time for time, _, _ in own]
        queries = questions(own, sum(time <= cut for time in times), target)
        others = [(place, other) for places, _ in queries for place in places for other in range(len(own))]
        together = [set(places) for places, _ in queries]
        n_tied += any(
            times[place] == times[other] and not any({place, other} <= places for places in together)
            for place, other in others
        )
    assert split.sequences.tied_users("test") == n_tied
