import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.errors import ConfigError, EmptySplitError
from recgauge.filters import apply_filters
from recgauge.filters.min_rating import MinRating
from recgauge.filters.n_core import NCore
from strategies import interactions


@given(interactions(), st.integers(1, 4))
def test_n_core_leaves_only_users_and_items_with_n_rows(rows, n):
    kept = rows.take(NCore(n).keep(rows))
    for counts in (kept.user_counts(), kept.item_counts()):
        assert counts[counts > 0].min(initial=n) >= n


@given(interactions(), st.integers(1, 3))
def test_n_core_is_the_largest_such_part(rows, n):
    """Adding any dropped user's and item's rows back one at a time cannot keep it an n-core."""
    kept = NCore(n).keep(rows)
    again = rows.take(kept)
    assert NCore(n).keep(again).all()
    if n == 1:
        assert kept.all()


def test_filters_run_in_order_and_each_is_counted(demo):
    kept, steps = apply_filters(demo, (MinRating(4.0), NCore(10)))
    assert [step.name for step in steps] == ["ratings below 4", "users and items outside the 10-core"]
    assert steps[0].rows == (60_000, int((demo.interactions.value >= 4).sum()))
    assert steps[0].rows[1] == steps[1].rows[0]
    assert steps[1].rows[1] == len(kept.interactions)
    assert kept.interactions.value.min() >= 4


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


@pytest.mark.parametrize("build", [lambda: NCore(0), lambda: NCore("a"), lambda: MinRating("high")])
def test_wrong_settings_are_refused(build):
    with pytest.raises(ConfigError):
        build()
