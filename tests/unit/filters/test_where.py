"""Rows by a further column of the table: what stays, what else takes the column along, what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, SchemaError
from recgauge.filters import apply_filters
from recgauge.filters.rows import Duplicates, ItemRows, NCore, SampleUsers
from recgauge.filters.where import Where

EVENTS = ["view", "cart", "purchase"]


def log_of(rows):
    users, items, events = zip(*rows, strict=True)
    interactions = Interactions.from_ids(users, items, attributes={"event": events})
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


def test_numbers_are_named_as_they_are_written():
    rows = Interactions.from_ids([1, 2], [1, 1], attributes={"type": np.array([0, 1])})
    assert Where("type", [1]).keep(rows).tolist() == [False, True]
