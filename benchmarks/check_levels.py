"""How often `recgauge check` is wrong, and how often users_needed is enough, in worlds whose truth is known.

    python benchmarks/check_levels.py [--quick]

Values are like nDCG: zero for half of the users, skewed above, alike between runs of a user and between
metrics of a run. Both runs are drawn from one population, so that their true difference is zero; margins are
then put where the truth is, or the candidate's values are lowered by a share. Also draws
docs/images/check-power.svg.
"""

import argparse
import json
from math import ceil
from pathlib import Path

import numpy as np
import pandas as pd
from _measure import HERE, save

from recgauge.checks.rules import Rules
from recgauge.checks.verdicts import judge_users
from recgauge.comparison import UserGroups, UserValues
from recgauge.comparison.tests_of_pairs import detectable_difference, student_quantile, users_to_show
from recgauge.report.figures.style import PALETTE, REFERENCE, count_axis, new_figure, save_svg, write_beside

WORLDS, METRICS, SEGMENTS = 2000, 8, 6
ALPHA = 0.05
_MANY = 400_000  # users, for the population's mean and spread


def drawn(rng, n_metrics, n_users):
    """Return values (n_metrics, 2, n_users) of a candidate and a baseline whose true means are equal."""
    user, run = rng.random(n_users), rng.random((2, n_users))
    metric, own = rng.random((n_metrics, 1, n_users)), rng.random((n_metrics, 2, n_users))
    mixed = 0.4 * user + 0.25 * run + 0.15 * metric + 0.2 * own
    return np.where(mixed > 0.5, ((mixed - 0.5) / 0.5) ** 2, 0.0)


def judged(values, rules):
    """Return verdicts of rules on values; users are in six groups of one size."""
    n_metrics, _, n = values.shape
    users = np.arange(n)
    names = tuple(f"m{i}" for i in range(n_metrics))
    table = UserValues(users, ("candidate", "baseline"), names, values, (True,) * n_metrics)
    groups = {
        "g": UserGroups.of_series(
            "g", pd.Series(pd.Categorical.from_codes(users % SEGMENTS, list("abcdef")), users)
        )
    }
    found = judge_users(table, Rules.of(rules).rules, groups, ALPHA)
    return [verdict.outcome for verdict in found]


def in_groups(margins):
    """Return rules that no group loses more than a metric's margin."""
    return {"segments": {"g": {f"m{i}": margin for i, margin in enumerate(margins)}}}


def world_mean():
    """Return the population's mean."""
    return float(drawn(np.random.default_rng(1), 1, _MANY).mean())


def scenarios(mean):
    """Yield name, users, number of metrics, rules, and a change of the values that makes the truth."""
    same = lambda values: values  # noqa: E731

    def lower(share):
        def change(values):
            values[:, 0] *= 1 - share
            return values

        return change

    def one_bad(values):
        """Make all groups of all metrics better by far, but one of one metric, which is at its margin."""
        values[:, 0] += 0.3
        values[0, 0, ::SEGMENTS] -= 0.3
        return values

    few, many, grid = 200, 1200, "8 metrics x 6 groups"
    yield "one rule, at its margin", few, 1, {"not_worse": {"m0": 0}}, same
    yield "one rule, at its margin", many, 1, {"not_worse": {"m0": 0}}, same
    yield "one rule, 5 % of the baseline, at its margin", few, 1, {"not_worse": {"m0": "5%"}}, lower(0.05)
    yield "one rule, 5 % of the baseline, at its margin", many, 1, {"not_worse": {"m0": "5%"}}, lower(0.05)
    yield "one rule, at least its true value", few, 1, {"at_least": {"m0": mean}}, same
    yield "one rule, at least its true value", many, 1, {"at_least": {"m0": mean}}, same
    yield "one rule, at most its true value", few, 1, {"at_most": {"m0": mean}}, same
    yield "one rule, at most its true value", many, 1, {"at_most": {"m0": mean}}, same
    for n in (few, many):
        yield f"{grid}, all at their margins", n, METRICS, in_groups([0] * METRICS), same
    for n in (few, many):
        name = f"{grid}, one at its margin, 47 far better"
        yield name, n, METRICS, in_groups([0] * METRICS), one_bad


def levels(n_worlds, mean):
    """Yield how often a rule is wrongly shown, all pass wrongly, and a rule is wrongly worse."""
    for number, (name, n, n_metrics, rules, change) in enumerate(scenarios(mean)):
        rng = np.random.default_rng([7, number])
        counts = dict.fromkeys(("wrongly shown", "wrongly passed", "wrongly worse"), 0)
        for _ in range(n_worlds):
            outcomes = judged(change(drawn(rng, n_metrics, n)), rules)
            of_truth = outcomes[:1] if "one at" in name else outcomes  # the others hold
            counts["wrongly shown"] += "shown" in of_truth
            counts["wrongly passed"] += set(outcomes) == {"shown"}
            counts["wrongly worse"] += "worse" in outcomes
        shares = {key: count / n_worlds for key, count in counts.items()}
        yield {
            "truth": name,
            "users": n,
            "worlds": n_worlds,
            **shares,
            "most that chance explains": most(n_worlds),
        }


def most(n_worlds):
    """Return the level and two standard errors."""
    return ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / n_worlds)


def needed(margin):
    """Return the users that show with 80 % power that a run as good as another is not worse by a margin."""
    values = drawn(np.random.default_rng(2), 1, _MANY)[0]
    stderr = float((values[0] - values[1]).std(ddof=1)) / np.sqrt(_MANY)
    detectable = detectable_difference(stderr, _MANY, student_quantile(1 - ALPHA, _MANY - 1))
    return users_to_show(margin, detectable, _MANY)


def power(n_worlds, mean):
    """Yield what becomes of a rule that holds, with a candidate as good as the baseline, by users."""
    for share in (0.05, 0.1):
        enough = needed(share * mean)
        for factor in (0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0):
            n = ceil(factor * enough)
            rng = np.random.default_rng([8, n])
            outcomes = [
                judged(drawn(rng, 1, n), {"not_worse": {"m0": share * mean}})[0] for _ in range(n_worlds)
            ]
            yield {
                "margin": f"{100 * share:g} %",
                "users": n,
                "of users_needed": factor,
                "worlds": n_worlds,
                **{name: outcomes.count(name) / n_worlds for name in ("shown", "undecided", "worse")},
            }


def draw(file):
    """Draw power against users from the stored results."""
    rows = json.loads((HERE / "results" / "check-power.json").read_text())["rows"]
    with new_figure(None) as (figure, (axes,)):
        for ink, margin in zip(PALETTE, ("5 %", "10 %"), strict=False):
            chosen = [row for row in rows if row["margin"] == margin]
            users = [row["users"] for row in chosen]
            for verdict, words, look in (
                ("shown", "shown not to be worse", "o-"),
                ("undecided",) * 2 + (":",),
            ):
                label = f"margin {margin}: {words}"
                axes.plot(users, [100 * row[verdict] for row in chosen], look, color=ink, label=label)
            (enough,) = (row["users"] for row in chosen if row["of users_needed"] == 1)
            axes.plot([enough, enough], [0, 80], color=ink, linewidth=0.8)
            write_beside(axes, f"{enough:,} users\nfor 80 %", (enough, 80), (-6, 4), ha="right")
        axes.axhline(80, **REFERENCE)
        axes.set(xscale="log", ylim=(0, 100), xlabel="users of the test (logarithmic scale)")
        axes.set_ylabel("simulated tests with this verdict, in %")
        count_axis(axes.xaxis)
        figure.legend(loc="outside upper left", ncols=2)
    save_svg(figure, file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the worlds")
    options = parser.parse_args()
    population_mean, n_worlds = world_mean(), WORLDS // 10 if options.quick else WORLDS
    save("check-levels", levels(n_worlds, population_mean), options.quick)
    save("check-power", power(n_worlds, population_mean), options.quick)
    if not options.quick:
        draw(Path(__file__).parents[1] / "docs" / "images" / "check-power.svg")
