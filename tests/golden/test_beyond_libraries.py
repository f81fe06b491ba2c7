"""Beyond accuracy: every library's values, reproduced through `recgauge.evaluate`, or a reason why not."""

from collections import Counter

import numpy as np
import pytest

from golden.beyond_inputs import Asked, asked_for
from golden.beyond_rows import BEYOND_ROWS, LEFT_OUT, UNSTABLE
from golden.cases import GoldenValue, golden_values, number, same
from recgauge.errors import ConfigError, MetricError

AT_LEAST = {"means": 6_594, "per_user": 21_076}
Ours = tuple[float, dict[str, float] | None]


def _evaluate(asked: Asked) -> Ours | None:
    """Return our mean and, where there are some, the values of users; None where the input is refused."""
    try:
        evaluation = asked.evaluate()
    except (MetricError, ConfigError):  # a list cut to one item has no pair: such cutoffs are refused
        return None
    result = evaluation.results[0]
    if result.per_user is None:
        return result.value, None
    return result.value, dict(zip(evaluation.users.tolist(), result.per_user.tolist(), strict=True))


def _compare(value: GoldenValue, counted: Counter[str]) -> str | None:
    """Compare one stored value; return what differs."""
    ours = _evaluate(asked_for(value, BEYOND_ROWS[value.row]))
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


def test_every_value_is_reproduced(capsys: pytest.CaptureFixture[str]) -> None:
    counted: Counter[str] = Counter()
    wrong = []
    for value in golden_values("ranking"):
        if value.row in BEYOND_ROWS:
            difference = _compare(value, counted)
            if difference is not None:
                wrong.append(f"{value.row} at {value.k} in {value.case}: {difference}")
    with capsys.disabled():
        print("\nbeyond accuracy: " + ", ".join(f"{n} {what}" for what, n in counted.items()))  # noqa: T201
    assert not wrong, f"{len(wrong)} values differ: " + "; ".join(wrong[:8])
    assert all(counted[name] >= at_least for name, at_least in AT_LEAST.items())
