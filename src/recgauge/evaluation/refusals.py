"""Keeps a suite going where a convention refuses one of its metrics, and says which and why."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from recgauge.conventions import Definition
from recgauge.errors import MetricError
from recgauge.evaluation.results import Evaluation, merge

Evaluate = Callable[[Mapping[str, Definition]], Evaluation]
MetricT = TypeVar("MetricT")


def evaluate_or_refuse(
    suite: Mapping[str, MetricT], evaluate: Callable[[Mapping[str, MetricT]], Evaluation]
) -> tuple[Evaluation, dict[str, str]]:
    """Evaluate a suite; leave out the metrics that their own definition refuses.

    A library's definition may raise for a user without a hit, and a correlation within users has no value
    where each has one rating; a long run must not lose its other numbers to that.

    Parameters
    ----------
    suite : mapping of str to Definition or RatingMetric
    evaluate : callable
        Evaluates a suite of the same kind.

    Returns
    -------
    Evaluation
        Of the metrics that have a value.
    dict of str to str
        ``{name: reason}`` of the others.

    Raises
    ------
    MetricError
        If no metric has a value.
    """
    try:
        return evaluate(suite), {}
    except MetricError:
        pass  # one of them; the rest is worth the time of asking one by one
    done, refused = [], {}
    for name, definition in suite.items():
        try:
            done.append(evaluate({name: definition}))
        except MetricError as error:
            refused[name] = str(error).removeprefix(f"{name}: ")
    if not done:
        raise MetricError("No metric of the suite has a value: " + " ".join(refused.values()))
    return merge(done, [result.key for part in done for result in part.results]), refused
