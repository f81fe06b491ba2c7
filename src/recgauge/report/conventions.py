"""One set of lists under every convention: how far a number spreads by definition alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recgauge.conventions import Convention, conventions
from recgauge.errors import RecgaugeError
from recgauge.evaluation.values import EvaluationInputs
from recgauge.metrics import metric_key


@dataclass(frozen=True, slots=True)
class ConventionValue:
    """One metric of one set of lists under one convention; no value where the convention refuses these lists.

    `definition` is the canonical text, or why there is no value.
    """

    key: str
    convention: str
    value: float | None
    definition: str


def convention_values(
    names: Sequence[str], lists: EvaluationInputs, *, cutoffs: Sequence[int]
) -> tuple[ConventionValue, ...]:
    """Evaluate one set of lists under every convention that defines the metrics: by name, cutoff, convention.

    The lists' `users` name everybody with held-out rows, for conventions that count users without relevant
    items.
    """
    return tuple(
        _value(convention, name, k, lists)
        for name in names
        for k in cutoffs
        for convention in conventions().values()
        if convention.defines(name)
    )


def _value(convention: Convention, name: str, k: int, lists: EvaluationInputs) -> ConventionValue:
    definition, key = convention.definition(name), metric_key(name, k)
    try:
        evaluation = lists.evaluate({name: definition}, cutoffs=(k,), policies=definition.policies)
    except RecgaugeError as error:
        return ConventionValue(key, convention.name, None, str(error))
    (result,) = evaluation.results
    return ConventionValue(key, convention.name, result.value, result.definition)


def spread(values: Iterable[ConventionValue]) -> dict[str, tuple[float, float]]:
    """Return the lowest and the highest value of each key over the conventions."""
    numbers_by_key: dict[str, list[float]] = {}
    for value in values:
        if value.value is not None:
            numbers_by_key.setdefault(value.key, []).append(value.value)
    return {key: (min(numbers), max(numbers)) for key, numbers in numbers_by_key.items()}
