"""The walk through the filters: order, counts, scale, chance, and what is left when nothing is."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from recgauge import filters as filters_package
from recgauge.errors import DataError, EmptySplitError
from recgauge.filters import apply_filters
from recgauge.filters.rows import (
    Binarise,
    DateRange,
    Duplicates,
    ItemRows,
    MinRating,
    NCore,
    PopularItems,
    SampleUsers,
    UserRows,
)
from recgauge.filters.where import Where
from recgauge.sweeps.places import conf_folder
from strategies import logs


def as_configured(path):
    """Return the filter of a file under conf/filters, with the settings that it names."""
    (node,) = OmegaConf.to_object(OmegaConf.load(path)).values()
    module, _, name = node.pop("_target_").rpartition(".")
    return getattr(import_module(module), name)(**node)


FILES = sorted((conf_folder() / "filters").glob("*.yaml"))
# every filter whose YAML is complete, so that a new one needs no line here, and more settings of some
ALL = (
    *(as_configured(path) for path in FILES if not OmegaConf.missing_keys(OmegaConf.load(path))),
    MinRating(2),
    NCore(2),
    NCore(2, item_n=1, repeat=False),
    UserRows(more_than=1, at_most=20),
    ItemRows(at_least=2),
    PopularItems(1),
    DateRange(start=1_500_000_000 + 86_400, end=1_500_000_000 + 9 * 86_400),
    Duplicates("mean"),
    Duplicates("first"),
    Binarise(2),
    SampleUsers(0.5),
)


def by_ids(dataset):
    """Return the rows as they are apart from their order, by the publisher's ids."""
    rows = dataset.interactions
    return sorted(
        zip(
            rows.user_ids[rows.user].tolist(),
            rows.item_ids[rows.item].tolist(),
            rows.value.tolist(),
            rows.timestamp.tolist(),
            strict=True,
        )
    )


def attempt(dataset, filters, seed=0):
    try:
        return apply_filters(dataset, filters, seed=seed)
    except (DataError, ValueError) as error:
        return type(error)


def test_every_filter_has_a_file_of_settings():
    public = {
        getattr(filters_package, name)
        for name in filters_package.__all__
        if isinstance(getattr(filters_package, name), type)
    }
    abstract = {filters_package.Filter, filters_package.RowFilter}
    incomplete = {Where}  # its YAML asks for a column; test_where.py has its tests
    assert {type(rule) for rule in ALL} | incomplete == public - abstract - {apply_filters}


@given(logs(), st.lists(st.sampled_from(ALL), max_size=4), st.integers(0, 3))
def test_counts_form_a_chain_that_adds_up(dataset_of, rows, filters, seed):
    outcome = attempt(dataset_of(rows), filters, seed)
    if isinstance(outcome, type):
        return
    left, steps = outcome
    counts = [(len(rows), len(set(rows.user.tolist())), len(set(rows.item.tolist())))]
    for step in steps:
        assert (step.rows[0], step.users[0], step.items[0]) == counts[-1]
        counts.append((step.rows[1], step.users[1], step.items[1]))
        assert all(before >= after >= 1 for before, after in (step.rows, step.users, step.items))
        assert step.stage == "filters"
    assert len(left.interactions) == len(rows) - sum(step.dropped_rows for step in steps) == counts[-1][0]
    if steps:
        assert (left.interactions.n_users, left.interactions.n_items) == counts[-1][1:]


@given(logs(), st.sampled_from(ALL), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(dataset_of, rows, rule, random):
    if isinstance(rule, Duplicates):  # pairs that tie in time go by their order, on purpose
        pair = rows.user * 10 + rows.item
        rows = rows.take(np.unique(np.stack([pair, rows.timestamp]), axis=1, return_index=True)[1])
    order = list(range(len(rows)))
    random.shuffle(order)
    first = attempt(dataset_of(rows), (rule,))
    second = attempt(dataset_of(rows.take(np.array(order))), (rule,))
    if isinstance(first, type):
        assert first == second
        return
    assert by_ids(first[0]) == by_ids(second[0])


def test_titles_and_features_follow_their_items(demo):
    kept, _ = apply_filters(demo, (NCore(30),))
    assert kept.interactions.n_items < demo.interactions.n_items
    for code in (0, kept.interactions.n_items - 1):
        old = int(np.flatnonzero(demo.interactions.item_ids == kept.interactions.item_ids[code])[0])
        assert kept.item_titles[code] == demo.item_titles[old]
        assert (kept.item_features.matrix[[code]] != demo.item_features.matrix[[old]]).nnz == 0


def test_a_filter_that_leaves_nothing_says_so(demo):
    with pytest.raises(EmptySplitError, match="ratings below 6 leaves no row of the 60000 in demo"):
        apply_filters(demo, (MinRating(6),))
    with pytest.raises(EmptySplitError, match="of the 26424 in demo; before: ratings below 4: 33576 rows"):
        apply_filters(demo, (MinRating(4), NCore(5000)))


def test_draws_follow_the_seed_and_no_other_filter(demo):
    def users(*filters, seed=0):
        return set(apply_filters(demo, filters, seed=seed)[0].interactions.user_ids.tolist())

    assert users(SampleUsers(100)) == users(SampleUsers(100))
    assert users(SampleUsers(100)) != users(SampleUsers(100), seed=1)
    assert users(SampleUsers(100)) == users(UserRows(1), ItemRows(1), SampleUsers(100))
    assert users(SampleUsers(100), SampleUsers(50)) < users(SampleUsers(100))
