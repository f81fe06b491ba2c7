"""Who gains and who loses among finished runs: groups of users or items, from the data of the runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recgauge.comparison.conditions import Condition, label, only_condition, reference_key, split_key
from recgauge.comparison.groups import (
    activity,
    cut_groups,
    days_in_data,
    held_popularity,
    item_counts,
    taste,
)
from recgauge.comparison.runs import agreeing
from recgauge.comparison.segments import Segments, compare_item_groups, compare_segments
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.errors import ConfigError, RecgaugeError, SchemaError, did_you_mean, listed
from recgauge.files.limits import Limits
from recgauge.files.opening import TableFile
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.stored import RunFolder
from recgauge.utils.checks import check_int
from recgauge.utils.files import refuse_irregular

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.runs.record import RunRecord

BUILT_IN = ("activity", "item_popularity", "age", "genre", "items")
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

    def __post_init__(self) -> None:
        if not self.by:
            raise ConfigError(f"--by: names no group; there are {listed(BUILT_IN)}.")
        check_int("--groups", self.groups, minimum=2)
        check_int("--examples", self.examples, minimum=0)


@dataclass(frozen=True, eq=False)
class RunSegments:
    """Finished runs compared inside groups.

    Parameters
    ----------
    segments : tuple of Segments
        One for each attribute.
    runs : Condition
    key : str
        The metric.
    dataset : Dataset
    split : Split
        The data of the runs, loaded again.
    notes : tuple of str
        What was left out.
    """

    segments: tuple[Segments, ...]
    runs: Condition
    key: str
    dataset: Dataset
    split: Split
    notes: tuple[str, ...] = ()


def segment_runs(
    runs: Sequence[JobOutcome],
    options: SegmentOptions,
    load: Callable[[RunFolder, Sequence[str]], tuple[Dataset, Split]],
    *,
    choose: bool = False,
) -> RunSegments:
    """Compare finished runs inside groups of users or items.

    Parameters
    ----------
    runs : sequence of JobOutcome
        With records, as of `recgauge.tracking.find_runs`.
    options : SegmentOptions
    load : callable
        Loads data and split of a run; gets the run and the packages that may be used.
    choose : bool
        Take the most runs that differ in the model alone instead of refusing the others.

    Raises
    ------
    RecgaugeError
        If runs differ in more than the model, or an attribute or the data cannot be used.
    """
    runs, notes = _largest_group(runs) if choose else (runs, [])
    alike = only_condition([RunFolder(run.record, run.folder) for run in runs if run.record is not None])
    own = own_table(options.users)
    dataset, split = load(alike.first, options.packages)
    key = reference_key(alike, options.metric)
    found = tuple(segments_by(by, alike, key, options, own, dataset, split) for by in options.by)
    return RunSegments(found, alike, key, dataset, split, tuple(notes))


def _largest_group(runs: Sequence[JobOutcome]) -> tuple[list[JobOutcome], list[str]]:
    """Return the most runs on one data set that differ in the model alone, one seed of each, and a note."""
    agree, notes = agreeing(runs)
    groups: dict[tuple[str, str], list[tuple[JobOutcome, RunRecord]]] = {}
    for run in agree:
        if (record := run.record) is not None:
            place = record.names["dataset"], record.split.train.sha256
            groups.setdefault(place, []).append((run, record))
    if not groups:
        return list(runs), []
    kept = max(groups.values(), key=len)
    if others := len(agree) - len(kept):
        record = kept[0][1]
        notes.append(
            f"{others} runs on other data or with another seed are left out; these are on "
            f"{record.names['dataset']}, seed {record.seed}. Name runs to choose others"
        )
    return [run for run, _ in kept], notes


def segments_by(
    by: str,
    runs: Condition,
    key: str,
    options: SegmentOptions,
    own: "pd.DataFrame | None",
    dataset: Dataset,
    split: Split,
) -> Segments:
    """Return the runs compared inside the groups of one attribute."""
    if by == "items":
        return _by_items(runs, key, options, split)
    values = runs.values(key)
    values.index = values.index.map(str)
    groups = grouped(user_attribute(by, runs, own, dataset, split), options.groups)
    groups.index = groups.index.map(str)
    entry = runs.first.record.result(key)
    return compare_segments(
        values,
        groups,
        by=by,
        metric=label(key),
        baseline=options.baseline,
        higher_is_better=entry is None or entry.higher_is_better,
        confidence=options.confidence,
    )


def user_attribute(
    by: str, runs: Condition, own: "pd.DataFrame | None", dataset: Dataset, split: Split
) -> "pd.Series":
    """Return a number or a word for every user, by user id."""
    if own is not None and by in own:
        return own[by]
    if by == "activity":
        return activity(split.history)
    if by == "age":
        return days_in_data(split.history).round()
    if by == "item_popularity":
        return held_popularity(split.train, _relevant_rows(runs))
    if by == "genre":
        if dataset.item_features is None:
            raise ConfigError(f"--by genre: {dataset.name} has no genres or other features of items.")
        return taste(split.history, dataset.item_features)
    columns = [] if own is None else [str(name) for name in own.columns]
    hint = did_you_mean(by, [*BUILT_IN, *columns])
    own_hint = "" if own is not None else " A column of your own table needs --users TABLE."
    raise ConfigError(f"--by: there is no {by}. {hint}There are {listed([*BUILT_IN, *columns])}.{own_hint}")


def grouped(values: "pd.Series", n_groups: int) -> "pd.Series":
    """Return the group of each user: numbers cut where there are many different ones, words as they are."""
    if values.dtype.kind in "iuf" and values.nunique() > n_groups:
        return cut_groups(values, n_groups)
    return values.dropna()


def _relevant_rows(runs: Condition) -> "pd.DataFrame":
    """Return the distinct relevant test rows as columns user and item."""
    rows, lowest = runs.first.test(), runs.first.record.dataset.relevant_from
    kept = rows if lowest is None else rows[rows["rating"] >= lowest]
    return kept.drop_duplicates(["user_id", "item_id"]).rename(columns={"user_id": "user", "item_id": "item"})


def _by_items(runs: Condition, key: str, options: SegmentOptions, split: Split) -> Segments:
    """Return the share of relevant test rows that each run recommends, by popularity of the items."""
    import pandas as pd

    k = split_key(key)[1] or 10
    hits = _relevant_rows(runs)[["user", "item"]]
    pairs = pd.MultiIndex.from_frame(hits)
    for model, run in runs.runs.items():
        lists = run.recommended()
        top = lists[lists["rank"] <= k]
        hits[model] = pairs.isin(pd.MultiIndex.from_frame(top[["user_id", "item_id"]]))
    counts = item_counts(split.train)
    groups = cut_groups(counts.where(counts > 0), _DECILES).cat.add_categories("0")
    groups = groups.fillna("0").cat.reorder_categories(["0", *groups.cat.categories[:-1]])
    metric = f"hit_rate_of_rows@{k}"
    return compare_item_groups(
        hits, groups, by="items", metric=metric, baseline=options.baseline, confidence=options.confidence
    )


def _rows_of(path: Path) -> "pd.DataFrame":
    """Read a table of the user's within the limits of other files."""
    import pandas as pd

    refuse_irregular(path, "--users")
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    file = TableFile(path, limits=Limits(adjustable=False))
    file.size()
    with file.open() as stream:
        first = stream.readline()
    file.limits.check_columns(max(map(first.count, (b",", b";", b"\t", b"|", b" "))) + 1, file)
    with file.open() as stream:
        return pd.read_csv(stream, sep=None, engine="python")


def own_table(path: Path | None) -> "pd.DataFrame | None":
    """Read a user's own table of users, by user id; None where there is none."""
    if path is None:
        return None
    try:
        rows = _rows_of(path)
    except RecgaugeError:  # some are OSErrors and ValueErrors, too
        raise
    except (OSError, ValueError) as error:
        raise ConfigError(f"--users: {path} cannot be read as a table: {error}.") from error
    column = next((name for name in ("user_id", "user") if name in rows), None)
    if column is None:
        raise SchemaError(f"--users: {path} needs a column user_id; it has {listed(rows.columns)}.")
    if len(twice := rows[column][rows[column].duplicated()]):
        raise SchemaError(f"--users: {path} has user {twice.iloc[0]} in several rows; keep one.")
    return rows.set_index(column)
