"""Who gains and who loses: runs compared inside groups of users, or of items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.reading import is_count, series_by_id, values_by_user
from recgauge.comparison.results import check_baseline
from recgauge.comparison.stability import DECIMALS, constant_p
from recgauge.comparison.tests_of_pairs import holm, student_quantile, two_sided_t
from recgauge.comparison.user_tables import UserGroups
from recgauge.comparison.user_values import UserValues
from recgauge.data.ids import as_ids
from recgauge.data.meeting import require_meeting
from recgauge.errors import SchemaError, listed
from recgauge.metrics.names import direction_of, label
from recgauge.report.segment_tables import ALL as ALL
from recgauge.report.shown import Shown
from recgauge.runs.finished import RunValues
from recgauge.utils.checks import DoubleArray, check_real
from recgauge.utils.exact import Moments, exact_sum, to_float

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.report.blocks import Block


_OF_ROWS = ("segment", "n_users", "n_rows", "run", "mean", "low", "high")
_OF_PAIRS = {
    "difference": "difference",
    "difference_low": "low",
    "difference_high": "high",
    **{name: name for name in ("p_adjusted", "differs", "better", "equal", "worse")},
}  # columns of a table of segments, which the baseline's rows have empty


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
class Segments(Shown):
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
    notes : tuple of str
        What a reader must know to read the numbers.
    warnings : tuple of str
        What a reader must know first.
    """

    by: str
    metric: str
    rows: tuple[SegmentRow, ...]
    pairs: tuple[SegmentPair, ...]
    uneven: Mapping[str, float]
    confidence: float
    higher_is_better: bool = True
    n_without: int = 0
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

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

        pairs = {(pair.segment, pair.a): pair for pair in self.pairs}
        rows = [
            {"by": self.by, "metric": self.metric}
            | {name: getattr(row, name) for name in _OF_ROWS}
            | {"baseline": self.runs[0]}
            | {
                column: getattr(pairs.get((row.segment, row.run)), name, None)
                for column, name in _OF_PAIRS.items()
            }
            for row in self.rows
        ]
        return pd.DataFrame(rows)

    def blocks(self, *, brief: bool = False) -> "list[Block]":  # noqa: ARG002 - always short
        """Return the table, and sentences on who gains and who loses."""
        from recgauge.report.segment_tables import segment_blocks

        return segment_blocks(self)


def compare_segments(
    values: Any,
    groups: Any,
    *,
    by: str = "segment",
    metric: str = "value",
    baseline: str | None = None,
    higher_is_better: bool | None = None,
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
    higher_is_better : bool, optional
        By default as the name of the metric says it, see `compare`; without a name more is better.
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
    frame, series = values_by_user(values), series_by_id(groups, by)
    counts = is_count(frame.index), is_count(series.index)
    if any(counts) and not (all(counts) and len(frame) == len(series)):
        raise SchemaError(
            f"{by}: the index of the values or the groups only counts the rows. Give both the ids of users "
            "as their index, such as values.rename_axis('user_id'), or values a column user_id."
        )
    higher = direction_of(metric, higher_is_better)
    users = as_ids("users", frame.index)
    runs = {str(run): RunValues(users, {metric: frame[run].to_numpy(np.float64)}) for run in frame}
    paired = UserValues.paired(runs, {metric: higher})
    of_users = UserGroups.of_series(by, series)
    (segments,) = segments_of(paired, of_users, baseline=baseline, confidence=confidence)
    return replace(segments, metric=metric)


def segments_of(
    values: UserValues, groups: UserGroups, *, baseline: str | None = None, confidence: float = 0.95
) -> list[Segments]:
    """Compare runs inside the groups of a column: by each metric as `compare_segments` does.

    Raises
    ------
    ConfigError
        If there is no such baseline.
    SchemaError
        If no user has both a value and a group.
    """
    check_real("confidence", confidence, low=0.0, high=1.0, low_open=True)
    meeting = require_meeting(groups.meeting(values.users))
    warnings = (meeting.warning,) if meeting.warning else ()
    notes = (f"{meeting.sentence}.",) if groups.table else ()
    base, codes, results = base_of(baseline, values.runs), groups.codes(values.users), []
    rest = [run for run in range(len(values.runs)) if run != base]
    for metric, of_metric, is_higher in zip(
        values.metrics, values.values, values.higher_is_better, strict=True
    ):
        complete = np.flatnonzero(np.isfinite(of_metric).all(axis=0))
        order = complete[np.argsort(codes[complete], kind="stable")]
        present, starts = np.unique(codes[order], return_index=True)
        members = dict(zip(present.tolist(), np.split(order, starts)[1:], strict=True))
        n_without = len(members.pop(-1, ()))
        if not members:
            raise SchemaError(
                f"{groups.by}: no user has both a value in every run and a group. Users look like "
                f"{listed(values.users[:3]) or 'nobody'}, those with a group like {groups}."
            )
        inside = {groups.names[code]: of_metric[:, users] for code, users in members.items()}
        changes = {run: [each[run] - each[base] for each in inside.values()] for run in rest}
        p = holm([_p_uneven(changes[run]) for run in rest]).tolist() if rest else []
        uneven = {values.runs[run]: each for run, each in zip(rest, p, strict=True)}
        segments = Segments(
            groups.by, label(metric), (), (), uneven, confidence, is_higher, n_without, notes, warnings
        )
        one_each = {name: (each, np.ones(each.shape[1])) for name, each in inside.items()}
        everybody = of_metric[:, complete], np.ones(len(complete))
        results.append(_compared(segments, values.runs, base, {ALL: everybody} | one_each))
    return results


def _p_uneven(changes: Sequence[DoubleArray]) -> float:
    """Return the p-value that a run's change is the same in all groups."""
    from scipy.stats import alexandergovern

    rounded = [np.round(change, DECIMALS) for change in changes]
    tested = [change for change in rounded if len(change) > 1 and np.ptp(change) > 0]
    return float(alexandergovern(*tested).pvalue) if len(tested) > 1 else 1.0


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
    missing = [name for name in ("user", "item") if name not in hits]
    runs = tuple(str(name) for name in hits.columns if name not in ("user", "item"))
    if missing or not runs:
        raise SchemaError(f"hits: needs columns user, item and one per run, got {listed(hits.columns)}.")
    if wrong := [run for run in runs if not np.isfinite(hits[run].to_numpy(np.float64)).all()]:
        raise SchemaError(f"hits: {listed(wrong)} must be 1 or 0 in every row; some are missing.")
    of_item = series_by_id(groups, by)
    of_rows = of_item.reindex(hits["item"]).astype("category").cat.remove_unused_categories()
    names, codes = tuple(map(str, of_rows.cat.categories)), of_rows.cat.codes.to_numpy()
    if not names:
        raise SchemaError(f"{by}: none of the items of the test rows has a group.")
    users, rows = np.unique(hits["user"].to_numpy(), return_inverse=True)
    has_group = codes >= 0
    columns = [np.ones(len(rows)), *(hits[run].to_numpy(np.float64) for run in runs)]
    lost = int(hits["item"][~has_group].nunique())
    segments = Segments(by, metric, (), (), {}, confidence, True, lost)
    check_real("confidence", confidence, low=0.0, high=1.0, low_open=True)
    members: dict[str, tuple[DoubleArray, DoubleArray]] = {}
    for name, inside in ((ALL, has_group), *((name, codes == code) for code, name in enumerate(names))):
        totals = np.array([np.bincount(rows[inside], each[inside], len(users)) for each in columns])
        if name != ALL:  # everybody has users without such a row, too
            totals = totals[:, totals[0] > 0]
        members[name] = totals[1:], totals[0]
    return _compared(segments, runs, base_of(baseline, runs), members)


def base_of(baseline: str | None, runs: Sequence[str]) -> int:
    """Return the place of the run that others are compared with."""
    check_baseline(baseline, runs)
    return 0 if baseline is None else runs.index(baseline)


def _compared(
    segments: Segments,
    runs: Sequence[str],
    base: int,
    members: Mapping[str, tuple[DoubleArray, DoubleArray]],
) -> Segments:
    """Return `segments` with rows and pairs, p-values corrected over all of them.

    `members` are, by group, each user's sums of values, (n_runs, m), and numbers of values, (m,).
    """
    rows, pairs, sign = [], [], 1 if segments.higher_is_better else -1
    order = [base, *(run for run in range(len(runs)) if run != base)]
    for name, (sums, counts) in members.items():
        n_users, n_rows = len(counts), int(counts.sum())
        for run in order:
            ends, _ = _ratio(sums[run], counts, segments.confidence)
            rows.append(SegmentRow(name, runs[run], *ends, n_users, n_rows))
            if run != base:
                change = np.round(sums[run] - sums[base], DECIMALS)  # equal values differ by exactly 0
                ends, p = _ratio(change, counts, segments.confidence)
                signs = ((np.sign(change) == side).mean() for side in (sign, 0, -sign))
                better, equal, worse = map(float, signs)
                pair = SegmentPair(
                    name, runs[run], runs[base], *ends, p, False, better, equal, worse, n_users
                )
                pairs.append(pair)
    adjusted = holm([pair.p_adjusted for pair in pairs]).tolist() if pairs else []
    alpha = round(1 - segments.confidence, 12)
    corrected = (
        replace(pair, p_adjusted=p, differs=p <= alpha) for pair, p in zip(pairs, adjusted, strict=True)
    )
    return replace(segments, rows=tuple(rows), pairs=tuple(corrected))


def _ratio(
    sums: DoubleArray, counts: DoubleArray, confidence: float
) -> tuple[tuple[float, float, float], float]:
    """Return a mean over all values of users with the ends of its interval, and the p-value that it is zero.

    Users are drawn, with all their values. Where nothing varies between them there is no interval: that of
    zero width would claim too much.
    """
    n, total = len(sums), int(counts.sum())
    mean = to_float(exact_sum(sums), count=total)
    own = sums - mean * (counts - 1)  # of a user with one value the value: its spread is exact
    if n > 1 and np.round(own - mean, DECIMALS).any():
        error = (Moments.of(own).stderr() or 0.0) * n / total
        half = student_quantile((1 + confidence) / 2, n - 1) * error
        return (mean, mean - half, mean + half), two_sided_t(mean, error, n - 1)
    p = constant_p(n) if n > 1 and round(mean, DECIMALS) else 1.0
    return (mean, float("nan"), float("nan")), p
