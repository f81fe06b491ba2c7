"""A data card of eight rows, every number worked out by hand; and what must hold for any data."""

import numpy as np
import pytest

from conftest import REPOSITORY
from recgauge.data.card import DataCard, data_card
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.data.split import Split, Step
from recgauge.report.card_tables import card_markdown, card_tables
from recgauge.splits.shares import RandomRows
from recgauge.utils.randomness import stream

DAY = 86_400
# user, item, rating, day; the last three rows are test
ROWS = [
    ("ann", "x", 5.0, 0),
    ("ann", "y", 3.0, 1),
    ("bob", "x", 4.0, 2),
    ("cid", "x", 4.0, 3),
    ("cid", "y", 1.0, 4),
    ("ann", "z", 5.0, 3),  # an item without training rows
    ("bob", "y", 2.0, 5),
    ("eve", "x", 4.0, 6),  # a user without training rows
]


def dataset_of(rows, **changes):
    facts = {
        "name": "tiny",
        "interactions": rows,
        "feedback": "explicit",
        "relevant_from": 4.0,
        "sha256": "ab" * 32,
        "provenance": "made up",
        "source": "here",
        "licence": "none | of any kind",
    }
    return Dataset(**(facts | changes))


@pytest.fixture
def rows():
    users, items, values, days = zip(*ROWS, strict=True)
    return Interactions.from_ids(users, items, values, np.array(days) * DAY)


@pytest.fixture
def split(rows):
    in_train = np.arange(8) < 5
    steps = (Step("rows of nobody", (9, 8), (5, 4), (3, 3)),)
    return Split("by_hand", rows.take(in_train), None, rows.take(~in_train), steps)


@pytest.fixture
def card(rows, split):
    return data_card(dataset_of(rows, citation="Somebody 2026"), split, split_settings={"seed": "0"})


def test_all_rows(card):
    data, ratings, (half, most) = card.data, card.data.ratings, card.data.heads
    assert (data.n_rows, data.n_users, data.n_items) == (8, 4, 3)
    assert data.density == pytest.approx(8 / 12)
    assert (data.rows_per_user.lowest, data.rows_per_user.median, data.rows_per_user.highest) == (1, 2, 3)
    assert ratings.values == ((1.0, 1), (2.0, 1), (3.0, 1), (4.0, 3), (5.0, 2))
    assert ratings.mean == pytest.approx(3.5)
    assert ratings.deviation == pytest.approx(np.std([5, 3, 4, 4, 1, 5, 2, 4]))
    assert ratings.relevant == pytest.approx(5 / 8)
    # x has 4 of 8 rows, y 3, z 1: half is reached with x alone, 80 % is crossed by y
    assert (half.n_head, half.n_tail, half.head_rows) == (1, 2, 0.5)
    assert (most.n_head, most.n_tail, most.head_rows) == (2, 1, 0.875)
    # sum of |a - b| over all ordered pairs is 12; 12 / (2 * 3 * 8)
    assert data.gini == pytest.approx(0.25)
    assert (data.time.first, data.time.last, data.time.median_day) == (0, 6 * DAY, "1970-01-04")
    assert card.parts["train"].time.median_day == "1970-01-03"


def test_cold_users_and_items(card):
    assert (card.cold.users, card.cold.items) == (1, 1)
    assert (card.cold.users_share, card.cold.items_share) == pytest.approx((1 / 3, 1 / 3))
    assert (card.cold.rows_of_users, card.cold.rows_of_items) == pytest.approx((1 / 3, 1 / 3))


def test_drift(card):
    # train 5 3 4 4 1, test 5 2 4: 1 and 3 lose .2 each, 4 loses .4 - .333; 2 gains .333, 5 gains .133
    assert card.drift.ratings == pytest.approx(0.2 + 0.2 + 0.4 - 1 / 3)
    # x has 3 training rows, y 2, z none
    assert card.drift.popularity_of_train == pytest.approx((3 * 3 + 2 * 2) / 5)
    assert card.drift.popularity_of_test == pytest.approx((0 + 2 + 3) / 3)
    assert card.drift.test_after_train == pytest.approx(2 / 3)
    assert card.drift.train_after_first_test == pytest.approx(1 / 5)


def test_a_card_survives_json(card):
    assert DataCard.from_json(card.to_json()) == card


def test_implicit_feedback_without_times_or_split_leaves_out_what_there_is_not():
    rows = Interactions.from_ids(["a", "b"], ["x", "x"])
    card = data_card(dataset_of(rows, feedback="implicit", relevant_from=None))
    assert (card.data.ratings, card.data.time, card.drift, card.cold) == (None,) * 4
    assert [table.caption for table in card_tables(card)] == [
        "tiny", "Size", "Activity and popularity", "Head and tail",
    ]  # fmt: skip
    assert DataCard.from_json(card.to_json()) == card


def test_the_documented_card_is_that_of_the_demo_data(demo):
    text = (REPOSITORY / "docs" / "data-card.md").read_text(encoding="utf-8")
    shown = text.split("<!-- card: recgauge data card demo split=random -->")[1].split("<!-- end -->")[0]
    split = RandomRows().split(demo.interactions, rng=stream(0, "split"))
    page = card_markdown(data_card(demo, split)).splitlines()
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert len(rows) > 10
    assert set(rows) <= set(page)
