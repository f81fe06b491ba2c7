"""Who gains and who loses among finished runs: groups of users or items, from the data of the runs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recgauge.comparison.example_users import stories
from recgauge.comparison.groups import activity, cut_groups, days_in_data, held_popularity, item_counts, taste
from recgauge.comparison.runs import agreeing, name_runs, reference_key
from recgauge.comparison.segments import Segments, compare_item_groups, segments_of
from recgauge.comparison.user_tables import UserGroups, UserTable
from recgauge.comparison.user_values import UserValues
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import at_least
from recgauge.data.split import Split
from recgauge.errors import ConfigError, did_you_mean, listed
from recgauge.metrics.names import split_key
from recgauge.report.blocks import TableBlock
from recgauge.runs.finished import FinishedRun
from recgauge.utils.checks import check_int

if TYPE_CHECKING:
    import pandas as pd

OF_USERS = ("activity", "item_popularity", "age", "genre")
BUILT_IN = (*OF_USERS, "items")
_DECILES = 10


@dataclass(frozen=True)
class SegmentOptions:
    """What runs are compared by, and how.

    Parameters
    ----------
    by : tuple of str
        Attributes: of `BUILT_IN`, or columns of `users`.
    metric : str
        Such as ``ndcg@10``; empty: nDCG at 10, else at the largest cutoff.
    users : Path or None
        A table of the user's own, CSV or parquet: ``user_id`` and further columns.
    groups : int
        Into how many groups numbers are cut.
    baseline : str or None
        The run that others are compared with; None: the first.
    examples : int
        How many users with the largest gain, and as many with the largest loss, are shown in full.
    confidence : float
    packages : tuple of str
        Packages other than recgauge whose data sets, filters and splits may be used.
    missing : tuple of str
        Cells of `users` that are no group, beside empty ones.

    Raises
    ------
    ConfigError
        If no attribute is named, or a number is too small.
    """

    by: tuple[str, ...] = ("activity",)
    metric: str = ""
    users: Path | None = None
    groups: int = 4
    baseline: str | None = None
    examples: int = 0
    confidence: float = 0.95
    packages: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.by:
            raise ConfigError(f"--by: names no group; there are {listed(BUILT_IN)}.")
        check_int("--groups", self.groups, minimum=2)
        check_int("--examples", self.examples, minimum=0)


def segment_runs(
    runs: Sequence[FinishedRun],
    options: SegmentOptions,
    load: Callable[[FinishedRun, Sequence[str]], tuple[Dataset, Split]],
    *,
    choose: bool = False,
) -> tuple[list[Segments], list[TableBlock], list[str]]:
    """Compare finished runs inside groups of users or items.

    Parameters
    ----------
    runs : sequence of FinishedRun
        As of `recgauge.tracking.find_runs`.
    options : SegmentOptions
    load : callable
        Loads data and split of a run; gets the run and the packages that may be used.
    choose : bool
        Take the most runs that differ in the model alone instead of refusing the others.

    Returns
    -------
    list of Segments
        One for each attribute.
    list of TableBlock
        Users with the largest gains and losses.
    list of str
        What was left out.

    Raises
    ------
    RecgaugeError
        If runs differ in more than the model, or an attribute or the data cannot be used.
    """
    runs, notes = _largest_group(runs) if choose else (runs, [])
    named = name_runs(runs)
    table = None if options.users is None else UserTable.of(str(options.users), missing=options.missing)
    dataset, split = load(runs[0], options.packages)
    key = reference_key(named, options.metric)
    segments = [segments_by(by, named, key, options, table, dataset, split) for by in options.by]
    n = options.examples
    examples = stories(named, key, dataset, split, options.baseline, n) if n else []
    return segments, examples, notes


def _largest_group(runs: Sequence[FinishedRun]) -> tuple[list[FinishedRun], list[str]]:
    """Return the most runs on one data set that differ in the model alone, one seed of each, and a note."""
    comparable, notes = agreeing(runs)
    if not comparable:
        return list(runs), []
    rows = [(run.record.names["dataset"], run.record.split.train.sha256) for run in comparable]
    largest = Counter(rows).most_common(1)[0][0]
    kept = [run for run, own in zip(comparable, rows, strict=True) if own == largest]
    if n_left := len(comparable) - len(kept):
        record = kept[0].record
        notes.append(
            f"{n_left} runs on other data or with another seed are left out; these are on "
            f"{record.names['dataset']}, seed {record.seed}. Name runs to choose others"
        )
    return kept, notes


def segments_by(
    by: str,
    runs: Mapping[str, FinishedRun],
    key: str,
    options: SegmentOptions,
    table: UserTable | None,
    dataset: Dataset,
    split: Split,
) -> Segments:
    """Return the runs compared inside the groups of one attribute."""
    if by == "items":
        return _by_items(runs, key, options, split)
    groups = groups_by(by, options.groups, table, lambda: (_first(runs), dataset, split), "--by", BUILT_IN)
    entry = _first(runs).record.result(key)
    values = {name: run.values([key]) for name, run in runs.items()}
    part = UserValues.paired(values, {key: entry is None or entry.higher_is_better})
    return segments_of([part], groups, baseline=options.baseline, confidence=options.confidence)[0]


def groups_by(
    by: str,
    n_groups: int,
    table: UserTable | None,
    data: Callable[[], tuple[FinishedRun, Dataset, Split]],
    option: str,
    attributes: Sequence[str] = OF_USERS,
) -> UserGroups:
    """Return the groups of users by a column of a table, else by the data of a run.

    Messages name the `option` that named the attribute, and the `attributes` that it may name.
    """
    if table is not None and by in table.columns:
        return table.groups(by, n_groups)
    if by not in OF_USERS:
        names = [*attributes, *(() if table is None else table.columns)]
        own = " A column of your own table needs --users TABLE." if table is None else ""
        raise ConfigError(
            f"{option}: there is no {by}. {did_you_mean(by, names)}There are {listed(names)}.{own}"
        )
    values = _attribute(by, *data()).rename(by)
    return UserTable.of(values.rename_axis("user_id")).groups(by, n_groups)


def _attribute(by: str, run: FinishedRun, dataset: Dataset, split: Split) -> "pd.Series":
    """Return a number or a word for every user, by user id."""
    if by == "activity":
        return activity(split.history)
    if by == "age":
        return days_in_data(split.history).round()
    if by == "item_popularity":
        return held_popularity(split.train, _relevant_rows(run))
    if dataset.item_features is None:
        raise ConfigError(f"--by genre: {dataset.name} has no genres or other features of items.")
    return taste(split.history, dataset.item_features)


def _first(runs: Mapping[str, FinishedRun]) -> FinishedRun:
    return next(iter(runs.values()))


def _relevant_rows(run: FinishedRun) -> "pd.DataFrame":
    """Return the distinct relevant test rows as columns user and item."""
    rows, lowest = run.test(), run.record.dataset.relevant_from
    kept = rows if lowest is None else rows[at_least(rows["rating"], lowest)]
    return kept.drop_duplicates(["user_id", "item_id"]).rename(columns={"user_id": "user", "item_id": "item"})


def _by_items(runs: Mapping[str, FinishedRun], key: str, options: SegmentOptions, split: Split) -> Segments:
    """Return the share of relevant test rows that each run recommends, by popularity of the items."""
    import pandas as pd

    k = split_key(key)[1] or 10
    hits = _relevant_rows(_first(runs))[["user", "item"]]
    pairs = pd.MultiIndex.from_frame(hits)
    for name, run in runs.items():
        lists = run.recommended()
        top = lists[lists["rank"] <= k]
        hits[name] = pairs.isin(pd.MultiIndex.from_frame(top[["user_id", "item_id"]]))
    counts = item_counts(split.train)
    groups = cut_groups(counts.where(counts > 0), _DECILES).cat.add_categories("0")
    groups = groups.fillna("0").cat.reorder_categories(["0", *groups.cat.categories[:-1]])
    metric = f"hit_rate_of_rows@{k}"
    return compare_item_groups(
        hits, groups, by="items", metric=metric, baseline=options.baseline, confidence=options.confidence
    )
