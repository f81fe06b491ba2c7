"""Which pairs of models turn, which turns are beyond noise, and whether the winner stays."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.comparison.stability import compare_orders
from recgauge.errors import SchemaError

USERS = [f"u{number}" for number in range(60)]


def around(rng, **means):
    """Per-user values of models with these means and a small deviation."""
    return pd.DataFrame({model: mean + 0.1 * rng.standard_normal(60) for model, mean in means.items()}, USERS)


def test_a_clear_reversal_is_beyond_noise_and_changes_the_winner(rng):
    axes = {
        "cutoff": {"1": around(rng, a=0.5, b=0.3, c=0.1), "5": around(rng, a=0.3, b=0.5, c=0.1)},
        "seed": {"0": around(rng, a=0.5, b=0.3, c=0.1), "1": around(rng, a=0.6, b=0.4, c=0.2)},
    }
    cutoff, seed = compare_orders(axes).axes
    assert (cutoff.n_turned, cutoff.turns_text("5")) == ((1, 1), "b above a!")
    assert cutoff.other_winners() == {"5": ("b", True)}
    assert (cutoff.order("1"), cutoff.order("5")) == (["a", "b", "c"], ["b", "a", "c"])
    assert seed.n_turned == (0, 0)
    assert seed.other_winners() == {}
    assert seed.agreement("1") == 1.0


def test_losses_are_ordered_from_the_lowest(rng):
    values = {"rmse": around(rng, a=0.9, b=1.1), "ndcg": around(rng, a=0.5, b=0.3)}
    (axis,) = compare_orders({"metric": values}, lower_is_better={("metric", "rmse")}).axes
    assert axis.n_turned == (0, 0)
    assert compare_orders({"metric": values}).axes[0].n_turned == (1, 1)


@given(st.lists(st.permutations(range(5)), min_size=2, max_size=4))
def test_turned_pairs_are_those_whose_order_differs(orders):
    axes = {
        "x": {
            str(i): pd.DataFrame({f"m{m}": [float(v)] * 2 for m, v in enumerate(o)})
            for i, o in enumerate(orders)
        }
    }
    (axis,) = compare_orders(axes).axes if len(axes["x"]) > 1 else (None,)
    wanted = {
        (a, b) for a, b in combinations(range(5), 2) if len({order[a] < order[b] for order in orders}) > 1
    }
    assert {(int(a), int(b)) for a, b in np.argwhere(axis.turns()[0].any(axis=0)) if a < b} == wanted
    assert axis.n_turned == (len(wanted), 0)


def test_the_order_of_users_changes_no_bit(rng):
    table, other = around(rng, a=0.5, b=0.49, c=0.4), around(rng, a=0.48, b=0.5, c=0.4)
    shuffled = table.loc[rng.permutation(USERS)]
    first, second = (compare_orders({"x": {"1": one, "2": other}}).axes[0] for one in (table, shuffled))
    assert first.values.tobytes() == second.values.tobytes()
    assert first.p.tobytes() == second.p.tobytes()


def test_users_without_a_value_in_one_model_are_left_out(rng):
    table = around(rng, a=0.5, b=0.3)
    table.iloc[:10, 0] = np.nan
    (axis,) = compare_orders({"x": {"1": table, "2": around(rng, a=0.5, b=0.3)}}).axes
    assert axis.n_users == (50, 60)
    assert axis.values[0, 1] == pytest.approx(table["b"].iloc[10:].mean())


def test_models_that_are_equal_in_truth_rarely_turn_beyond_noise():
    rng, found = np.random.default_rng(3), 0
    for _ in range(150):
        axes = {
            "x": {name: pd.DataFrame(rng.standard_exponential((40, 3)), columns=[*"abc"]) for name in "12"}
        }
        found += compare_orders(axes).axes[0].n_turned[1] > 0
    assert found <= 150 * 0.05 + 2 * np.sqrt(150 * 0.05 * 0.95)


def test_p_values_are_those_of_scipy_after_holm(rng):
    from scipy.stats import ttest_rel

    table, other = around(rng, a=0.5, b=0.48), around(rng, a=0.5, b=0.45)
    (axis,) = compare_orders({"x": {"1": table, "2": other}}).axes
    raw = [ttest_rel(one["a"], one["b"]).pvalue for one in (table, other)]
    low, high = sorted(raw)
    holm = {low: 2 * low, high: max(2 * low, high)}
    assert axis.p[:, 0, 1] == pytest.approx([min(1, holm[p]) for p in raw], rel=1e-9)


def test_users_without_values_for_all_models_are_refused():
    options = {key: pd.DataFrame({"a": [np.nan], "b": [1.0]}) for key in "12"}
    with pytest.raises(SchemaError, match="x=1: no user has a value for each of a, b"):
        compare_orders({"x": options})
