"""Models that look at the order of a history, against plain Python on rows that repeat pairs and times."""

from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from math import log, log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.data.interactions import Interactions
from recgauge.models.ease import EASE
from recgauge.models.item_knn import ItemKNN
from recgauge.models.p3alpha import P3alpha
from recgauge.models.rp3beta import RP3beta
from recgauge.models.sequential_rules import SequentialRules
from recgauge.models.session_knn import SessionKNN
from recgauge.utils.randomness import stream
from strategies import logs

N = 6  # users and items of a log
ALL = np.arange(N, dtype=np.int32)
WEIGHTS = {
    "same": lambda _: 1.0,
    "div": lambda g: 1 / g,
    "linear": lambda g: max(0.0, 1 - g / 10),
    "log": lambda g: 1 / log10(g + 1.7),
    "quadratic": lambda g: 1 / g**2,
}
weightings, last_ns, decays = (
    st.sampled_from(sorted(WEIGHTS)),
    st.none() | st.integers(1, 4),
    st.floats(0.1, 1),
)


def over_all_ids(rows, *, timed=True):
    """The same rows with codes for all ids that a log may have."""
    user, item = rows.user_ids[rows.user], rows.item_ids[rows.item]
    return Interactions(user, item, rows.value, rows.timestamp if timed else None, np.arange(N), np.arange(N))


def in_order(rows):
    """Each user's (time, item), oldest first, rows of one time in the table's order."""
    times = [0] * len(rows) if rows.timestamp is None else rows.timestamp.tolist()
    histories = {user: [] for user in range(N)}
    for user, time, item in zip(rows.user.tolist(), times, rows.item.tolist(), strict=True):
        histories[user].append((time, item))
    return {user: sorted(history, key=lambda row: row[0]) for user, history in histories.items()}


def items_of(rows):
    return {user: [item for _, item in history] for user, history in in_order(rows).items()}


def last(history, n):
    return history if n is None else history[-n:]


def counted_rules(model, train):
    """What each item says about the others, by counting pairs of rows, before anything is dropped."""
    rules = defaultdict(lambda: defaultdict(float))
    for history in items_of(train).values():
        for before, later in combinations(range(len(history)), 2):
            weight = WEIGHTS[model.weighting](later - before)
            if later - before <= (model.steps or len(history)) and weight > 0:
                rules[history[before]][history[later]] += weight
                if model.direction == "both":
                    rules[history[later]][history[before]] += weight
    return rules


def rule_scores(model, train, asked):
    rules, counts = counted_rules(model, train), np.bincount(train.item, minlength=N)
    scores = np.zeros((N, N))
    for user, history in items_of(asked).items():
        for newer, item in enumerate(reversed(last(history, model.last_n))):
            total, row = sum(rules[item].values()), {}
            for other, weight in rules[item].items():
                below = {"none": 1.0, "rows": total, "cosine": (counts[item] * counts[other]) ** 0.5}
                row[other] = weight / below[model.normalize]
            kept = sorted(row, key=lambda other: (-np.float32(row[other]), other))[: model.top_k]
            for other in kept:
                scores[user, other] += model.decay**newer * row[other]
    return scores + model.popularity * counts / counts.max()


@given(
    logs(),
    logs(),
    st.booleans(),
    st.builds(
        SequentialRules,
        steps=last_ns,
        weighting=weightings,
        direction=st.sampled_from(["forward", "both"]),
        normalize=st.sampled_from(["none", "rows", "cosine"]),
        top_k=st.none() | st.integers(1, 3),
        last_n=last_ns,
        decay=decays,
        popularity=st.sampled_from([0.0, 0.3]),
    ),
)
def test_rules_are_those_counted_one_by_one(train, asked, timed, model):
    train, asked = over_all_ids(train, timed=timed), over_all_ids(asked, timed=timed)
    fitted = model.fit(train, rng=stream(0, "fit"))
    np.testing.assert_allclose(fitted.score(ALL), rule_scores(model, train, train), rtol=1e-5, atol=1e-6)
    again = fitted.with_histories(asked).score(ALL)
    np.testing.assert_allclose(again, rule_scores(model, train, asked), rtol=1e-5, atol=1e-6)


def session_scores(model, train, asked):
    sessions = {user: history for user, history in in_order(train).items() if history}
    row = {user: int(np.flatnonzero(train.user == user).max()) for user in sessions}
    newest_first = sorted(sessions, key=lambda user: -sessions[user][-1][0])
    if train.timestamp is None:
        newest_first = sorted(sessions, key=lambda user: -row[user])
    counts, scores = np.bincount(train.item, minlength=N), np.zeros((N, N))
    for user, history in items_of(asked).items():
        history = last(history, model.last_n)
        length, near = len(history), []
        for session in newest_first:
            held = {item for _, item in sessions[session]}
            share = 0.0
            for item in set(history) & held:
                newer = history[::-1].index(item)
                place = (length - newer) / length
                of_place = {"div": place, "quadratic": place**2}
                share += of_place.get(model.weighting) or WEIGHTS[model.weighting](newer)
            if share > 0:
                step = next(g for g, item in enumerate(reversed(history), 1) if item in held)
                near.append((share / len(set(history)), step, held))
        near = near[: model.sample_size]
        near.sort(key=lambda each: -np.float32(each[0]))
        for share, step, held in near[: model.k]:
            for item in held:
                rarity = 1 + model.idf_weighting * log(len(sessions) / counts[item])
                scores[user, item] += share * WEIGHTS[model.weighting_score](step) * rarity
    return scores


@given(
    logs(),
    logs(),
    st.booleans(),
    st.builds(
        SessionKNN,
        k=st.integers(1, 4),
        sample_size=st.none() | st.integers(1, 4),
        weighting=weightings,
        weighting_score=weightings,
        idf_weighting=st.sampled_from([0.0, 5.0]),
        last_n=st.none() | st.sampled_from([1, 2, 4]),
    ),
)
def test_neighbours_are_the_sessions_compared_one_by_one(train, asked, timed, model):
    train, asked = over_all_ids(train, timed=timed), over_all_ids(asked, timed=timed)
    fitted = model.fit(train, rng=stream(0, "fit"))
    np.testing.assert_allclose(fitted.score(ALL), session_scores(model, train, train), rtol=1e-4, atol=1e-5)
    again = fitted.with_histories(asked).score(ALL)
    np.testing.assert_allclose(again, session_scores(model, train, asked), rtol=1e-4, atol=1e-5)


WEIGHTED = [
    ItemKNN(k=3),
    ItemKNN(k=3, values="rating"),
    EASE(2.0),
    EASE(2.0, max_items=3),
    P3alpha(),
    RP3beta(),
]


@pytest.mark.parametrize("model", WEIGHTED, ids=str)
@given(rows=logs(), asked=logs(), last_n=last_ns, decay=decays)
def test_the_newest_rows_of_a_history_count_most(model, rows, asked, last_n, decay):
    """Weights are those of all rows; an item counts by its newest row."""
    train, asked = over_all_ids(rows), over_all_ids(asked)
    single = Interactions(ALL, ALL, np.ones(N), None, np.arange(N), np.arange(N))
    of_item = replace(model).fit(train, rng=stream(0, "fit")).with_histories(single).score(ALL)
    counts = asked.to_csr().toarray()
    if getattr(model, "values", "binary") == "binary":
        counts = counts > 0
    factor = np.zeros((N, N))
    for user, history in items_of(asked).items():
        for newer, item in reversed(list(enumerate(reversed(last(history, last_n))))):
            factor[user, item] = decay**newer
    weighted = replace(model, last_n=last_n, decay=decay).fit(train, rng=stream(0, "fit"))
    scored = np.argsort(-train.item_counts(), kind="stable")[: getattr(model, "max_items", None)]
    found = weighted.with_histories(asked).score(ALL)
    expected = (counts * factor) @ of_item.astype(np.float64)
    np.testing.assert_allclose(found[:, scored], expected[:, scored], rtol=1e-4, atol=1e-5)
