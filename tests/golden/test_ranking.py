"""Rankings: every stored value of every library and article, reproduced through `recgauge.evaluate`."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

import recgauge
from golden.beyond_rows import BEYOND_ROWS, FULL_RANKINGS
from golden.cases import GoldenValue, golden_values, number, same
from golden.ranking_inputs import RankingInputs, ranking_inputs
from golden.ranking_rows import CUT, LEFT_OUT, Row, row_of
from recgauge.conventions import LIBRARIES, get_convention
from recgauge.errors import MetricError

BEYOND = {*BEYOND_ROWS, *FULL_RANKINGS}
AT_LEAST = {"means": 30_000, "per_user": 180_000}


def _compared() -> Iterator[tuple[GoldenValue, Row]]:
    for value in golden_values("ranking"):
        row = row_of(value)
        if row is not None and not _left_out(value):
            yield value, row


def _left_out(value: GoldenValue) -> str | None:
    return next((reason for reason, applies in LEFT_OUT.items() if applies(value)), None)


@cache
def _together() -> dict[tuple[str, Row, tuple[int | None, ...]], tuple[Row, ...]]:
    """Return the rows that are asked of a case at once, as in a run: with the same lists and conventions."""
    asked = {(case, row, cutoffs): None for (case, row), cutoffs in _cutoffs().items()}
    asked |= {(value.case, row, (None,)): None for value, row in _compared() if row.at(value.k) is None}
    found: dict[Any, list[Row]] = defaultdict(list)
    for case, row, cutoffs in asked:
        found[case, row.convention, row.policies, row.lists, cutoffs].append(row)
    return {(case, row, cutoffs): tuple(rows) for (case, *_, cutoffs), rows in found.items() for row in rows}


@cache
def _cutoffs() -> dict[tuple[str, Row], tuple[int, ...]]:
    """Return the cutoffs that a row asks of a case; one evaluation gives all of them, as in a run."""
    found: dict[tuple[str, Row], set[int]] = defaultdict(set)
    for value, row in _compared():
        k = row.at(value.k)
        if k is not None and row.lists != CUT:
            found[value.case, row].add(k)
    return {key: tuple(sorted(cutoffs)) for key, cutoffs in found.items()}


def _evaluate(case: str, row: Row, k: int | None, own_k: int | None, users: tuple[str, ...] | None):
    cutoffs = (k,) if k is None or own_k is not None else _cutoffs()[case, row]
    rows = _together().get((case, row, cutoffs), (row,))
    done = _evaluate_at(case, rows, cutoffs, own_k, users)
    if isinstance(done, str) and len(rows) > 1:  # one of the metrics may be the reason
        done = _evaluate_at(case, (row,), cutoffs, own_k, users)
    if isinstance(done, str) and len(cutoffs) > 1:  # one of the cutoffs may be
        done = _evaluate_at(case, (row,), (k,), own_k, users)
    return done if isinstance(done, str) else done[row, k]


@cache
def _evaluate_at(
    case: str,
    rows: tuple[Row, ...],
    cutoffs: tuple[int | None, ...],
    own_k: int | None,
    users: tuple[str, ...] | None,
):
    inputs: RankingInputs = ranking_inputs(case, rows[0].lists, own_k if rows[0].lists == CUT else None)
    if users is not None:
        inputs = inputs.only(users)
    names = {f"asked{number}": row for number, row in enumerate(rows)}
    try:
        evaluation = recgauge.evaluate(
            inputs.lists,
            inputs.relevant,
            metrics={name: row.metric for name, row in names.items()},
            cutoffs=cutoffs,
            conventions=rows[0].convention_object(),
            scores=inputs.scores,
            users=inputs.users,
        )
    except MetricError as error:
        return str(error)
    users = tuple(evaluation.users)
    return {(names[one.name], one.k): (one.value, one.per_user, users) for one in evaluation.results}


def _result(value: GoldenValue, row: Row, users: tuple[str, ...] | None = None):
    own_k = value.k if row.lists == CUT else None
    return _evaluate(value.case, row, row.at(value.k), own_k, users)


def _check(value: GoldenValue, row: Row, counted: Counter[str]) -> str | None:
    """Compare one stored value; return what differs."""
    result, expected = _result(value, row), value.per_user
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
    mean, per_user, users = result
    if expected is not None:
        everybody = dict(zip(value.inputs["users"], expected, strict=True))
        for user, actual in zip(users, per_user, strict=True):
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
    result = _result(value, row, users)
    if isinstance(result, str):
        return result
    expected = [number(stored) for stored in value.per_user if stored is not None]
    counted["per_user"] += len(expected)
    counted["means"] += 1
    agree = all(same(a, e, row.tolerance) for a, e in zip(result[1], expected, strict=True))
    return (
        None if agree and same(result[0], number(value.value), row.tolerance) else f"{result} of {expected}"
    )


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
