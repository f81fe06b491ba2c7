"""Users' values of runs: paired by user."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Self

import numpy as np

from recgauge.comparison.results import Repeats
from recgauge.data.ids import IdArray, as_ids, encode
from recgauge.data.meeting import FEWEST, Meeting, meet_rows, require_meeting
from recgauge.errors import ConfigError, SchemaError, did_you_mean, listed
from recgauge.metrics import metric_key
from recgauge.metrics.names import Directions, as_key, headline_cutoff, label, split_key, without_label
from recgauge.metrics.rating import Pooled
from recgauge.runs.finished import RunValues
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, shown


@dataclass(frozen=True, slots=True, eq=False)
class UserValues:
    """Per-user values of several runs on one data set, paired by user.

    Parameters
    ----------
    users : ndarray, shape (m,)
        Ids, sorted, so that results do not depend on the order of users.
    runs, metrics : tuple of str
    values : ndarray of float64, shape (n_metrics, n_runs, m)
        Each user's own value, the mean over seeds and folds; NaN where a run has none.
    higher_is_better : tuple of bool
        By metric.
    dataset : str
    repeats : mapping of (str, str) to Repeats
        By metric and run, of runs with several seeds or folds.
    folds : ndarray of float64, shape (n_metrics, n_runs, n_folds), or None
        Means of each fold over the users in common, if there are at least two folds.
    notes : tuple of str
    shares : ndarray of float64, shape (n_metrics, n_runs, m), or None
        What each user contributes to a run's number, which is their mean: `values`, unless some users are not
        in every seed or fold, or the metric is over all rows; see `of`. NaN for users who are left out.
        None: `values`.
    pooled : mapping of str to tuple of Pooled
        Of metrics over all rows, by run: what users add to the number of each seed and fold, (n_repeats, m).
    n_held_out : int or None
        Users with test rows, evaluated or not, of runs of recgauge on the same test rows.

    Examples
    --------
    >>> svd = RunValues(np.array([2, 1]), {"ndcg": np.array([0.5, 0.25])})
    >>> popularity = RunValues(np.array([1, 2, 3]), {"ndcg": np.array([0.25, 0.0, 1.0])})
    >>> table = UserValues.of({"svd": svd, "popularity": popularity})
    >>> table.users, table.values[0]
    (array([1, 2, 3]), array([[0.25, 0.5 ,  nan], [0.25, 0.  , 1.  ]]))
    """

    users: IdArray
    runs: tuple[str, ...]
    metrics: tuple[str, ...]
    values: DoubleArray
    higher_is_better: tuple[bool, ...]
    dataset: str = ""
    repeats: Mapping[tuple[str, str], Repeats] = field(default_factory=dict)
    folds: DoubleArray | None = None
    notes: tuple[str, ...] = ()
    shares: DoubleArray | None = None
    pooled: Mapping[str, tuple[Pooled, ...]] = field(default_factory=dict)
    n_held_out: int | None = None

    @property
    def contributions(self) -> DoubleArray:
        """What users contribute to the runs' numbers: `shares` where they differ from `values`."""
        return self.values if self.shares is None else self.shares

    @classmethod
    def of(
        cls,
        runs: Mapping[str, RunValues | Sequence[RunValues]],
        *,
        metrics: Sequence[str] | None = None,
        dataset: str = "",
        directions: Directions | None = None,
    ) -> Self:
        """Pair runs by user.

        The number of a run with several seeds or folds is the mean of their means, each over the users that
        it has; only folds in which every run has a value for a user count. Where a user is not in all of
        them, and of metrics over all rows, such as RMSE, what the user contributes is the linearisation of
        that number (the delta method): its mean is the number, and its spread that under other users.

        Parameters
        ----------
        runs : mapping of str to RunValues or sequence of RunValues
            By name; several values are seeds and folds of one run.
        metrics : sequence of str, optional
            All that every run has if not given.
        dataset : str
        directions : Directions, optional
            Of which metrics less or more is better, as far as neither the runs nor recgauge know it.

        Raises
        ------
        ConfigError
            If there are fewer than two runs, no metric or user in common, or the direction of a metric is
            unknown.
        """
        named = {name: [run] if isinstance(run, RunValues) else list(run) for name, run in runs.items()}
        if len(named) < 2:
            raise ConfigError(f"compare: at least two runs are needed, got {listed(named) or 'none'}.")
        chosen = _metrics_in_common(named, metrics)
        recorded = {
            key: up
            for repeats in named.values()
            for run in repeats
            for key, up in run.higher_is_better.items()
        }
        higher = (directions or Directions()).higher_is_better(chosen, recorded)
        users, codes = _encoded(named)
        _require_repeats_meet(named, users, codes)
        folds, notes = _folds_in_common(named)
        cells = np.empty((len(folds), len(chosen), len(named), len(users)))
        for i, fold in enumerate(folds):
            for j, name in enumerate(named):
                seeds = [(run, codes[id(run)]) for run in named[name] if run.fold == fold]
                cells[i, :, j] = [_mean_over_seeds(metric, seeds, len(users)) for metric in chosen]
        values, fold_means = _over_folds(cells)
        meetings = meetings_of([cls(users, tuple(named), chosen, values, ())])
        for meeting in meetings:
            require_meeting(meeting)
        columns = {column: None for repeats in named.values() for run in repeats for column in run.unused}
        if columns:
            notes += (f"Not used, since it holds no numbers: {listed(columns, most=10)}.",)
        shares, pooled = _shares(named, chosen, codes, folds, cells, values, fold_means)
        return cls(
            users,
            tuple(named),
            chosen,
            values,
            tuple(higher[metric] for metric in chosen),
            dataset,
            _repeats(named, chosen),
            fold_means,
            notes,
            shares,
            pooled,
            _held_out(named),
        )

    @classmethod
    def paired(cls, runs: Mapping[str, RunValues], higher_is_better: Mapping[str, bool]) -> Self:
        """Pair some users of runs, none of whom need be in common, by the metrics that have a direction."""
        users, codes = _encoded({name: [run] for name, run in runs.items()})
        values = np.full((len(higher_is_better), len(runs), len(users)), np.nan)
        for row, metric in enumerate(higher_is_better):
            for column, run in enumerate(runs.values()):
                values[row, column, codes[id(run)]] = run.values[metric]
        return cls(users, tuple(runs), tuple(higher_is_better), values, tuple(higher_is_better.values()))

    def complete(self, row: int) -> tuple[IdArray, DoubleArray, int]:
        """Return the users with a value of a metric in every run, their values, and how many others are."""
        has_value = np.isfinite(self.values[row])
        complete = has_value.all(axis=0)
        left_out = int((has_value.any(axis=0) & ~complete).sum())
        return self.users[complete], np.ascontiguousarray(self.values[row][:, complete]), left_out


def meetings_of(parts: Iterable[UserValues], first: int = 0) -> list[Meeting]:
    """Count how many users each run shares with one of them, by default with the first."""
    meetings: dict[int, Meeting] = {}
    for part in parts:
        there: BoolArray = np.asarray(np.isfinite(part.values).any(axis=0))
        for run in range(len(part.runs)):
            if run != first:
                sides = f"run {part.runs[first]}", f"run {part.runs[run]}"
                ours, theirs = np.flatnonzero(there[first]), np.flatnonzero(there[run])
                met = meet_rows(part.users, ours, [theirs], name="user", sides=sides)
                meetings[run] = meetings[run] + met if run in meetings else met
    return list(meetings.values())


def _metrics_in_common(
    runs: Mapping[str, Sequence[RunValues]], metrics: Sequence[str] | None
) -> tuple[str, ...]:
    chosen = choose_metrics(
        metrics, [(name, run.values) for name, repeats in runs.items() for run in repeats]
    )
    for key in chosen:
        over_rows = [name for name, repeats in runs.items() if all(key in run.pooled for run in repeats)]
        if over_rows and len(over_rows) < len(runs):
            rows = "queries" if split_key(key)[1] else "ratings"
            raise ConfigError(
                f"compare: {key} of {listed(over_rows, most=3)} is over all {rows}, and of the other runs "
                "there are values per user, whose mean is another number. Give all runs in one way."
            )
    return chosen


def choose_metrics(
    metrics: Sequence[str] | str | None, runs: Sequence[tuple[str, Collection[str]]], place: str = "metrics"
) -> tuple[str, ...]:
    """Return the keys of the metrics asked for, which every run must have; all in common if none.

    A metric is ``ndcg@10``, ``ndcg_at_10``, or ``ndcg``: at the headline cutoff. `runs` are names with the
    keys of each; `place` is where the metrics were named, for messages.
    """
    common = [key for key in runs[0][1] if all(key in keys for _, keys in runs)]
    if not metrics and not common:
        first = list(dict(runs).items())[:3]
        has = "; ".join(f"{run}: {listed(map(label, keys), most=6)}" for run, keys in first)
        raise ConfigError(
            "the runs have no metric in common that has a value for each user. Give runs of the same metrics "
            f"and cutoffs; these have {has}."
        )
    chosen: dict[str, None] = {}
    names = [metrics] if isinstance(metrics, str) else metrics
    cutoff = headline_cutoff(split_key(key)[1] for key in common)
    headline_first = sorted(common, key=lambda key: split_key(key)[1] not in (cutoff, None))
    for name in names if metrics and names else headline_first:
        key = key_of(name, common)
        if key is None:
            text = label(as_key(name))
            lacking = [run for run, keys in runs if key_of(name, keys) is None]
            if n_with := len(runs) - len(lacking):
                raise ConfigError(
                    f"{place}: {text} is in {n_with} of {len(runs)} runs, not in {listed(lacking, most=6)}. "
                    f"Leave these runs out, or name a metric of all runs: "
                    f"{listed(map(label, common)) or 'none'}."
                )
            base, k = split_key(as_key(name))
            if at := [str(there) for own, there in map(split_key, common) if own == base and there]:
                raise ConfigError(
                    f"{place}: {base} is there at {', '.join(at)}, not at {k}, which needs runs with "
                    f"cutoffs=[{k}]."
                )
            names = list(dict.fromkeys(own for own, _ in map(split_key, common)))
            near = did_you_mean(text, [*names, *(label(own) for own in common if split_key(own)[1] == k)])
            raise ConfigError(f"{place}: there is no {text}. {near}All runs have {listed(names)}.")
        chosen[key] = None
    return tuple(chosen)


def key_of(name: str, keys: Collection[str]) -> str | None:
    """Return the key that a name means, None if there is none."""
    own, key = {as_key(key): key for key in keys}, as_key(name)
    if key not in own:
        key = as_key(without_label(name))
    if key not in own:
        key = metric_key(key, headline_cutoff(k for base, k in map(split_key, own) if base == key))
    return own.get(key)


def _held_out(runs: Mapping[str, Sequence[RunValues]]) -> int | None:
    """Return how many users have test rows; None where runs do not say, or are not on the same test rows."""
    records = [run.record for repeats in runs.values() for run in repeats]
    counts = {
        (record.coverage.users, record.split.test.sha256)
        if record and record.coverage and record.evaluated_on == "test"
        else None
        for record in records
    }
    only = counts.pop() if len(counts) == 1 else None
    return None if only is None else only[0]


def _encoded(runs: Mapping[str, Sequence[RunValues]]) -> tuple[IdArray, dict[int, IntArray]]:
    """Return all users' ids, sorted, and the codes of each repeat's users."""
    pairs = [(name, run) for name, repeats in runs.items() for run in repeats]
    columns = _written_alike([run for _, run in pairs], [as_ids(name, run.users) for name, run in pairs])
    users, codes = encode(columns, in_order=False)
    for (name, run), column in zip(pairs, codes, strict=True):
        twice = np.flatnonzero(np.bincount(column, minlength=len(users)) > 1)
        if len(twice):
            raise SchemaError(
                f"{name}: user {shown(users[twice[0]])} has several rows, as have {len(twice) - 1} more; "
                "give a row per user, and seeds or folds as runs of their own."
            )
        for key, values in run.values.items():
            if len(values) != len(column) or np.isinf(values).any():
                raise SchemaError(
                    f"{name}: {key} must have a finite number, or NaN, per user: {len(column)} in all."
                )
    return users, {id(run): column for (_, run), column in zip(pairs, codes, strict=True)}


def _written_alike(runs: Sequence[RunValues], columns: Sequence[IdArray]) -> list[IdArray]:
    """Return ids of which those of files are texts in all files where they are in one."""
    pairs = list(zip(runs, columns, strict=True))
    if not any(run.from_file and len(ids) and ids.dtype.kind != "i" for run, ids in pairs):
        return list(columns)
    return [
        ids.astype(str).astype(object) if run.from_file and ids.dtype.kind == "i" else ids
        for run, ids in pairs
    ]


def _folds_in_common(
    runs: Mapping[str, Sequence[RunValues]],
) -> tuple[list[int | None], tuple[str, ...]]:
    of_run = {name: {run.fold for run in repeats} for name, repeats in runs.items()}
    common = set.intersection(*of_run.values())
    if not common:
        texts = "; ".join(f"{name}: {listed(sorted(map(str, folds)))}" for name, folds in of_run.items())
        raise ConfigError(f"compare: the runs have no fold in common ({texts}).")
    dropped = sorted(name for name, folds in of_run.items() if folds != common)
    notes = (f"Only the folds that all runs have are compared; {listed(dropped)} have more.",)
    return sorted(common, key=lambda fold: -1 if fold is None else fold), notes if dropped else ()


def _require_repeats_meet(
    runs: Mapping[str, Sequence[RunValues]], users: IdArray, codes: Mapping[int, IntArray]
) -> None:
    """Refuse seeds of a run that share next to no users, and folds whose users are written otherwise."""
    for name, (first, *rest) in runs.items():
        for repeat in rest:
            sides = f"seed {first.seed} of {name}", f"seed {repeat.seed} of {name}"
            if repeat.fold != first.fold:  # which may have users of its own
                sides = f"fold {first.fold} of {name}", f"fold {repeat.fold} of {name}"
            met = meet_rows(users, codes[id(first)], [codes[id(repeat)]], name="user", sides=sides)
            require_meeting(met, fewest=FEWEST if repeat.fold == first.fold else inf)


def _mean_over_seeds(metric: str, seeds: Sequence[tuple[RunValues, IntArray]], n_users: int) -> DoubleArray:
    total, count = np.zeros(n_users), np.zeros(n_users)
    for run, codes in sorted(seeds, key=lambda pair: -1 if pair[0].seed is None else pair[0].seed):
        has_value: BoolArray = np.isfinite(run.values[metric])
        total[codes[has_value]] += run.values[metric][has_value]
        count[codes[has_value]] += 1
    mean: DoubleArray = np.divide(total, count, out=np.full(n_users, np.nan), where=count > 0)
    return mean


def _over_folds(cells: DoubleArray) -> tuple[DoubleArray, DoubleArray | None]:
    """Return values (n_metrics, n_runs, m) over folds, and each fold's means (n_metrics, n_runs, n_folds)."""
    if len(cells) == 1:
        return cells[0], None
    complete = np.isfinite(cells).all(axis=2, keepdims=True)
    filled = np.where(complete, cells, 0.0)
    count = complete.sum(axis=0)
    values = np.divide(filled.sum(axis=0), count, out=np.full(cells.shape[1:], np.nan), where=count > 0)
    per_fold = complete.sum(axis=3)
    means = np.divide(filled.sum(axis=3), per_fold, out=np.full(cells.shape[:3], np.nan), where=per_fold > 0)
    return values, np.moveaxis(means, 0, 2)


def _shares(
    runs: Mapping[str, Sequence[RunValues]],
    metrics: Sequence[str],
    codes: Mapping[int, IntArray],
    folds: Sequence[int | None],
    cells: DoubleArray,
    values: DoubleArray,
    fold_means: DoubleArray | None,
) -> tuple[DoubleArray, dict[str, tuple[Pooled, ...]]]:
    """Return what users contribute to each run's mean over seeds and folds.

    Also, of metrics over all rows, what each user adds to the value of every seed and fold, by run; their
    numbers take the place of means over users in `fold_means`.
    """
    complete: BoolArray = np.asarray(np.isfinite(cells).all(axis=2))
    shares = values
    pooled: dict[str, tuple[Pooled, ...]] = {}
    for i, metric in enumerate(metrics):
        used: BoolArray = np.asarray(complete[:, i].any(axis=0))
        for j, repeats in enumerate(runs.values()):
            own = [run for run in repeats if run.fold in folds]
            parts = _parts(metric, own, [(codes[id(run)], complete[folds.index(run.fold), i]) for run in own])
            seeds = Counter(run.fold for run in own)
            if metric in own[0].pooled:
                pooled[metric] = (*pooled.get(metric, ()), parts)
                if fold_means is not None:
                    of_fold = np.array([run.fold for run in own])
                    fold_means[i, j] = [parts.value()[of_fold == fold].mean() for fold in folds]
            elif len(set(seeds.values())) == 1 and (parts.counts == used).all():
                continue
            shares = values.copy() if shares is values else shares
            shares[i, j] = np.where(used, _contributions(parts, int(used.sum())), np.nan)
    return shares, pooled


def _parts(metric: str, repeats: Sequence[RunValues], rows: Sequence[tuple[IntArray, BoolArray]]) -> Pooled:
    """Return what each user adds to the number of every seed and fold, (n_repeats, m); others add nothing."""
    m = len(rows[0][1])
    sums, counts = np.zeros((len(repeats), m)), np.zeros((len(repeats), m))
    exponent = 1.0
    for row, (run, (codes, chosen)) in enumerate(zip(repeats, rows, strict=True)):
        own = run.pooled.get(metric)
        has_value = np.isfinite(run.values[metric]) & chosen[codes]
        sums[row, codes[has_value]] = (run.values[metric] if own is None else own.sums)[has_value]
        counts[row, codes[has_value]] = 1.0 if own is None else own.counts[has_value]
        exponent = exponent if own is None else own.exponent
    there = counts.any(axis=1)
    return Pooled(sums[there], counts[there], exponent)


def _contributions(parts: Pooled, n_used: int) -> DoubleArray:
    """Return values whose mean over the users in use is the mean of `parts.value()`: its linearisation."""
    number, totals = parts.value(), parts.counts.sum(axis=1)
    ratio = parts.sums.sum(axis=1) / totals
    slope = parts.exponent * np.divide(number, ratio, out=np.zeros(len(ratio)), where=ratio != 0)
    residuals = parts.sums - ratio[:, None] * parts.counts
    linear: DoubleArray = (number[:, None] + (slope * n_used / totals)[:, None] * residuals).mean(axis=0)
    return linear


def _repeats(
    runs: Mapping[str, Sequence[RunValues]], metrics: Sequence[str]
) -> dict[tuple[str, str], Repeats]:
    repeats_by_run = {}
    for name, repeats in runs.items():
        for metric in metrics if len(repeats) > 1 else ():
            means = [
                float(run.pooled[metric].value() if metric in run.pooled else np.nanmean(run.values[metric]))
                for run in repeats
            ]
            labels = [run.label or f"repeat {i}" for i, run in enumerate(repeats)]
            repeats_by_run[metric, name] = Repeats.of(means, labels)
    return repeats_by_run
