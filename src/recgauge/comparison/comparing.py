"""Compare runs: the public function, and the steps for each metric."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.inputs import RunValues, read_run
from recgauge.comparison.intervals import normal_interval
from recgauge.comparison.procedure import Correction, Interval, Procedure, Test
from recgauge.comparison.results import Comparison, MetricComparison, Pair, RunRow
from recgauge.comparison.user_values import UserValues
from recgauge.errors import ConfigError, listed
from recgauge.utils.checks import DoubleArray

if TYPE_CHECKING:
    from recgauge.comparison.inputs import Source


def compare(  # noqa: PLR0913 -- the settings of Procedure, by name
    runs: "Mapping[str, Source | Sequence[Source]]",
    *,
    metrics: Sequence[str] | None = None,
    baseline: str | None = None,
    correction: Correction = "max_t",
    confidence: float = 0.95,
    interval: Interval = "bca",
    tests: tuple[Test, ...] = ("t",),
    n_resamples: int = 10_000,
    seed: int = 0,
    lower_is_better: Collection[str] = (),
) -> Comparison:
    """Say which run is better, by how much, and how sure that is.

    Parameters
    ----------
    runs : mapping of str to Evaluation, data frame or path
        By name; see `read_run`. A list of them is one run with several seeds or folds.
    metrics : sequence of str, optional
        Such as ``ndcg_at_10`` or ``ndcg@10``; all that the runs have in common if not given.
    baseline, correction, confidence, interval, tests, n_resamples, seed
        See `Procedure`.
    lower_is_better : collection of str
        Metrics, such as losses of your own, of which less is better. recgauge's own are known.

    Returns
    -------
    Comparison

    Raises
    ------
    ConfigError
        If runs cannot be compared, or a setting is not valid.
    SchemaError
        If a table is not what `read_run` describes.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> users = pd.Index(range(200), name="user")
    >>> weak = pd.DataFrame({"ndcg": rng.random(200)}, index=users)
    >>> strong = weak + rng.random((200, 1)) - 0.4
    >>> result = compare({"weak": weak, "strong": strong})
    >>> [(row.run, row.is_best) for row in result.result("ndcg").rows]
    [('strong', True), ('weak', False)]
    >>> result.result("ndcg").pairs[0].differs
    True
    """
    procedure = Procedure(baseline, correction, confidence, interval, tuple(tests), n_resamples, seed)
    read = {name: _read(source) for name, source in runs.items()}
    table = UserValues.of(read, metrics=metrics, lower_is_better=lower_is_better)
    return compare_values([table], procedure)


def compare_values(tables: Sequence[UserValues], procedure: Procedure | None = None) -> Comparison:
    """Compare runs on one data set or several.

    Parameters
    ----------
    tables : sequence of UserValues
        One per data set.
    procedure : Procedure, optional

    Returns
    -------
    Comparison
    """
    procedure = procedure or Procedure()
    results, notes = [], []
    for table in tables:
        if procedure.baseline is not None and procedure.baseline not in table.runs:
            raise ConfigError(f"baseline: no run {procedure.baseline!r}; there are {listed(table.runs)}.")
        notes += list(table.notes)
        results += [_compare_metric(table, i, procedure) for i in range(len(table.metrics))]
    return Comparison(tuple(results), procedure, notes=tuple(dict.fromkeys(notes)))


def _read(source: Any) -> RunValues | list[RunValues]:
    return [read_run(one) for one in source] if isinstance(source, (list, tuple)) else read_run(source)


def _compare_metric(table: UserValues, which: int, procedure: Procedure) -> MetricComparison:
    values = table.values[which]
    known = np.isfinite(values)
    complete = known.all(axis=0)
    values, sign = values[:, complete], 1.0 if table.higher_is_better[which] else -1.0
    means = values.mean(axis=1).tolist()
    order = sorted(range(len(means)), key=lambda i: (-sign * means[i], i))
    places = sorted({-sign * mean for mean in means})
    rows = tuple(
        RunRow(
            table.runs[i],
            means[i],
            *normal_interval(values[i], procedure.confidence),
            values.shape[1],
            is_best=-sign * means[i] == places[0],
            is_second=len(places) > 1 and -sign * means[i] == places[1],
            repeats=table.repeats.get((table.metrics[which], table.runs[i])),
        )
        for i in order
    )
    pairs = tuple(_pair(table, values, i, j, sign, procedure) for i, j in _pairs(order, table, procedure))
    n_left_out = int((known.any(axis=0) & ~complete).sum())
    return MetricComparison(
        table.dataset,
        table.metrics[which],
        table.higher_is_better[which],
        rows,
        pairs,
        values.shape[1],
        n_left_out,
    )


def _pairs(order: Sequence[int], table: UserValues, procedure: Procedure) -> list[tuple[int, int]]:
    if procedure.baseline is not None:
        base = table.runs.index(procedure.baseline)
        return [(i, base) for i in order if i != base]
    return [(i, j) for place, i in enumerate(order) for j in order[place + 1 :]]


def _pair(table: UserValues, values: DoubleArray, i: int, j: int, sign: float, procedure: Procedure) -> Pair:
    from scipy.special import stdtr

    d = values[i] - values[j]
    deviation, mean = float(d.std(ddof=1)), float(d.mean())
    stderr = deviation / len(d) ** 0.5
    base = float(values[j].mean())
    p = float(2 * stdtr(len(d) - 1, -abs(mean) / stderr)) if stderr else float(mean == 0)
    return Pair(
        table.runs[i],
        table.runs[j],
        mean,
        *normal_interval(d, procedure.confidence),
        stderr,
        mean / abs(base) if base else None,
        {"t": p},
        p,
        p <= procedure.alpha,
        mean / deviation if deviation else None,
        float((sign * d > 0).mean()),
        float((d == 0).mean()),
        float((sign * d < 0).mean()),
        2.8 * stderr,
        None,
    )
