"""Beyond accuracy: every library's values, reproduced through `recgauge.evaluate`, or a reason why not."""

from collections import Counter, defaultdict
from functools import cache
from typing import Any

import numpy as np

from golden.beyond_inputs import Asked, asked_for
from golden.beyond_rows import BEYOND_ROWS, LEFT_OUT, UNSTABLE
from golden.cases import GoldenValue, golden_values, number, same
from golden.ranking_rows import Row
from recgauge.errors import ConfigError, MetricError

AT_LEAST = {"means": 6_594, "per_user": 21_076}
Ours = tuple[float, dict[str, float] | None]


@cache
def _together() -> dict[tuple[str, Row], tuple[tuple[Row, ...], tuple[int | None, ...]]]:
    """Return the rows and cutoffs that are asked of a case at once, as in a run."""
    cutoffs: dict[tuple[str, Row], set[int | None]] = defaultdict(set)
    for value in golden_values("ranking"):
        if value.row in BEYOND_ROWS and not asked_for(value, BEYOND_ROWS[value.row]).is_special:
            cutoffs[value.case, BEYOND_ROWS[value.row]].add(value.k)
    found: dict[Any, list[Row]] = defaultdict(list)
    for (case, row), some in cutoffs.items():
        found[case, row.convention, row.policies, row.lists, tuple(sorted(some, key=str))].append(row)
    return {(case, row): (tuple(rows), ks) for (case, *_, ks), rows in found.items() for row in rows}


_done: dict[tuple[str, tuple[Row, ...]], dict[tuple[Row, int | None], Ours] | None] = {}


def _evaluate(value: GoldenValue) -> Ours | None:
    """Return our mean and, where there are some, the values of users; None where the input is refused."""
    row = BEYOND_ROWS[value.row]
    asked = asked_for(value, row)
    if not asked.is_special:
        rows, cutoffs = _together()[value.case, row]
        if (value.case, rows) not in _done:
            _done[value.case, rows] = _results(asked, rows, cutoffs)
        done = _done[value.case, rows]
        if done is not None and (row, value.k) in done:
            return done[row, value.k]
    alone = _results(asked, (row,), (value.k,))  # refused together or left out: is it so alone?
    return None if alone is None else alone[row, value.k]


def _results(
    asked: Asked, rows: tuple[Row, ...], cutoffs: tuple[int | None, ...]
) -> dict[tuple[Row, int | None], Ours] | None:
    names = {f"asked{number}": row for number, row in enumerate(rows)}
    try:
        evaluation = asked.evaluate({name: row.metric for name, row in names.items()}, cutoffs)
    except (MetricError, ConfigError):  # a list cut to one item has no pair: such cutoffs are refused
        return None
    users = evaluation.users.tolist()
    per_user = (None if one.per_user is None else one.per_user.tolist() for one in evaluation.results)
    return {
        (names[one.name], one.k): (
            one.value,
            None if values is None else dict(zip(users, values, strict=True)),
        )
        for one, values in zip(evaluation.results, per_user, strict=True)
    }


def _compare(value: GoldenValue, counted: Counter[str]) -> str | None:
    """Compare one stored value; return what differs."""
    ours = _evaluate(value)
    if "unstable" in value.more:
        counted[f"left out: {UNSTABLE}"] += 1
        return None
    if "error" in value.more:
        return _compare_refusal(value, refused=ours is None, counted=counted)
    if ours is None:
        undefined = np.isnan(number(value.value))
        counted["refused: nobody has a value, NaN in the library"] += undefined
        return None if undefined else f"refused, not {value.value!r}"
    mean, users = ours
    counted["means"] += 1
    if not same(mean, number(value.value), BEYOND_ROWS[value.row].tolerance):
        return f"mean {mean!r}, not {value.value!r}"
    if value.per_user is None:
        return None
    for user, expected in zip(value.inputs["users"], value.per_user, strict=True):
        actual = (users or {}).get(user, np.nan)
        counted["per_user"] += 1
        if not same(actual, number(expected)):
            return f"user {user}: {actual!r}, not {expected!r}"
    return None


def _compare_refusal(value: GoldenValue, *, refused: bool, counted: Counter[str]) -> str | None:
    reason = "refused as by the library" if refused else LEFT_OUT.get(value.metric)
    if reason is None:
        return f"the library raises {value.more['error']}"
    counted[reason if refused else f"left out: {reason}"] += 1
    return None


def test_every_value_is_reproduced() -> None:
    counted: Counter[str] = Counter()
    wrong = []
    for value in golden_values("ranking"):
        if value.row in BEYOND_ROWS:
            difference = _compare(value, counted)
            if difference is not None:
                wrong.append(f"{value.row} at {value.k} in {value.case}: {difference}")
    assert not wrong, f"{len(wrong)} values differ: " + "; ".join(wrong[:8])
    assert all(counted[name] >= at_least for name, at_least in AT_LEAST.items())
