"""Who gains and who loses: runs compared inside groups of users, or of items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.stability import DECIMALS, constant_p
from recgauge.comparison.tests_of_pairs import holm
from recgauge.errors import ConfigError, SchemaError, listed
from recgauge.utils.checks import DoubleArray, IntArray, check_real

if TYPE_CHECKING:
    import pandas as pd


ALL = "all"
"""The group of everybody."""


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One run in one group.

    Parameters
    ----------
    segment : str
        The group; ``all`` is everybody.
    run : str
    mean : float
        Over the users of the group; of items, over their relevant test rows.
    low, high : float
        Interval of the mean, from the variation between users; NaN where nothing varies, as with one user.
    n_users : int
        Users behind the mean.
    n_rows : int
        What is averaged: users, or relevant test rows.
    """

    segment: str
    run: str
    mean: float
    low: float
    high: float
    n_users: int
    n_rows: int


@dataclass(frozen=True, slots=True)
class SegmentPair:
    """Two runs in one group, compared user by user; the difference is ``a - b``.

    Parameters
    ----------
    segment, a, b : str
        `b` is the baseline.
    difference, low, high : float
        Mean difference and its interval, not corrected.
    p_adjusted : float
        Two-sided p of a t-test over users, after Holm's correction over all groups and pairs.
    differs : bool
        ``p_adjusted <= 1 - confidence``.
    better, equal, worse : float
        Shares of the users for whom `a` is better than, equal to, worse than `b`.
    n_users : int
    """

    segment: str
    a: str
    b: str
    difference: float
    low: float
    high: float
    p_adjusted: float
    differs: bool
    better: float
    equal: float
    worse: float
    n_users: int


@dataclass(frozen=True, slots=True)
class Segments:
    """Runs compared by one metric inside the groups of one attribute.

    Parameters
    ----------
    by : str
        The attribute, such as ``activity``.
    metric : str
    rows : tuple of SegmentRow
        By group, ``all`` first, then by run.
    pairs : tuple of SegmentPair
        Every run against the baseline, by group.
    uneven : dict of str to float
        Run to the p-value that its difference from the baseline is the same in all groups (Alexander and
        Govern's test, Holm-corrected over runs); empty for groups of items, whose users are not distinct.
    confidence : float
    higher_is_better : bool
    n_without : int
        Users, or items, without a group.
    """

    by: str
    metric: str
    rows: tuple[SegmentRow, ...]
    pairs: tuple[SegmentPair, ...]
    uneven: Mapping[str, float]
    confidence: float
    higher_is_better: bool = True
    n_without: int = 0

    @property
    def segments(self) -> tuple[str, ...]:
        """The groups in their order, ``all`` first."""
        return tuple(dict.fromkeys(row.segment for row in self.rows))

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs, the baseline first."""
        return tuple(dict.fromkeys(row.run for row in self.rows))

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per group and run, with its difference from the baseline, not rounded."""
        import pandas as pd

        return pd.DataFrame(segment_rows(self))


def segment_rows(segments: Segments) -> list[dict[str, Any]]:
    """Return one row per group and run, not rounded; the baseline's rows have no difference."""
    pairs = {(pair.segment, pair.a): pair for pair in segments.pairs}
    return [_flat(segments, row, pairs.get((row.segment, row.run))) for row in segments.rows]


def _flat(segments: Segments, row: SegmentRow, pair: SegmentPair | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "by": segments.by,
        "metric": segments.metric,
        "segment": row.segment,
        "n_users": row.n_users,
        "n_rows": row.n_rows,
        "run": row.run,
        "mean": row.mean,
        "low": _known(row.low),
        "high": _known(row.high),
        "baseline": segments.runs[0],
    }
    names = ("difference", "low", "high", "p_adjusted", "differs", "better", "equal", "worse")
    for name in names:
        value = None if pair is None else getattr(pair, name)
        found[f"difference_{name}" if name in ("low", "high") else name] = _known(value)
    return found


def _known(value: float | None) -> float | None:
    return None if value is None or isnan(value) else value


def compare_segments(
    values: Any,
    groups: Any,
    *,
    by: str = "segment",
    metric: str = "value",
    baseline: str | None = None,
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> Segments:
    """Compare runs inside groups of users.

    Parameters
    ----------
    values : pandas.DataFrame, or mapping of run to series by user
        Per-user values: a row per user id, a column per run. Users without a value (NaN) in one of the runs
        are left out.
    groups : pandas.Series, or mapping of user to group
        The order of groups is that of a categorical series (see `cut_groups`), else that of their names.
    by, metric : str
        Names for tables.
    baseline : str, optional
        The run that others are compared with; the first if not given.
    higher_is_better : bool
    confidence : float
        In (0, 1).

    Returns
    -------
    Segments

    Raises
    ------
    SchemaError
        If no user has both values and a group.
    ConfigError
        If there is no such baseline.

    References
    ----------
    R. A. Alexander, D. M. Govern, "A new and simpler approximation for ANOVA under variance heterogeneity",
    Journal of Educational Statistics 1994.

    Examples
    --------
    >>> import pandas as pd
    >>> values = pd.DataFrame({"old": [0.1, 0.2, 0.5, 0.6], "new": [0.3, 0.5, 0.4, 0.6]}, index=list("abcd"))
    >>> found = compare_segments(values, {"a": "few", "b": "few", "c": "many", "d": "many"})
    >>> [(pair.segment, round(pair.difference, 3)) for pair in found.pairs]
    [('all', 0.1), ('few', 0.25), ('many', -0.05)]
    """
    import pandas as pd

    # sums of floats depend on their order, results must not depend on that of the users
    frame = pd.DataFrame(dict(values.items())).dropna().sort_index(key=lambda users: users.map(str))
    names, codes = group_codes(pd.Series(groups).reindex(frame.index))
    if len(frame) == 0 or not names:
        grouped = listed(pd.Series(groups).index[:3])
        raise SchemaError(
            f"{by}: no user has both a value in every run and a group. Users look like "
            f"{listed(frame.index[:3]) or 'nobody'}, those with a group like {grouped or 'nobody'}."
        )
    sums = frame.to_numpy(np.float64).T
    member = (codes[:, None] == np.arange(len(names))).astype(np.float64)
    cells = _Cells(True, tuple(frame.columns), names, sums[:, :, None], member)
    asked = Segments(by, metric, (), (), {}, confidence, higher_is_better, int((codes < 0).sum()))
    return _compare(cells, asked, baseline)


def compare_item_groups(
    hits: "pd.DataFrame",
    groups: Any,
    *,
    by: str = "items",
    metric: str = "hit_rate",
    baseline: str | None = None,
    confidence: float = 0.95,
) -> Segments:
    """Compare runs by the share of relevant test rows that they recommend, inside groups of items.

    Rows of one user are not independent, so intervals and tests take users as clusters: the rate is a ratio
    of two sums over users, whose variance is that of its linearisation.

    Parameters
    ----------
    hits : pandas.DataFrame
        One row per relevant test row: ``user``, ``item``, and a column per run that is 1 (or True) if the
        item is in the user's list, else 0.
    groups : pandas.Series, or mapping of item to group
    by, metric, baseline, confidence
        As of `compare_segments`.

    Returns
    -------
    Segments

    Raises
    ------
    SchemaError
        If a column is missing, or no item has a group.

    References
    ----------
    W. G. Cochran, "Sampling Techniques", 3rd edition 1977, section 2.11 (ratio estimates).

    Examples
    --------
    >>> import pandas as pd
    >>> hits = pd.DataFrame({"user": [1, 1, 2], "item": ["x", "y", "x"], "svd": [1, 0, 1], "ease": [0, 0, 1]})
    >>> found = compare_item_groups(hits, {"x": "popular", "y": "rare"})
    >>> [(row.segment, row.run, row.mean, row.n_rows) for row in found.rows if row.segment == "popular"]
    [('popular', 'svd', 1.0, 2), ('popular', 'ease', 0.5, 2)]
    """
    import pandas as pd

    missing = [name for name in ("user", "item") if name not in hits]
    runs = tuple(str(name) for name in hits.columns if name not in ("user", "item"))
    if missing or not runs:
        raise SchemaError(f"hits: needs columns user, item and one per run, got {listed(hits.columns)}.")
    names, codes = group_codes(pd.Series(groups).reindex(hits["item"]))
    if not names:
        raise SchemaError(f"{by}: none of the items of the test rows has a group.")
    users, rows = np.unique(hits["user"].to_numpy(), return_inverse=True)
    known = codes >= 0
    sums = np.zeros((len(runs), len(users), len(names)))
    counts = np.zeros((len(users), len(names)))
    np.add.at(counts, (rows[known], codes[known]), 1.0)
    for which, run in enumerate(runs):
        np.add.at(sums[which], (rows[known], codes[known]), hits[run].to_numpy(np.float64)[known])
    lost = int(hits["item"][~known].nunique())
    asked = Segments(by, metric, (), (), {}, confidence, True, lost)
    return _compare(_Cells(False, runs, names, sums, counts), asked, baseline)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Sums and counts by user and group; what is reported are ratios of their totals.

    `sums` has shape (n_runs, m, n_groups), or (n_runs, m, 1) for groups of users, who have one value each;
    `counts` has shape (m, n_groups).
    """

    of_users: bool

    runs: tuple[str, ...]
    names: tuple[str, ...]
    sums: DoubleArray
    counts: DoubleArray

    def of(self, run: int, group: int | None) -> tuple[DoubleArray, DoubleArray]:
        """Return sums and counts of the users with a count in a group; None: in any group."""
        if group is None:
            counts = np.ones(len(self.counts)) if self.of_users else self.counts.sum(axis=1)
            return self.sums[run].sum(axis=1), counts
        chosen = self.counts[:, group] > 0
        return self.sums[run, chosen, 0 if self.of_users else group], self.counts[chosen, group]

    def change(self, run: int, base: int, group: int | None) -> tuple[DoubleArray, DoubleArray]:
        """Return the differences of the sums of two runs, equal ones exactly 0, and the counts."""
        (sums, counts), (before, _) = self.of(run, group), self.of(base, group)
        return np.round(sums - before, DECIMALS), counts


def _compare(cells: _Cells, segments: Segments, baseline: str | None) -> Segments:
    """Return `segments`, which says what is compared, with its rows and pairs."""
    confidence = check_real("confidence", segments.confidence, low=0.0, high=1.0, low_open=True)
    runs = cells.runs
    if baseline is not None and baseline not in runs:
        raise ConfigError(f"baseline: there is no run {baseline!r}; there are {listed(runs)}.")
    base = 0 if baseline is None else runs.index(baseline)
    others = [run for run in range(len(runs)) if run != base]
    groups = [(ALL, None), *((name, code) for code, name in enumerate(cells.names))]
    rows = [_row(cells, name, code, run, confidence) for name, code in groups for run in (base, *others)]
    pairs = [
        _pair(cells, name, code, (run, base), confidence, 1 if segments.higher_is_better else -1)
        for name, code in groups
        for run in others
    ]
    adjusted = holm(np.array([pair.p_adjusted for pair in pairs])).tolist() if pairs else []
    alpha = round(1 - confidence, 12)
    corrected = [
        replace(pair, p_adjusted=p, differs=p <= alpha) for pair, p in zip(pairs, adjusted, strict=True)
    ]
    uneven = _uneven(cells, [base, *others]) if cells.of_users else {}
    return replace(segments, rows=tuple(rows), pairs=tuple(corrected), uneven=uneven)


def _row(cells: _Cells, name: str, code: int | None, run: int, confidence: float) -> SegmentRow:
    sums, counts = cells.of(run, code)
    mean, low, high, _ = _ratio(sums, counts, confidence)
    return SegmentRow(name, cells.runs[run], mean, low, high, len(sums), int(counts.sum()))


def _pair(
    cells: _Cells, name: str, code: int | None, which: tuple[int, int], confidence: float, sign: int
) -> SegmentPair:
    """Return a pair whose p-value is not corrected yet."""
    change, counts = cells.change(*which, code)
    difference, low, high, p = _ratio(change, counts, confidence)
    better, equal, worse = (float((np.sign(change) == one).mean()) for one in (sign, 0, -sign))
    a, b = (cells.runs[run] for run in which)
    return SegmentPair(name, a, b, difference, low, high, p, False, better, equal, worse, len(counts))


def _ratio(sums: DoubleArray, counts: DoubleArray, confidence: float) -> tuple[float, float, float, float]:
    """Return the ratio of two totals over users, its interval, and the p-value that it is zero.

    Where nothing varies between users, there is no interval: that of zero width would claim too much.
    """
    from scipy.special import stdtr

    from recgauge.comparison.tests_of_pairs import student_quantile

    n, total = len(sums), float(counts.sum())
    ratio = float(sums.sum()) / total
    if n < 2:
        return ratio, float("nan"), float("nan"), 1.0
    residual = sums - ratio * counts
    error = float(np.sqrt((residual**2).sum() * n / (n - 1))) / total
    if np.round(residual, DECIMALS).any():
        half = student_quantile((1 + confidence) / 2, n - 1) * error
        return ratio, ratio - half, ratio + half, float(2 * stdtr(n - 1, -abs(ratio) / error))
    return ratio, float("nan"), float("nan"), constant_p(n) if round(ratio, DECIMALS) else 1.0


def _uneven(cells: _Cells, order: Sequence[int]) -> dict[str, float]:
    """Return for each run the p-value that its difference from the baseline is equal in all groups."""
    from recgauge.comparison.tests_of_pairs import equal_means

    raw = []
    for run in order[1:]:
        changes = [cells.change(run, order[0], group)[0] for group in range(len(cells.names))]
        tested = [change for change in changes if len(change) > 1 and np.ptp(change) > 0]
        raw.append(equal_means(tested) if len(tested) > 1 else 1.0)
    adjusted = holm(np.array(raw)) if raw else np.empty(0)
    return {cells.runs[run]: float(p) for run, p in zip(order[1:], adjusted, strict=True)}


def group_codes(groups: "pd.Series") -> tuple[tuple[str, ...], IntArray]:
    """Return the names of the groups that occur, in their order, and the code of each row, -1 without one."""
    import pandas as pd

    if not isinstance(groups.dtype, pd.CategoricalDtype):
        groups = groups.astype("category")
    used = groups.cat.remove_unused_categories()
    return tuple(map(str, used.cat.categories)), used.cat.codes.to_numpy().astype(np.int32)
