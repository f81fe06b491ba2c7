"""What every split strategy promises; strategies are found by their config files, not listed."""

from dataclasses import fields, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from recgauge.data.dataset import PublishedParts, PublishedSplits
from recgauge.data.interactions import Interactions
from recgauge.errors import DataError, EmptySplitError, SchemaError
from recgauge.splits import Splitter
from recgauge.sweeps.compose import build
from recgauge.sweeps.places import conf_folder
from strategies import interactions

NAMES = sorted(path.stem for path in (conf_folder() / "split").glob("*.yaml"))
ONE_CUT = {"temporal_fraction", "temporal_date", "rolling_window", "next_item"}
BY_USER_TIME = {"last_n", "leave_one_out_last", "temporal_per_user", "next_item"}
HOLDS_OUT_USERS = {"strong_generalisation", "k_fold_users"}
SMALL = {  # settings that fit the small tables of these tests
    "temporal_date": {"test_from": 20 * 86_400, "validation_from": 15 * 86_400, "test_until": 28 * 86_400},
    "rolling_window": {"n_windows": 2, "window": 0, "test_days": 6, "validation_days": 3, "train_days": 20},
    "strong_generalisation": {"n_test": 2, "n_validation": 1},
    "last_n": {"n": 2},
}
VALIDATION = {"validation_size": 0.2, "n_validation": 1, "validation": True}

every_split = pytest.mark.parametrize("name", NAMES)
tables = interactions(min_rows=8, days=30)


@cache
def node_of(name):
    return OmegaConf.to_container(OmegaConf.load(conf_folder() / "split" / f"{name}.yaml"))


@cache
def make(name, validation=False, **extra):
    """Build a strategy from its config file, with settings that fit small tables."""
    node = node_of(name) | SMALL.get(name, {})
    if validation and name != "published":
        node |= {key: value for key, value in VALIDATION.items() if key in node}
    return build(node | extra, Splitter, "split", ("recgauge",))


def prepared(name, rows, validation=False, **extra):
    """Give the published split something to publish: every third pair, by the codes."""
    splitter = make(name, validation, **extra)
    if name != "published":
        return splitter
    by_code = np.lexsort((rows.item, rows.user))
    middle = rows.take(by_code[1::3]) if validation else None
    parts = PublishedParts(rows.take(by_code[::3]), middle, None)
    return replace(splitter, source=PublishedSplits("mine", {"only": lambda: parts}))


def split_or_skip(splitter, rows, seed=0):
    try:
        return splitter.split(rows, rng=np.random.default_rng(seed))
    except EmptySplitError:
        assume(False)


def pairs(part):
    return set() if part is None else set(zip(part.user.tolist(), part.item.tolist(), strict=True))


def parts_of(split):
    return [split.train, split.validation, split.test, split.fold_in]


@every_split
@given(tables, st.booleans(), st.sampled_from(["drop", "keep"]), st.sampled_from(["drop", "keep"]))
@settings(max_examples=12)
def test_every_row_is_in_one_part_or_in_a_counted_step(name, rows, validation, users, items):
    splitter = prepared(name, rows, validation, cold_users=users, cold_items=items)
    split = split_or_skip(splitter, rows)
    sizes = [len(pairs(part)) for part in parts_of(split)]
    together = set().union(*map(pairs, parts_of(split)))
    assert sum(sizes) == len(together)
    assert len(together) + sum(step.dropped_rows for step in split.steps) == len(rows)
    assert together <= pairs(rows)


@every_split
@given(tables, st.integers(0, 5), st.booleans())
@settings(max_examples=8)
def test_same_stream_same_split(name, rows, seed, validation):
    first, again = (split_or_skip(prepared(name, rows, validation), rows, seed) for _ in range(2))
    for one, other in zip(parts_of(first), parts_of(again), strict=True):
        assert (one is None) == (other is None)
        assert one is None or one.sha256() == other.sha256()


@every_split
@given(tables, st.integers(0, 5), st.booleans())
@settings(max_examples=12)
def test_the_order_of_the_rows_does_not_matter_where_that_is_promised(name, rows, seed, validation):
    if "Depends on the order of the rows" in type(make(name)).__doc__:
        return
    other = rows.take(np.random.default_rng(seed).permutation(len(rows)))
    first, second = (split_or_skip(prepared(name, table, validation), table, seed) for table in (rows, other))
    same = [pairs(part) for part in parts_of(first)] == [pairs(part) for part in parts_of(second)]
    assert same, 'otherwise the docstring says "Depends on the order of the rows"'


@every_split
@given(tables, st.booleans())
@settings(max_examples=12)
def test_no_test_user_is_unknown_and_cold_items_go_if_asked(name, rows, validation):
    splitter = prepared(name, rows, validation, cold_users="drop", cold_items="drop")
    split = split_or_skip(splitter, rows)
    known = set(split.history.user.tolist())
    for part in (split.test, split.validation):
        if part is not None:
            assert set(part.user.tolist()) <= known
            assert set(part.item.tolist()) <= set(split.train.item.tolist())
    assert not any(split.cold_counts().values())


@every_split
@given(tables, st.booleans())
@settings(max_examples=8)
def test_cold_rows_that_are_kept_are_counted(name, rows, validation):
    splitter = prepared(name, rows, validation, cold_users="keep", cold_items="keep")
    split = split_or_skip(splitter, rows)
    users, items = set(split.history.user.tolist()), set(split.train.item.tolist())
    test = split.test
    assert split.cold_counts() == {
        "test_cold_users": len(set(test.user.tolist()) - users),
        "test_cold_user_rows": sum(user not in users for user in test.user.tolist()),
        "test_cold_items": len(set(test.item.tolist()) - items),
        "test_cold_item_rows": sum(item not in items for item in test.item.tolist()),
    }


@every_split
@given(tables, st.booleans())
@settings(max_examples=12)
def test_training_rows_are_never_later_than_test_rows_where_time_cuts(name, rows, validation):
    split = split_or_skip(prepared(name, rows, validation), rows)
    stages = [part for part in (split.train, split.validation, split.test) if part is not None and len(part)]
    for earlier, later in pairwise(stages):
        if name in ONE_CUT:
            assert earlier.timestamp.max() < later.timestamp.min()
        if name in BY_USER_TIME:
            for user in set(earlier.user) & set(later.user):
                ends = earlier.timestamp[earlier.user == user].max()
                assert ends <= later.timestamp[later.user == user].min()


@pytest.mark.parametrize("name", sorted(ONE_CUT | BY_USER_TIME))
def test_data_without_times_are_refused_with_the_remedy(name):
    rows = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    with pytest.raises(SchemaError, match=r"dataset\.time=COLUMN"):
        make(name).split(rows, rng=np.random.default_rng(0))


@every_split
@given(tables)
@settings(max_examples=10)
def test_only_held_out_users_have_fold_in_rows(name, rows):
    split = split_or_skip(prepared(name, rows), rows)
    assert (split.fold_in is not None) == (name in HOLDS_OUT_USERS)
    if split.fold_in is not None:
        assert not set(split.fold_in.user.tolist()) & set(split.train.user.tolist())
        assert set(split.test.user.tolist()) <= set(split.fold_in.user.tolist())


@every_split
def test_a_single_row_ends_in_an_error_of_ours(name):
    rows = Interactions.from_ids([1], [1], [1.0], [5])
    with pytest.raises(DataError):
        prepared(name, rows).split(rows, rng=np.random.default_rng(0))


@every_split
def test_every_setting_is_in_the_file_and_in_the_docstring(name):
    splitter = make(name)
    wanted = {field.name for field in fields(splitter) if field.init} - {"source"}
    assert wanted == set(node_of(name)) - {"_target_"}
    assert all(setting in type(splitter).__doc__ for setting in wanted)
