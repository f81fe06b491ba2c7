"""Lists from outside: what the choice of policies for their ineligible items is worth."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from recgauge.conventions import Definition
from recgauge.errors import MetricError
from recgauge.evaluation import Evaluation, Ineligible
from recgauge.metrics.names import headline_key


def value_of_policies(
    counts: Mapping[str, int],
    n_items: int,
    suite: Mapping[str, Definition],
    result: Evaluation,
    measure: Callable[[Mapping[str, Definition]], Evaluation],
) -> Ineligible | None:
    """Judge the result to read first once more, with all ineligible items dropped, or as misses if they are.

    `counts`: how many of the `n_items` listed items are unknown, seen or repeated. `measure` evaluates a
    suite at the cutoffs of `result`.
    """
    if not counts:
        return None
    key = headline_key(entry.key for entry in result.results)
    first = next(entry for entry in result.results if entry.key == key)
    definition = suite[first.name]
    policies = {name: str(getattr(definition.policies, name)) for name in counts}
    instead = "miss" if set(policies.values()) == {"drop"} else "drop"
    choices: dict[str, Any] = dict.fromkeys(counts, instead)
    other = replace(definition.policies, **choices)
    difference = None
    with suppress(MetricError):
        changed = measure({first.name: replace(definition, policies=other)})
        difference = changed.values()[first.key] - first.value
    return Ineligible(dict(counts), policies, n_items, instead, first.key, difference)
