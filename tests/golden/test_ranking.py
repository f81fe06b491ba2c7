"""Rankings: every stored value of every library and article, reproduced through `recgauge.evaluate`."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np

from golden.beyond_rows import BEYOND_ROWS, FULL_RANKINGS
from golden.cases import GoldenValue, golden_values, number, same
from golden.evaluated import Evaluations, Inputs
from golden.ranking_inputs import of_users, ranking_inputs
from golden.ranking_rows import CUT, LEFT_OUT, Row, row_of
from recgauge.conventions import LIBRARIES, get_convention

BEYOND = {*BEYOND_ROWS, *FULL_RANKINGS}
AT_LEAST = {"means": 30_000, "per_user": 180_000}


def _compared() -> Iterator[tuple[GoldenValue, Row]]:
    for value in golden_values("ranking"):
        row = row_of(value)
        if row is not None and not _left_out(value):
            yield value, row


def _left_out(value: GoldenValue) -> str | None:
    return next((reason for reason, applies in LEFT_OUT.items() if applies(value)), None)


def _inputs(value: GoldenValue, row: Row) -> Inputs:
    return ranking_inputs(value.case, row.lists, value.k if row.lists == CUT else None)


@cache
def _evaluations() -> Evaluations:
    return Evaluations(_compared(), _inputs)


def _check(value: GoldenValue, row: Row, counted: Counter[str]) -> str | None:
    """Compare one stored value; return what differs."""
    result, expected = _evaluations().value(value, row), value.per_user
    if "error" in value.more:
        counted["refused as by the library"] += isinstance(result, str)
        return (
            None if isinstance(result, str) else f"the library raises {value.more['error']}, here {result[0]}"
        )
    if isinstance(result, str):
        if not np.isnan(number(value.value)):
            return _check_without_refused(value, row, result, counted)
        counted["refused: nobody has a value, NaN in the library"] += 1
        return None
    mean, per_user = result
    if expected is not None:
        everybody = dict(zip(value.inputs["users"], expected, strict=True))
        for user, actual in per_user.items():
            if not same(actual, number(everybody[user]), row.tolerance):
                return f"user {user}: {actual!r}, not {everybody[user]!r}"
            counted["per_user"] += 1
    if np.isnan(number(value.value)):
        # the library's mean is NaN as soon as one user's value is; here it is the mean of the others
        counted["means of the users with a value, NaN in the library"] += 1
        return None
    counted["means"] += 1
    return None if same(mean, number(value.value), row.tolerance) else f"mean {mean!r}, not {value.value!r}"


def _check_without_refused(value: GoldenValue, row: Row, refusal: str, counted: Counter[str]) -> str | None:
    """Where a convention refuses some users, compare the others."""
    if value.per_user is None or "refuses user" not in refusal:
        return refusal
    pairs = zip(value.inputs["users"], value.per_user, strict=True)
    users = tuple(user for user, stored in pairs if stored is not None)
    counted["refused as by the library, for some users"] += 1
    result = of_users(_inputs(value, row), users).evaluate((row,), (row.at(value.k),))
    if isinstance(result, str):
        return result
    mean, per_user = result[row, row.at(value.k)]
    expected = [number(stored) for stored in value.per_user if stored is not None]
    counted["per_user"] += len(expected)
    counted["means"] += 1
    agree = all(same(a, e, row.tolerance) for a, e in zip(per_user.values(), expected, strict=True))
    return None if agree and same(mean, number(value.value), row.tolerance) else f"{result} of {expected}"


def test_every_value_is_reproduced() -> None:
    counted: Counter[str] = Counter()
    wrong = []
    for value, row in _compared():
        difference = _check(value, row, counted)
        if difference is not None:
            wrong.append(f"{value.row} at {value.k} in {value.case}: {difference}")
    assert not wrong, f"{len(wrong)} values differ: " + "; ".join(wrong[:5])
    assert all(counted[name] >= at_least for name, at_least in AT_LEAST.items())


def test_every_row_is_compared_or_its_absence_explained() -> None:
    unexplained = {
        value.row
        for value in golden_values("ranking")
        if row_of(value) is None and value.row not in BEYOND and _left_out(value) is None
    }
    assert not unexplained


def test_conventions_name_the_versions_that_prove_them() -> None:
    versions = {(value.library, value.version.removeprefix("git ")) for value in golden_values("ranking")}
    named = {library.replace("ir_measures", "trec"): version for library, version in versions}
    assert set(LIBRARIES) <= set(named)
    assert not [name for name in LIBRARIES if named[name] not in get_convention(name).notes]
