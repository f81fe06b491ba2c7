"""What `recgauge.compare` promises: users paired by id, one answer for any order, plain sentences."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recgauge
from recgauge import compare, compare_segments
from recgauge.comparison import Procedure, RunValues, UserValues, compare_values, read_run
from recgauge.conventions import conventions
from recgauge.errors import ConfigError, SchemaError
from recgauge.metrics.names import usual_direction


@pytest.fixture
def frames(rng):
    """Three runs of 300 users with text ids; c is clearly the worst."""
    users = pd.Index([f"u{i:03d}" for i in range(300)], name="user")
    base = rng.random(300) * (rng.random(300) < 0.5)
    made = {}
    for name, gain in {"a": 0.03, "b": 0.02, "c": -0.1}.items():
        ndcg = base + gain + 0.1 * rng.standard_normal(300)
        made[name] = pd.DataFrame({"ndcg_at_10": ndcg, "rmse": 1 - ndcg}, index=users)
    return made


def test_less_is_better_for_errors_by_name_and_on_request(frames):
    by_error = compare(frames, metrics=["rmse"], n_resamples=500).results[0]
    assert [row.run for row in by_error.rows] == ["a", "b", "c"]
    assert by_error.pair("a", "c").difference < 0 < by_error.pair("a", "c").better
    renamed = {name: frame.rename(columns={"rmse": "loss"}) for name, frame in frames.items()}
    for options, best in (({"lower_is_better": "loss"}, "a"), ({"higher_is_better": ["loss"]}, "c")):
        named = compare(renamed, metrics=["loss"], n_resamples=500, **options)
        assert named.results[0].rows[0].run == best
    with pytest.raises(ConfigError, match=r"--lower-is-better loss"):
        compare(renamed, n_resamples=500)
    with pytest.raises(ConfigError, match=r"lower_is_better: there is no los\. Did you mean loss"):
        compare(renamed, lower_is_better=["los", "loss"], n_resamples=500)
    with pytest.raises(ConfigError, match="both"):
        compare(renamed, lower_is_better=["loss"], higher_is_better=["loss"], n_resamples=500)


def test_every_convention_has_the_direction_of_its_metrics_by_their_names():
    for convention in conventions().values():
        for name, defined in convention.metrics.items():
            if not name.startswith("gini"):  # a coefficient in some, its complement in others
                assert usual_direction(name) == defined.higher_is_better, (convention.name, name)


@pytest.mark.parametrize("numeric", [True, False])
def test_the_order_of_users_changes_nothing(frames, rng, numeric):
    if numeric:
        frames = {name: frame.set_axis(range(0, 3000, 10)) for name, frame in frames.items()}
    settings = {"n_resamples": 500, "tests": ("t", "permutation", "bootstrap", "wilcoxon", "sign")}
    shuffled = {name: frame.sample(frac=1, random_state=i) for i, (name, frame) in enumerate(frames.items())}
    assert compare(shuffled, **settings) == compare(frames, **settings)


def test_one_long_table_says_the_same_in_any_order_of_rows(frames, tmp_path):
    long = pd.concat(
        frame.melt(ignore_index=False, var_name="metric").reset_index().assign(model=name)
        for name, frame in frames.items()
    )
    straight = compare(frames, n_resamples=500)
    long["metric"] = long["metric"].replace("ndcg_at_10", "ndcg@10")
    long.sample(frac=1, random_state=0).to_csv(tmp_path / "long.csv", index=False)
    from_csv = compare(tmp_path / "long.csv", n_resamples=500)
    assert from_csv.result("rmse").pairs == straight.result("rmse").pairs
    assert from_csv.result("ndcg_at_10") == straight.result("ndcg_at_10")
    doubled = {name: frame * 2 for name, frame in frames.items()}
    several = compare({"one": frames, "two": doubled}, n_resamples=500)
    assert several.datasets == ("one", "two")
    assert several.over_datasets[0].mean_ranks == {"a": 1.0, "b": 2.0, "c": 3.0}


def test_users_without_a_value_everywhere_are_left_out_and_counted(frames):
    frames["b"] = frames["b"].iloc[50:]
    frames["c"].iloc[290:, 0] = np.nan
    found = compare(frames, n_resamples=500)
    ndcg, rmse = found.results
    assert (ndcg.n_users, ndcg.n_left_out) == (240, 60)
    assert (rmse.n_users, rmse.n_left_out) == (250, 50)
    assert ndcg.row("a").mean == pytest.approx(frames["a"]["ndcg_at_10"].iloc[50:290].mean(), rel=1e-14)
    assert (
        "compared on the 240 users who have a value in every run; 60 have one in some runs" in found.notes[0]
    )
    # what one metric lacks must not move the other
    alone = compare({name: frame[["rmse"]].loc["u050":] for name, frame in frames.items()}, n_resamples=500)
    assert rmse.pairs[0].difference == alone.results[0].pairs[0].difference


def test_equal_runs_do_not_differ_and_break_nothing(frames):
    same = {"one": frames["a"], "two": frames["a"], "zero": frames["a"] * 0}
    tests = ("t", "permutation", "bootstrap", "wilcoxon", "sign")
    found = compare(same, metrics=["ndcg_at_10"], tests=tests, n_resamples=500)
    pair = found.results[0].pair("one", "two")
    assert (pair.difference, pair.low, pair.high, pair.p_adjusted, pair.differs) == (0, 0, 0, 1, False)
    assert set(pair.p.values()) == {1.0}
    assert pair.effect_size is None
    assert pair.users_needed is None
    assert found.claims[0] == "one and two have the same nDCG@10 for every user."
    assert found.results[0].row("one").is_best
    assert found.results[0].row("two").is_best
    assert found.results[0].pair("one", "zero").relative is None


def test_seeds_are_averaged_by_user_and_folds_pooled():
    users = np.arange(6)
    rng = np.random.default_rng(0)

    def run(fold, seed, gain, some=users):
        return RunValues(
            some, {"recall": np.arange(6.0)[some] + gain + rng.normal(0, 0.1, len(some))}, {}, seed, fold
        )

    seeds = {"a": [run(None, s, 1.0) for s in range(3)], "b": run(None, None, 0.0)}
    table = UserValues.of(seeds)
    by_seed = np.array([one.values["recall"] for one in seeds["a"]])
    assert table.values[0, 0] == pytest.approx(by_seed.mean(axis=0))
    repeats = table.repeats["recall", "a"]
    assert repeats.means == pytest.approx(by_seed.mean(axis=1))
    assert repeats.deviation == pytest.approx(by_seed.mean(axis=1).std(ddof=1))
    assert repeats.labels == ("seed 0", "seed 1", "seed 2")

    halves = (users[:3], users[3:])
    folds = {name: [run(f, None, gain, halves[f]) for f in (0, 1)] for name, gain in (("a", 1.0), ("b", 0.0))}
    found = compare_values([UserValues.of(folds)], Procedure(n_resamples=100))
    (result,) = found.results
    assert result.n_users == 6
    d = [np.mean(folds["a"][f].values["recall"] - folds["b"][f].values["recall"]) for f in (0, 1)]
    assert result.pairs[0].difference == pytest.approx(np.mean(d))
    # two folds: variance times 1/2 + (1/2) / (1/2)
    t = np.mean(d) / (np.std(d, ddof=1) * np.sqrt(1.5))
    assert result.pairs[0].p_folds == pytest.approx(2 * (0.5 - np.arctan(t) / np.pi))


def uneven_seeds(rng, gain):
    """Return three seeds of a run, each with users of its own."""
    level = np.linspace(0.0, 1.0, 300) ** 2
    chosen = [np.flatnonzero(rng.random(300) < share) for share in (0.9, 0.7, 0.5)]
    return [
        RunValues(users, {"recall": level[users] + gain + seed + rng.normal(0, 0.1, len(users))}, seed=seed)
        for seed, users in enumerate(chosen)
    ]


def test_the_number_of_several_seeds_is_the_mean_of_their_means(rng):
    runs = {
        "a": uneven_seeds(np.random.default_rng(5), 0.1),
        "b": uneven_seeds(np.random.default_rng(5), 0.0),
    }
    procedure = Procedure(interval="normal", n_resamples=2000)
    (result,) = compare_values([UserValues.of(runs)], procedure).results
    means = {name: [seed.values["recall"].mean() for seed in seeds] for name, seeds in runs.items()}
    for name, of_seeds in means.items():
        assert result.row(name).mean == pytest.approx(np.mean(of_seeds), abs=1e-12)
        assert result.row(name).repeats.mean == pytest.approx(np.mean(of_seeds), abs=1e-12)
    assert result.pairs[0].difference == pytest.approx(0.1, abs=1e-12)
    assert (result.pairs[0].better, result.pairs[0].worse) == (1.0, 0.0)

    def number(times):
        """Return the mean of the means where each user is drawn so many times."""
        return np.mean([np.average(seed.values["recall"], weights=times[seed.users]) for seed in runs["a"]])

    users = np.unique(np.concatenate([seed.users for seed in runs["a"]]))
    drawn = [number(np.bincount(rng.choice(users, len(users)), minlength=300)) for _ in range(4000)]
    row = result.row("a")
    assert (row.high - row.low) / 2 / 1.968 == pytest.approx(np.std(drawn), rel=0.05)
    (bca,) = compare_values([UserValues.of(runs)], Procedure(n_resamples=4000)).results
    assert (bca.row("a").low, bca.row("a").high) == pytest.approx(
        np.quantile(drawn, [0.025, 0.975]), abs=0.004
    )


def test_only_folds_that_all_runs_have_are_compared():
    users = np.arange(4)
    a = [RunValues(users, {"recall": users + 1.0}, fold=f) for f in (0, 1)]
    table = UserValues.of({"a": a, "b": RunValues(users, {"recall": users * 1.0}, fold=1)})
    assert table.folds is None
    assert "a have more" in table.notes[0]
    with pytest.raises(ConfigError, match=r"no fold in common \(a: 0, 1; b: 7\)"):
        UserValues.of({"a": a, "b": RunValues(users, {"recall": users * 1.0}, fold=7)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: {"a": f["a"]}, "at least two runs are needed, got a"),
        (lambda f: {"a": f["a"], "b": f["b"].add_prefix("my_")}, "no metric in common that has"),
        (lambda f: {"a": f["a"], "b": f["b"].iloc[:1]}, "who have a value in every run; ndcg_at_10: 1"),
        (lambda f: pd.concat([f["a"][[]].assign(model="a", value=0.5)] * 2), "model a, user u000"),
        (lambda f: {"a": f["a"], "b": f["b"].set_axis(range(9, 309))}, "users: 0 in both, of 300 in the"),
        (lambda f: {"a": f["a"], "b": pd.concat([f["b"], f["b"]])}, "b: user 'u000' has several rows"),
        (lambda f: f["a"].reset_index().assign(model="a", value=1), "Leave ndcg_at_10, rmse out"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_told_in_one_line(frames, change, message):
    with pytest.raises(ConfigError, match=r'recgauge.compare\(\{"old": old, "new": new\}\)'):
        compare(*frames.values())
    with pytest.raises((ConfigError, SchemaError)) as caught:
        compare(change(frames))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_users_are_paired_by_their_column_and_never_by_position(frames, tmp_path):
    both = {name: frames[name].reset_index(names="userId") for name in ("a", "b")}
    both["b"] = both["b"].sample(frac=1, random_state=3).reset_index(drop=True)
    straight = compare({name: frames[name] for name in ("a", "b")}, n_resamples=500).results
    assert compare(both, n_resamples=500).results == straight
    tables = {name: pa.Table.from_pandas(one) for name, one in both.items()}
    assert compare(tables, n_resamples=500).results == straight
    filtered = {name: one[one["userId"] >= "u"] for name, one in both.items()}
    assert compare(filtered, n_resamples=500).results == straight
    for ending, write in ((".csv", pd.DataFrame.to_csv), (".parquet", pd.DataFrame.to_parquet)):
        for name, one in both.items():
            write(one, tmp_path / f"{name}{ending}", index=False)
        paths = {name: tmp_path / f"{name}{ending}" for name in both}
        assert compare(paths, n_resamples=500).results == straight
    with pytest.raises(SchemaError, match="Name the column user_id"):
        compare({name: one.drop(columns="userId") for name, one in both.items()})


def test_users_of_files_are_as_written(tmp_path, rng):
    users = ["NA", "null", "3", "003", "1e1", *map(str, range(100, 140))]
    for name, some in (("a", users), ("b", users), ("c", users[5:])):
        values = pd.DataFrame({"user_id": some, "ndcg@10": rng.random(len(some))})
        values.to_csv(tmp_path / f"{name}.csv", index=False)
    found = compare({name: tmp_path / f"{name}.csv" for name in "abc"}, n_resamples=500)
    assert (found.results[0].n_users, found.results[0].n_left_out) == (40, 5)
    pairs = UserValues.of({name: read_run(tmp_path / f"{name}.csv") for name in "ab"})
    assert set(users) == set(pairs.users.tolist())


def test_evaluations_by_other_definitions_are_refused():
    lists, truth = {"u": ["a", "b"], "v": ["b", "a"]}, {"u": ["a"], "v": ["a"]}
    runs = {
        name: recgauge.evaluate(lists, truth, metrics=("ndcg",), cutoffs=(2,), conventions=name)
        for name in ("ranx", "warprec")
    }
    with pytest.raises(ConfigError, match=r"measure ndcg@2 differently.*\(ranx\).*\(warprec\)"):
        compare(runs)


TRUTH = {f"u{i}": {"a": 3.0, "b": 0.5, "c": i % 3} for i in range(12)}
LISTS = {user: ["b", "a"] if n % 2 else ["c", "b", "a"] for n, user in enumerate(TRUTH)}


@pytest.mark.parametrize(
    ("truth", "settings", "message"),
    [
        (TRUTH, {"relevant_from": 0.5}, "threshold=1 .*threshold=0.5 "),
        ({user: {"a": 3.0} for user in TRUTH}, {}, "different relevant items"),
        (TRUTH | {"u3": {"a": 2.0}}, {}, "different relevant items"),
        (dict(list(TRUTH.items())[2:]), {}, "different relevant items"),
    ],
)
def test_evaluations_of_other_truths_are_refused(truth, settings, message):
    runs = {
        "one": recgauge.evaluate(LISTS, TRUTH, cutoffs=(2,)),
        "other": recgauge.evaluate({user: LISTS[user] for user in truth}, truth, cutoffs=(2,), **settings),
    }
    with pytest.raises(ConfigError, match=message):
        compare(runs)
    assert compare({name: each.to_frame() for name, each in runs.items()}, n_resamples=100).results


def test_one_truth_in_another_order_and_lists_with_repeats_are_compared():
    turned = {user: dict(reversed(items.items())) for user, items in reversed(TRUTH.items())}
    repeated = {user: [*items, items[0]] for user, items in LISTS.items()}
    runs = {"a": recgauge.evaluate(LISTS, TRUTH), "b": recgauge.evaluate(repeated, turned)}
    assert compare(runs, n_resamples=100).result("ndcg_at_5").pairs[0].equal == 1


@pytest.mark.parametrize("settings", [{}, {"correction": "holm", "interval": "normal"}])
def test_means_that_differ_by_rounding_are_both_best(settings):
    users = pd.Index(range(30), name="user")
    thirds = pd.DataFrame({"recall": [1 / 3, 2 / 3, 0] * 9 + [0] * 3}, index=users)
    quarters = pd.DataFrame({"recall": [0.25, 0.5, 0.25, 0.5, 0] * 6}, index=users)
    result = compare({"a": thirds, "b": quarters, "c": quarters / 2}, **settings).results[0]
    assert [row.is_best for row in result.rows] == [True, True, False]
    assert [row.is_second for row in result.rows] == [False, False, True]
    assert (result.pairs[0].difference, result.pairs[0].users_needed) == (0, None)


def test_columns_without_numbers_are_told_and_their_names_are_no_users(frames):
    plain = {name: one[["ndcg_at_10"]] for name, one in frames.items() if name != "c"}
    named = {name: one.rename_axis(None) for name, one in plain.items()}  # users are the index all the same
    expected = compare(plain, n_resamples=500).results
    assert compare(named, n_resamples=500).results == expected
    for name, one in plain.items():
        wide = one.assign(region="x", joined=pd.Timestamp("2024-03-01"))
        found = compare({**plain, name: wide}, n_resamples=500)
        assert found.results == expected
        assert "region, joined" in found.notes[-1]
    for column in ("fold", "recall"):
        with pytest.raises(SchemaError, match=column):
            compare({"a": plain["a"].assign(**{column: "x"}), "b": plain["b"]})
    groups = pd.Series("x", plain["a"].index)
    wins = pd.DataFrame({"bpr64": [0, 1] * 150, "svd": 1}, plain["a"].index)
    assert compare_segments(wins, groups, metric="hit_rate").rows[0].n_users == 300
