"""Who gains and who loses: means, intervals and differences inside groups."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recgauge.comparison import compare_item_groups, compare_segments, cut_groups
from recgauge.errors import ConfigError, SchemaError
from recgauge.report.segment_tables import claims


@pytest.fixture
def values(rng):
    table = pd.DataFrame({"old": rng.random(90), "far": rng.random(90)}, [f"u{n}" for n in range(90)])
    return table.assign(new=table["old"] + 0.2 * (np.arange(90) < 30) - 0.2 * (np.arange(90) >= 60))


@pytest.fixture
def groups(values):
    return pd.Series(["few"] * 30 + ["some"] * 30 + ["many"] * 30, values.index)


def test_rows_are_student_s_intervals_and_pairs_paired_t_tests(values, groups, rng):
    values["new"] += 0.1 * rng.standard_normal(90)
    found = compare_segments(values, groups, baseline="old", confidence=0.9)
    inside = values[groups == "few"]
    row = next(row for row in found.rows if (row.segment, row.run) == ("few", "new"))
    wanted = stats.t.interval(0.9, 29, inside["new"].mean(), inside["new"].sem())
    assert (row.mean, row.low, row.high) == pytest.approx((inside["new"].mean(), *wanted))
    pair = next(pair for pair in found.pairs if (pair.segment, pair.a) == ("few", "new"))
    test = stats.ttest_rel(inside["new"], inside["old"])
    interval = test.confidence_interval(0.9)
    assert (pair.difference, pair.low, pair.high) == pytest.approx(
        ((inside["new"] - inside["old"]).mean(), interval.low, interval.high)
    )
    assert pair.p_adjusted == pytest.approx(min(1.0, test.pvalue * len(found.pairs)), rel=1e-6)
    changes = [(values["new"] - values["old"])[groups == name] for name in ("few", "many", "some")]
    other = [(values["far"] - values["old"])[groups == name] for name in ("few", "many", "some")]
    raw = [stats.alexandergovern(*each).pvalue for each in (changes, other)]
    assert found.uneven["new"] == pytest.approx(min(1.0, 2 * raw[0]))


def test_gains_and_losses_cancel_over_all_and_show_inside(values, groups):
    found = compare_segments(values[["old", "new"]], groups, by="activity")
    told = {pair.segment: (round(pair.difference, 6), pair.better, pair.worse) for pair in found.pairs}
    assert told == {"all": (0, 1 / 3, 1 / 3), "few": (0.2, 1, 0), "many": (-0.2, 0, 1), "some": (0, 0, 0)}
    assert claims(found)[0].startswith(
        "By activity: new against old gains in few (+0.2000); loses in many (-0.2000); "
        "is not shown to differ in some"
    )


def test_the_order_of_users_and_groups_changes_no_bit(values, groups, rng):
    one = compare_segments(values, groups)
    moved = values.loc[rng.permutation(values.index)]
    assert repr(compare_segments(moved, groups.sample(frac=1, random_state=1))) == repr(one)


def test_users_without_value_or_group_are_left_out_and_counted(values, groups):
    values.iloc[0, 0] = np.nan
    found = compare_segments(values, groups.iloc[:-5])
    assert found.n_without == 5
    assert {row.segment: row.n_users for row in found.rows} == {"all": 89, "few": 29, "many": 25, "some": 30}


def test_rates_of_items_are_totals_and_their_error_that_of_clusters():
    rng = np.random.default_rng(0)
    hits = pd.DataFrame({"user": np.repeat(np.arange(200), 5), "item": rng.integers(0, 20, 1000)})
    hits["a"] = rng.random(1000) < 0.3
    hits["b"] = hits["a"] & (hits["item"] < 10)
    found = compare_item_groups(hits, {item: "head" if item < 10 else "tail" for item in range(20)})
    rows = {(row.segment, row.run): row for row in found.rows}
    tail = hits[hits["item"] >= 10]
    assert rows["tail", "a"].mean == pytest.approx(tail["a"].mean())
    assert (rows["tail", "a"].n_rows, rows["tail", "a"].n_users) == (len(tail), tail["user"].nunique())
    pairs = {pair.segment: pair for pair in found.pairs}
    assert (pairs["head"].difference, np.isnan(pairs["head"].low)) == (0, True)
    assert pairs["head"].p_adjusted == 1
    assert pairs["tail"].differs
    assert found.uneven == {}
    # a bootstrap over users, not over rows, gives the same error
    sums, counts = tail.groupby("user")["a"].sum().to_numpy(float), tail.groupby("user").size().to_numpy()
    draws = rng.integers(0, len(sums), (4000, len(sums)))
    spread = (sums[draws].sum(axis=1) / counts[draws].sum(axis=1)).std()
    half = (rows["tail", "a"].high - rows["tail", "a"].low) / 2
    assert half == pytest.approx(1.96 * spread, rel=0.06)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(1, 6))
def test_groups_of_numbers_cover_all_keep_equal_ones_together_and_rise(numbers, n_groups):
    series = pd.Series(numbers)
    cut = cut_groups(series, n_groups)
    assert cut.notna().all()
    assert cut.nunique() <= n_groups
    assert cut_groups(pd.Series([*range(99), None]), 9).value_counts().tolist() == [11] * 9
    assert (series.groupby(cut.cat.codes).nunique() >= 1).all()
    assert (series.to_frame("n").assign(g=cut.cat.codes).groupby("n")["g"].nunique() == 1).all()
    order = series.groupby(cut.cat.codes).agg(["min", "max"])
    assert (order["min"].iloc[1:].to_numpy() > order["max"].iloc[:-1].to_numpy()).all()


def test_what_cannot_be_compared_is_refused(values):
    with pytest.raises(SchemaError, match="no user has both a value in every run and a group"):
        compare_segments(values, {"nobody": "here"}, by="age")
    with pytest.raises(ConfigError, match="no run 'ease'; there are old, far, new"):
        compare_segments(values, dict.fromkeys(values.index, "x"), baseline="ease")
    with pytest.raises(SchemaError, match="columns user, item and one per run"):
        compare_item_groups(pd.DataFrame({"user": [1], "a": [1]}), {})


def test_values_and_groups_meet_by_user_and_never_by_position(values, groups):
    straight = compare_segments(values, groups).rows
    by_column = values.rename_axis("user_id").reset_index().sample(frac=1, random_state=0)
    assert compare_segments(by_column, groups).rows == straight
    assert compare_segments({run: values[run].sample(frac=1) for run in values}, groups).rows == straight
    assert compare_segments(pa.Table.from_pandas(by_column, preserve_index=False), groups).rows == straight
    counted = values.reset_index(drop=True)
    with pytest.raises(SchemaError, match="only counts the rows"):
        compare_segments(counted, groups.set_axis(range(1, 91)))
    assert compare_segments(counted, groups.reset_index(drop=True)).rows == straight


def test_a_number_and_a_text_are_two_users_and_no_two_groups():
    users = pd.Index([1, "1", 2, "2"], dtype=object)
    frame = pd.DataFrame({"a": [0.1, 0.2, 0.3, 0.5], "b": [0.2, 0.1, 0.4, 0.2]}, users)
    found = compare_segments(frame, {1: "x", "1": "y", 2: "x", "2": "y"})
    assert {row.segment: row.n_users for row in found.rows} == {"all": 4, "x": 2, "y": 2}
    for groups, message in (
        ({1: 1, "1": "1"}, "two groups are written '1'"),
        (np.array(["x"] * 4), "a series by id"),
        (pd.Series(["x"] * 8, [*users, *users]), "several times"),
        ({user: ["x"] for user in users}, "a user is in one group"),
        ({"01": "x"}, "nobody|no user|lost"),
    ):
        with pytest.raises(SchemaError, match=message):
            compare_segments(frame, groups)
