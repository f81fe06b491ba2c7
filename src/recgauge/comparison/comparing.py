"""Compare runs: the public function, and the steps for each metric."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.measured_alike import check_protocols
from recgauge.comparison.one_metric import Sums, compare_table, few_users
from recgauge.comparison.over_datasets import DatasetsResult, PostHoc, compare_datasets
from recgauge.comparison.reading import read_long, read_run
from recgauge.comparison.results import (
    Comparison,
    Correction,
    Interval,
    MetricComparison,
    Procedure,
    Test,
    check_baseline,
)
from recgauge.comparison.user_values import UserValues, meetings_of
from recgauge.data.meeting import require_meeting
from recgauge.errors import ConfigError, listed
from recgauge.metrics.names import Directions
from recgauge.runs.finished import RunValues

if TYPE_CHECKING:
    import pandas as pd

USUAL = Procedure(correction="holm", interval="normal")
"""What needs no resamples: of so many users the mean is as good as normal."""
_FEW = 30
_MOST_PAIRS = 5_000  # of runs of one metric: with more, time and memory are out of proportion

Means = dict[str, dict[str, dict[str, float]]]
"""Means of runs, by metric, run and data set."""


def compare(  # noqa: PLR0913 -- the settings of Procedure, by name
    runs: "Mapping[str, Any] | pd.DataFrame | str | Path",
    *more: Any,
    metrics: Sequence[str] | None = None,
    baseline: str | None = None,
    correction: Correction = "max_t",
    confidence: float = 0.95,
    interval: Interval = "bca",
    tests: Test | Sequence[Test] = ("t",),
    n_resamples: int = 10_000,
    seed: int = 0,
    lower_is_better: Collection[str] = (),
    higher_is_better: Collection[str] = (),
) -> Comparison:
    """Say which run is better, by how much, and how sure that is.

    Parameters
    ----------
    runs : mapping of str to Evaluation, FinishedRun, data frame or path; or one long table
        By name; see `read_run`. A list of them is one run with several seeds or folds; a mapping of such
        mappings, several data sets by name. A long table is a data frame or a path with a row per value:
        see `read_long`.
    *more
        Refused: runs stand in one mapping.
    metrics : sequence of str, optional
        Such as ``ndcg_at_10`` or ``ndcg@10``; all that the runs have in common if not given.
    baseline, correction, confidence, interval, tests, n_resamples, seed
        See `Procedure`.
    lower_is_better, higher_is_better : collection of str
        Metrics, such as losses of your own, of which less or more is better. Those of runs, and recgauge's
        and conventions' names (`rmse_user`, `arp@10`), are known; others must be named here.

    Returns
    -------
    Comparison

    Raises
    ------
    ConfigError
        If runs cannot be compared, the direction of a metric is unknown, or a setting is not valid.
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
    if more:
        raise ConfigError('runs belong in one mapping: recgauge.compare({"old": old, "new": new}).')
    named: Any = (tests,) if isinstance(tests, str) else tuple(tests)
    procedure = Procedure(baseline, correction, confidence, interval, named, n_resamples, seed)
    return compare_sources(runs, procedure, metrics, Directions.of(lower_is_better, higher_is_better))


def compare_sources(
    sources: Any, procedure: Procedure, metrics: Sequence[str] | None, directions: Directions
) -> Comparison:
    """Compare what `compare` takes, by a procedure."""
    runs = read_sources(sources)
    tables = [pair_runs(of_dataset, metrics, directions, name) for name, of_dataset in runs.items()]
    directions.check_names(list(dict.fromkeys(key for table in tables for key in table.metrics)))
    return compare_values(tables, procedure)


def read_sources(sources: Any) -> dict[str, dict[str, list[RunValues]]]:
    """Read runs by name, those of several data sets, or a long table."""
    if not isinstance(sources, Mapping):
        return {"": {name: [run] for name, run in read_long(sources).items()}}
    nested = (
        sources if sources and all(isinstance(each, Mapping) for each in sources.values()) else {"": sources}
    )
    return {
        dataset: {
            name: [*map(read_run, each if isinstance(each, (list, tuple)) else [each])]
            for name, each in of_dataset.items()
        }
        for dataset, of_dataset in nested.items()
    }


def pair_runs(
    runs: Mapping[str, Sequence[RunValues]],
    metrics: Sequence[str] | None,
    directions: Directions | None,
    dataset: str = "",
) -> UserValues:
    """Pair the users of runs that are measured alike."""
    table = UserValues.of(runs, metrics=metrics, dataset=dataset, directions=directions)
    check_protocols(runs, table.metrics)
    return table


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

    Raises
    ------
    ConfigError
        If there is no run called `procedure.baseline`, no metric that two users have in every run, or more
        pairs than 5,000.

    Examples
    --------
    >>> strong, weak = np.linspace(0.5, 1.0, 40), np.linspace(0.0, 0.4, 40)
    >>> users = np.arange(40)
    >>> runs = {"a": RunValues(users, {"ndcg": weak}), "b": RunValues(users, {"ndcg": strong})}
    >>> comparison = compare_values([UserValues.of(runs)], Procedure(interval="normal", correction="holm"))
    >>> [(row.run, round(row.mean, 2), row.letters) for row in comparison.results[0].rows]
    [('b', 0.75, 'a'), ('a', 0.2, 'b')]
    """
    procedure = procedure or Procedure()
    results: list[MetricComparison] = []
    notes: list[str] = []
    warnings: list[str] = []
    for table in tables:
        check_runs(table.runs, procedure)
        warnings += _unmet([table], procedure)
        notes += _idle_seeds(table)
        of_table = compare_table(table, procedure)
        results += of_table
        notes += [*table.notes, *notes_on(table.metrics, of_table, procedure, table.dataset)]
    means: Means = {}
    for result in results:
        for row in result.rows:
            means.setdefault(result.metric, {}).setdefault(row.run, {})[result.dataset] = row.mean
    directions = {result.metric: result.higher_is_better for result in results}
    over, more = _over_datasets(means, directions, procedure)
    return Comparison(tuple(results), procedure, over, tuple(dict.fromkeys([*notes, *more])), tuple(warnings))


def _unmet(parts: Iterable[UserValues], procedure: Procedure) -> list[str]:
    """Warn of runs that share less than half of their users; refuse those that share next to none."""
    runs = next(iter(parts)).runs
    meetings = meetings_of(parts, 0 if procedure.baseline is None else runs.index(procedure.baseline))
    return [met.warning for met in map(require_meeting, meetings) if met.warning]


def _idle_seeds(table: UserValues) -> list[str]:
    """Say of which runs all seeds have the same numbers."""
    place = f" on {table.dataset}" if table.dataset else ""
    idle = [
        run
        for run in table.runs
        if (own := [repeats for (_, name), repeats in table.repeats.items() if name == run])
        and all(len(set(repeats.means)) == 1 for repeats in own)
        and any("seed" in text for text in own[0].labels)
    ]
    if not idle:
        return []
    return [
        f"{listed(idle)}{place}: a seed changes nothing, so that ± and several seeds say nothing of chance."
    ]


def compare_parts(parts: Iterable[UserValues], procedure: Procedure = USUAL) -> Comparison:
    """Compare runs on their users' values, part by part.

    Equal to `compare` on the values of all users: nothing depends on the parts, their order or that of the
    users.

    Parameters
    ----------
    parts : iterable of UserValues
        All runs' values of some users each, of equal metrics; iterated twice.
    procedure : Procedure
        With normal intervals, the t-test, and a correction other than ``max_t``.

    Returns
    -------
    Comparison

    Raises
    ------
    ConfigError
        If there are no two runs or no two users in common.

    Examples
    --------
    >>> from recgauge.comparison import RunValues
    >>> strong, weak, users = np.linspace(0.5, 1.0, 40), np.linspace(0.0, 0.4, 40), np.arange(40)
    >>> parts = [
    ...     UserValues.paired(
    ...         {run: RunValues(users[rows], {"ndcg": values[rows]})
    ...          for run, values in (("a", weak), ("b", strong))},
    ...         {"ndcg": True},
    ...     )
    ...     for rows in (slice(0, 15), slice(15, 40))
    ... ]
    >>> comparison = compare_parts(parts)
    >>> [(row.run, round(row.mean, 2), row.letters) for row in comparison.results[0].rows]
    [('b', 0.75, 'a'), ('a', 0.2, 'b')]
    """
    first = next(iter(parts))
    check_runs(first.runs, procedure)
    warnings = _unmet(parts, procedure)
    largest, n_users = np.zeros(len(first.metrics)), np.zeros(len(first.metrics), np.int64)
    for part in parts:
        for row in range(len(first.metrics)):
            _, values, _ = part.complete(row)
            largest[row] = max(largest[row], np.abs(values).max(initial=0.0))
            n_users[row] += values.shape[1]
    described = zip(first.metrics, first.higher_is_better, largest.tolist(), n_users, strict=True)
    sums = {
        row: Sums(
            dataset=first.dataset,
            metric=metric,
            runs=first.runs,
            higher_is_better=higher,
            procedure=procedure,
            largest=greatest,
        )
        for row, (metric, higher, greatest, n) in enumerate(described)
        if n > 1
    }
    if not sums:
        raise few_users(first.metrics, n_users)
    for part in parts:
        for row, of_metric in sums.items():
            of_metric.add(*part.complete(row)[1:])
    results = [of_metric.compared() for of_metric in sums.values()]
    notes = notes_on(first.metrics, results, procedure)
    return Comparison(tuple(results), procedure, (), tuple(notes), tuple(warnings))


def check_runs(runs: Sequence[str], procedure: Procedure) -> None:
    """Refuse one run alone, an unknown baseline, and more pairs than can be compared."""
    if len(runs) < 2:
        raise ConfigError(f"compare: at least two runs are needed, got {listed(runs) or 'none'}.")
    check_baseline(procedure.baseline, runs)
    if procedure.baseline is None and (pairs := comb(len(runs), 2)) > _MOST_PAIRS:
        raise ConfigError(
            f"compare: {len(runs)} runs make {pairs:,} pairs, of which at most {_MOST_PAIRS:,} are "
            "compared. Name a baseline, which the others are then compared with, or compare fewer runs."
        )


def notes_on(
    metrics: Sequence[str], results: Sequence[MetricComparison], procedure: Procedure, dataset: str = ""
) -> list[str]:
    """Return the notes on the numbers of one data set."""
    place = f" on {dataset}" if dataset else ""
    notes = [
        f"{result.metric}{place}: compared on the {result.n_users:,} users who have a value in every run; "
        f"{result.n_left_out:,} have one in some runs only."
        for result in results
        if result.n_left_out
    ]
    without = [result.metric for result in results if not result.rows[0].letters]
    if procedure.baseline is None and without:
        notes.append(f"{listed(without)}{place}: no letters, since it would take more than 100 of them.")
    missing = [metric for metric in metrics if metric not in {result.metric for result in results}]
    if missing:
        notes.append(f"{listed(missing)}{place}: fewer than two users have a value in every run; left out.")
    if results and min(result.n_users for result in results) < _FEW:
        notes.append(
            f"Fewer than {_FEW} users{place}: intervals are too narrow where so few users are skewed."
        )
    misleading = [test for test in procedure.tests if test in ("wilcoxon", "sign")]
    if misleading:
        notes.append(
            f"{' and '.join(misleading)}: not a test of means; with many users it finds differences where "
            "the means are equal (docs/comparison.md)."
        )
    return notes


def _over_datasets(
    means: Means, higher: Mapping[str, bool], procedure: Procedure
) -> tuple[tuple[DatasetsResult, ...], list[str]]:
    """Compare the runs that are on every data set, by each metric that is on several, and return notes."""
    compared, notes = [], []
    for metric, of_runs in means.items():
        datasets = {dataset for of_run in of_runs.values() for dataset in of_run}
        common = {run: of_runs[run] for run in sorted(of_runs) if len(of_runs[run]) == len(datasets)}
        if len(datasets) > 1 and len(common) < len(of_runs):
            missing = listed(sorted(of_runs.keys() - common.keys()))
            notes.append(f"Ranks over data sets are without {missing}, which not every data set has.")
        if len(datasets) > 1 and len(common) > 1:
            post_hoc: PostHoc = "holm" if procedure.correction == "holm" else "nemenyi"
            direction, alpha = higher[metric], procedure.alpha
            compared.append(
                compare_datasets(
                    common, metric=metric, higher_is_better=direction, post_hoc=post_hoc, alpha=alpha
                )
            )
    if compared and procedure.baseline is not None:
        notes.append("Over data sets, all pairs of runs are compared, not those with the baseline alone.")
    return tuple(compared), notes
