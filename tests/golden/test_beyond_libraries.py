"""Beyond accuracy: every library's values, reproduced through `recgauge.evaluate`, or a reason why not."""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np

from beyond_lists import cosine
from golden.beyond_rows import BEYOND_ROWS, LEFT_OUT, NAMED_ITEMS_ONLY, POP_PLUS_ONE, UNSTABLE
from golden.cases import GoldenValue, golden_values, number, same
from golden.evaluated import Evaluations, Inputs
from golden.ranking_inputs import ranking_inputs
from golden.ranking_rows import Row

AT_LEAST = {"means": 6_594, "per_user": 21_076}


def _inputs(value: GoldenValue, row: Row) -> Inputs:
    """Return what reproduces a value: lists without scores, with training rows, features and a catalogue."""
    raw = value.inputs
    features = raw["features"] and {int(item): vector for item, vector in raw["features"].items()}
    beside = {"scores": None, "train": raw["train"], "features": features, "n_items": raw["n_items"]}
    inputs = replace(ranking_inputs(value.case, row.lists), **beside)
    if value.metric == POP_PLUS_ONE:
        train = {**raw["train"], "everything": list(range(raw["n_items"]))}
        return replace(inputs, train=train, is_special=True)
    if value.row == NAMED_ITEMS_ONLY:
        lists = {user: items[: value.k] for user, items in inputs.lists.items()}
        named = {item for table in (lists, inputs.relevant) for items in table.values() for item in items}
        catalogue = {"train": None, "features": None, "n_items": len(named)}
        return replace(inputs, lists=lists, **catalogue, is_special=True)
    if row.metric == "list_diversity" and features is not None:
        vectors = np.array([features[item] for item in range(raw["n_items"])])
        return replace(inputs, similarity=cosine(vectors), is_special=True)
    return inputs


@cache
def _evaluations() -> Evaluations:
    values = (value for value in golden_values("ranking") if value.row in BEYOND_ROWS)
    return Evaluations(((value, BEYOND_ROWS[value.row]) for value in values), _inputs)


def _compare(value: GoldenValue, counted: Counter[str]) -> str | None:
    """Compare one stored value; return what differs."""
    ours = _evaluations().value(value, BEYOND_ROWS[value.row])
    if "unstable" in value.more:
        counted[f"left out: {UNSTABLE}"] += 1
        return None
    if "error" in value.more:
        return _compare_refusal(value, refused=isinstance(ours, str), counted=counted)
    if isinstance(ours, str):  # a list cut to one item has no pair: such cutoffs are refused
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
