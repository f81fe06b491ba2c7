"""Shown, worse, undecided: what the interval says, for every kind of rule, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import recgauge
from recgauge.checks.decision import Estimate, decide
from recgauge.errors import ConfigError

N = 500
IDS = pd.Index(range(N), name="user")


@pytest.fixture
def old(rng):
    return pd.DataFrame({"ndcg@10": rng.random(N) ** 2, "recall@10": rng.random(N)}, index=IDS)


def moved(old, rng, by, spread=0.05):
    noise = rng.normal(0, spread, old.shape)
    return old + by + noise - noise.mean(axis=0)


def by_hand(values):
    """Return both ends of Student's interval, each at 5 %."""
    half = stats.t.ppf(0.95, N - 1) * stats.sem(values)
    return values.mean() - half, values.mean() + half


def outcomes(result):
    return {f"{one.rule} {one.segment}".strip(): one.outcome for one in result.verdicts}


def test_the_three_verdicts_are_what_the_interval_says(old, rng):
    for by, outcome in ((0.0, "shown"), (-0.02, "worse"), (-0.0101, "undecided")):
        new = moved(old, rng, by)
        result = recgauge.check(new, old, {"not_worse": {"ndcg@10": 0.01}})
        (verdict,) = result.verdicts
        low, high = by_hand(new["ndcg@10"] - old["ndcg@10"])
        assert verdict.outcome == outcome
        assert verdict.estimate == pytest.approx(by)
        assert (verdict.low, verdict.high) == pytest.approx((low, high))
        assert result.passed is (outcome == "shown")
        assert (verdict.low > verdict.bound) is (outcome == "shown")
        assert (verdict.high < verdict.bound) is (outcome == "worse")


def test_a_share_of_the_baseline_is_a_contrast_of_the_two(old, rng):
    new = moved(old, rng, -0.01)
    (verdict,) = recgauge.check(new, old, {"not_worse": {"ndcg@10": "10%"}}).verdicts
    contrast = new["ndcg@10"] - 0.9 * old["ndcg@10"]
    assert verdict.low - verdict.bound == pytest.approx(by_hand(contrast)[0])
    assert verdict.p_shown == pytest.approx(stats.ttest_1samp(contrast, 0, alternative="greater").pvalue)
    assert verdict.bound == pytest.approx(-0.1 * old["ndcg@10"].mean())
    assert verdict.outcome == "shown"


def test_the_skewness_of_a_value_is_removed(old):
    """Hall's interval: where his transformation of t is Student's quantile."""
    values = old["ndcg@10"] ** 4
    (verdict,) = recgauge.check(old**4, old**4, {"at_least": {"ndcg@10": 0.1}}).verdicts
    a = stats.skew(values) / (3 * np.sqrt(N))

    def off(mean, z):
        t = (values.mean() - mean) / stats.sem(values)
        return t + a * t**2 + a**2 * t**3 / 3 + a / 2 - z

    around, z = values.mean() + np.array([-9, 9]) * stats.sem(values), stats.t.ppf(0.95, N - 1)
    ends = [optimize.brentq(off, *around, args=(side,), xtol=1e-15) for side in (z, -z)]
    assert (verdict.low, verdict.high) == pytest.approx(ends)
    assert verdict.high - values.mean() > 1.1 * (values.mean() - verdict.low)


def test_every_kind_of_rule_has_its_good_side(old, rng):
    new = moved(old, rng, 0.05)
    mean = new["ndcg@10"].mean()
    kept = {
        "better_by": {"ndcg@10": 0.03},
        "at_least": {"ndcg@10": mean - 0.05},
        "at_most": {"ndcg@10": mean + 0.05, "recall@10": "120%"},
    }
    broken = {
        "better_by": {"ndcg@10": "50%"},
        "at_least": {"ndcg@10": mean + 0.05},
        "at_most": {"ndcg@10": mean - 0.05, "recall@10": "101%"},
    }
    assert set(outcomes(recgauge.check(new, old, kept)).values()) == {"shown"}
    assert set(outcomes(recgauge.check(new, old, broken)).values()) == {"worse"}


def test_a_pass_needs_no_correction_and_a_claim_of_one_rule_does():
    borderline = Estimate(0.02, 0.01, 1000)  # p = .023
    hopeless = Estimate(0.0, 0.01, 1000)
    assert [one.outcome for one in decide([borderline] * 8, 0.05)] == ["shown"] * 8
    assert [one.outcome for one in decide([borderline, *[hopeless] * 7], 0.05)] == ["undecided"] * 8


def test_one_number_for_all_users_is_compared_and_not_tested(demo_runs):
    new, old = demo_runs
    rules = {"at_least": {"catalog_coverage@10": 0.05}, "cost": {"fit_seconds": 1e6, "model_bytes": "1%"}}
    result = recgauge.check(new, old, rules)
    assert [one.outcome for one in result.verdicts] == ["shown", "shown", "worse"]
    assert not any(one.tested for one in result.verdicts)


@pytest.fixture(scope="module")
def demo_runs(tmp_path_factory):
    from finished import finished

    folder = tmp_path_factory.mktemp("runs")
    words = ("metrics=[ranking,beyond_accuracy]", "cutoffs=[10]")
    return [finished(folder, model, *words) for model in ("svd", "item_knn")]


def test_groups_of_a_run_come_from_its_own_data(demo_runs):
    from recgauge.cli.run_data import load_data

    rules, (new, old) = {"segments": {"activity": {"ndcg@10": "20%"}}}, demo_runs
    result = recgauge.check(new, old, rules, load=load_data)
    assert len(result.verdicts) == 4
    assert sum(one.n_users for one in result.verdicts) == 937
    assert (result.candidate, result.baseline) == ("svd", "item_knn")
    with pytest.raises(ConfigError, match="need the data of a finished run"):
        recgauge.check(new, old, rules)


def test_runs_that_cannot_be_compared_are_refused(demo_runs, old, rng, tmp_path):
    from finished import finished

    other = finished(
        tmp_path, "svd", "metrics=[ranking,beyond_accuracy]", "cutoffs=[10]", "split.test_size=0.1"
    )
    with pytest.raises(ConfigError, match=r"check: (?s:.*)split.test_size: 0.1 \(svd.*\); 0.2"):
        recgauge.check(other, demo_runs[1], {"not_worse": {"ndcg@10": "1%"}})
    with pytest.raises(ConfigError, match="other users: 1 have a value of ndcg@10 in one of them alone"):
        recgauge.check(old[1:], old, {"not_worse": {"ndcg@10": "1%"}})
    hidden = old.copy()
    hidden.iloc[3, 0] = np.nan
    with pytest.raises(ConfigError, match="other users"):
        recgauge.check(hidden, old, {"not_worse": {"ndcg@10": "1%"}})


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            {"not_worse": {"ndgc@10": 0.1}},
            "not_worse.ndgc@10: not in candidate, baseline. Did you mean ndcg@10?",
        ),
        ({"segments": {"plann": {"ndcg@10": 0.1}}}, "there is no plann. Did you mean plan?"),
        ({"cost": {"fit_seconds": 3}}, "cost.fit_seconds: nobody knows what candidate took"),
    ],
)
def test_rules_that_cannot_be_judged_are_refused_in_one_line(old, rules, message):
    users = pd.DataFrame({"plan": "free", "empty": None}, index=IDS)
    with pytest.raises(ConfigError) as error:
        recgauge.check(old, old, rules, users=users if "segments" in rules else None)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
