"""How runs are compared, and what that returns: rows, pairs and claims, whose numbers are not rounded."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from recgauge.comparison.over_datasets import DatasetsResult
from recgauge.data.coverage import of_few
from recgauge.errors import ConfigError, did_you_mean, listed
from recgauge.metrics.names import as_key
from recgauge.report.shown import Shown
from recgauge.utils.checks import check_choice, check_int, check_real

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from recgauge.comparison.run_groups import RunGroup
    from recgauge.report.blocks import Block

Interval = Literal["bca", "percentile", "normal"]
Test = Literal["t", "permutation", "bootstrap", "wilcoxon", "sign"]
Correction = Literal["max_t", "holm", "bh", "none"]
Unit = Literal["users", "seeds"]


@dataclass(frozen=True, slots=True)
class Procedure:
    """How runs are compared.

    Parameters
    ----------
    baseline : str or None
        The run that all others are compared with; None: every pair of runs.
    correction : {"max_t", "holm", "bh", "none"}
        How p-values are corrected for the number of pairs of one metric. ``max_t`` and ``holm`` bound the
        chance of any false finding (family-wise error), ``bh`` the share of false findings.
    confidence : float
        Of intervals, inside (0, 1); a pair differs if its corrected p is at most ``1 - confidence``.
    interval : {"bca", "percentile", "normal"}
        Bootstrap over users, bias-corrected and accelerated or of plain percentiles; or Student's t.
    tests : tuple of {"t", "permutation", "bootstrap", "wilcoxon", "sign"}
        At least one. The p-values of the first are corrected, unless `correction` is ``max_t``, which makes
        its own.
    n_resamples : int
        Resamples of users, and sign flips, >= 100.
    seed : int
        Of resamples and sign flips, >= 0.

    Raises
    ------
    ConfigError
        If a value is not valid.

    Examples
    --------
    >>> Procedure(baseline="popularity", confidence=0.99).alpha
    0.01
    """

    baseline: str | None = None
    correction: Correction = "max_t"
    confidence: float = 0.95
    interval: Interval = "bca"
    tests: tuple[Test, ...] = ("t",)
    n_resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("correction", self.correction, get_args(Correction))
        check_choice("interval", self.interval, get_args(Interval))
        check_real("confidence", self.confidence, low=0.5, high=0.9999)
        check_int("n_resamples", self.n_resamples, minimum=100)
        check_int("seed", self.seed, minimum=0)
        if not self.tests:
            raise ConfigError(f"tests must name at least one of {', '.join(get_args(Test))}.")
        for test in self.tests:
            check_choice("tests", test, get_args(Test))

    @property
    def alpha(self) -> float:
        """The largest corrected p with which a pair differs."""
        return round(1 - self.confidence, 12)


def check_baseline(baseline: str | None, runs: Sequence[str]) -> None:
    """Refuse a baseline that is none of the runs."""
    if baseline is not None and baseline not in runs:
        hint = did_you_mean(baseline, runs)
        raise ConfigError(f"baseline: no run {baseline!r}; there are {listed(runs)}. {hint}".rstrip())


@dataclass(frozen=True, slots=True)
class Repeats:
    """A run's means over seeds or folds; what varies between them is not what varies between users.

    Parameters
    ----------
    means : tuple of float
        The mean over users of each repeat.
    labels : tuple of str
        Such as ``seed 1`` or ``fold 0``.
    mean : float
    deviation : float or None
        Standard deviation of a sample; None for one repeat.
    """

    means: tuple[float, ...]
    labels: tuple[str, ...]
    mean: float
    deviation: float | None

    @classmethod
    def of(cls, means: Sequence[float], labels: Sequence[str]) -> Self:
        """Return the mean over seeds and folds and its deviation: the one definition of every table.

        Examples
        --------
        >>> Repeats.of([0.25, 0.5], ["seed 0", "seed 1"]).mean
        0.375
        """
        deviation = statistics.stdev(means) if len(means) > 1 else None
        return cls(tuple(means), tuple(labels), statistics.fmean(means), deviation)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the leaderboard of one metric.

    Parameters
    ----------
    run : str
    mean : float
        Over the users in common.
    low, high : float
        Interval of the mean over users.
    n_users : int
    letters : str
        Runs that share a letter are not shown to differ; empty if runs were compared with a baseline only.
    is_best, is_second : bool
        By the mean; equal means share a place.
    repeats : Repeats or None
        Over seeds and folds, if there are several.
    """

    run: str
    mean: float
    low: float
    high: float
    n_users: int
    letters: str = ""
    is_best: bool = False
    is_second: bool = False
    repeats: Repeats | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs compared user by user; all differences are ``a - b``.

    Parameters
    ----------
    a, b : str
        Of all pairs, `a` is the one with the better mean; `b` is the baseline if there is one.
    difference : float
        Mean over users.
    low, high : float
        Interval of this difference alone, not corrected for the number of pairs.
    stderr : float
        Standard error of the difference.
    relative : float or None
        Difference as a share of b's mean; None if that is zero.
    p : dict of str to float
        Two-sided p-value by test, not corrected.
    p_adjusted : float
        Corrected for the number of pairs of the metric.
    differs : bool
        ``p_adjusted <= 1 - confidence``.
    effect_size : float or None
        Cohen's d of the differences: mean over standard deviation; None if they do not vary.
    better, equal, worse : float
        Shares of users for whom `a` is better than, equal to, worse than `b`.
    detectable : float or None
        Smallest true difference that as many users with as much variation would show with 80 % power, after
        the correction; None where so few users can show nothing.
    users_needed : int or None
        Users that would show a true difference of the observed size with 80 % power; None if it is zero.
    p_folds : float or None
        Two-sided p of the corrected resampled t-test over folds, if there are at least two.
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    stderr: float
    relative: float | None
    p: dict[str, float]
    p_adjusted: float
    differs: bool
    effect_size: float | None
    better: float
    equal: float
    worse: float
    detectable: float | None
    users_needed: int | None
    p_folds: float | None = None


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """All runs by one metric on one data set.

    Parameters
    ----------
    dataset : str
        Empty if there is one without a name.
    metric : str
        Result key, such as ``ndcg_at_10``.
    higher_is_better : bool
    rows : tuple of RunRow
        Best first.
    pairs : tuple of Pair
    n_users : int
        Users who have a value in every run.
    n_left_out : int
        Users who have a value in some runs only.
    claims : tuple of str
        Sentences that follow from the numbers by rule.
    over_rows : bool
        Whether numbers are over all rows of all users, such as RMSE, and not means over users.
    n_held_out : int or None
        Users whose rows were held out, evaluated or not; None where the runs do not say, or differ in it.
    unit : {"users", "seeds"}
        Whose values intervals and tests are of; numbers of users here are numbers of seeds then.
    """

    dataset: str
    metric: str
    higher_is_better: bool
    rows: tuple[RunRow, ...]
    pairs: tuple[Pair, ...]
    n_users: int
    n_left_out: int = 0
    claims: tuple[str, ...] = ()
    over_rows: bool = False
    n_held_out: int | None = None
    unit: Unit = "users"

    @property
    def users(self) -> str:
        """Whose values are compared: of how many with held-out rows, if not all.

        Examples
        --------
        >>> MetricComparison("demo", "ndcg_at_10", True, (), (), 59, n_held_out=243).users
        '59 of 243 users with test rows'
        """
        if self.n_held_out is None or self.n_held_out <= self.n_users:
            return f"{self.n_users:,} {self.unit}"
        return f"{self.n_users:,} of {self.n_held_out:,} users with test rows"

    @property
    def of_few(self) -> str:
        """Of how many users intervals are, where they are few; else an empty text."""
        return of_few(self.n_users) if self.unit == "users" else ""

    def row(self, run: str) -> RunRow:
        """Return the row of a run; KeyError if there is none."""
        return {row.run: row for row in self.rows}[run]

    def pair(self, a: str, b: str) -> Pair:
        """Return the pair of two runs in the order in which it was compared; KeyError if there is none."""
        return {frozenset((pair.a, pair.b)): pair for pair in self.pairs}[frozenset((a, b))]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took: means over its seeds and folds; None where its record does not say.

    Parameters
    ----------
    fit_seconds, recommend_seconds : float or None
        Wall clock.
    peak_bytes : float or None
        The most that the process held from the fit on.
    model_bytes : float or None
        What the fitted model keeps.
    n_trials : float or None
        Settings that a search has tried; None of a run that was not tuned.
    """

    fit_seconds: float | None = None
    recommend_seconds: float | None = None
    peak_bytes: float | None = None
    model_bytes: float | None = None
    n_trials: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison(Shown):
    """Runs compared by one or more metrics, on one or more data sets.

    Parameters
    ----------
    results : tuple of MetricComparison
        By data set, then by metric.
    procedure : Procedure
    over_datasets : tuple of DatasetsResult
        One per metric, if there are two data sets or more.
    notes : tuple of str
        What a reader must know to read the numbers, such as users left out and tests that mislead.
    warnings : tuple of str
        What a reader must know first, such as runs that share few of their users.
    groups : mapping of (str, str) to RunGroup
        The finished runs that are compared, by data set and name; empty of other values.
    """

    results: tuple[MetricComparison, ...]
    procedure: Procedure
    over_datasets: tuple[DatasetsResult, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    groups: "Mapping[tuple[str, str], RunGroup]" = field(default_factory=dict)

    @property
    def claims(self) -> tuple[str, ...]:
        """All claims: of each metric, then over data sets."""
        parts: list[MetricComparison | DatasetsResult] = [*self.results, *self.over_datasets]
        return tuple(claim for part in parts for claim in part.claims)

    @property
    def costs(self) -> dict[tuple[str, str], Cost]:
        """What finished runs took, by data set and name."""
        return {place: group.cost for place, group in self.groups.items()}

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics' keys."""
        return tuple(dict.fromkeys(result.metric for result in self.results))

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets' names."""
        return tuple(dict.fromkeys(result.dataset for result in self.results))

    def result(self, metric: str, dataset: str | None = None) -> MetricComparison:
        """Return the comparison by one metric, such as ``ndcg@10``, on a data set if there are several.

        Raises
        ------
        ConfigError
            If there is none.
        """
        for result in self.results:
            if result.metric == as_key(metric) and dataset in (None, result.dataset):
                return result
        raise ConfigError(
            f"Comparison: no metric {metric!r} {f'on {dataset!r} ' if dataset else ''}here; there are "
            f"{', '.join(self.metrics)} on {', '.join(map(repr, self.datasets))}."
        )

    def to_frame(self, what: Literal["runs", "pairs"] = "runs") -> "pd.DataFrame":
        """Return a table of all numbers, not rounded.

        Parameters
        ----------
        what : {"runs", "pairs"}
            A row per data set, metric and run, or per data set, metric and pair.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        return pd.DataFrame(self.records(what))

    def blocks(self, *, brief: bool = False) -> "list[Block]":
        """Return leaderboards, pairs, claims and notes; `brief`: pairs and claims by the first metric."""
        from recgauge.report.comparison_tables import comparison_blocks

        return comparison_blocks(self, brief=brief)

    def to_latex(self) -> str:
        """Return the tables in LaTeX (booktabs)."""
        from recgauge.report.comparison_tables import latex

        return latex(self)

    def plot(self, metric: str | None = None, dataset: str | None = None) -> "Figure":
        """Return a figure of every run's mean with its interval and letters.

        Parameters
        ----------
        metric, dataset : str, optional
            The first ones if not given.
        """
        from recgauge.report.figures.compared import plot_means

        return plot_means(self.result(metric or self.metrics[0], dataset))

    def records(self, what: Literal["runs", "pairs"] = "runs") -> list[dict[str, Any]]:
        """Return the rows of `to_frame` as dictionaries."""
        return [
            {"dataset": result.dataset, "metric": result.metric}
            | {key.replace("users", result.unit): value for key, value in _flat(asdict(row)).items()}
            | ({"n_held_out": n} if (n := result.n_held_out) is not None and what == "runs" else {})
            for result in self.results
            for row in (result.rows if what == "runs" else result.pairs)
        ]


def _flat(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row without nested parts: p-values get a column each, repeats a mean and a deviation."""
    flat: dict[str, object] = {}
    for name, value in row.items():
        if name == "repeats":
            repeats = value if isinstance(value, dict) else {}
            flat |= {f"repeats_{part}": repeats.get(part) for part in ("mean", "deviation")}
            flat["n_repeats"] = len(repeats.get("means", ())) or None
        elif isinstance(value, dict):
            flat |= {f"{name}_{key}": number for key, number in value.items()}
        else:
            flat[name] = value
    return flat
