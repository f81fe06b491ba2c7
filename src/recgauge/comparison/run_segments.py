"""Who gains and who loses among finished runs: groups of users or items, from the data of the runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from recgauge.comparison.groups import activity, cut_groups, days_in_data, held_popularity, item_counts, taste
from recgauge.comparison.run_groups import group
from recgauge.comparison.runs import name_runs, reference_key
from recgauge.comparison.segments import Segments, compare_item_groups, segments_of
from recgauge.comparison.user_tables import UserGroups, UserTable
from recgauge.comparison.user_values import UserValues
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import is_relevant
from recgauge.data.split import Split
from recgauge.errors import ConfigError, did_you_mean, listed
from recgauge.metrics.names import split_key
from recgauge.runs.finished import FinishedRun

if TYPE_CHECKING:
    import pandas as pd

OF_USERS = ("activity", "item_popularity", "age", "genre")
BUILT_IN = (*OF_USERS, "items")
_DECILES = 10


def segment_runs(  # noqa: PLR0913 - what a command asks, by name
    runs: Sequence[FinishedRun],
    by: Sequence[str],
    load: Callable[[FinishedRun], tuple[Dataset, Split]],
    *,
    metric: str = "",
    users: UserTable | None = None,
    n_groups: int = 4,
    baseline: str | None = None,
    confidence: float = 0.95,
) -> list[Segments]:
    """Compare finished runs inside groups of users or items.

    Parameters
    ----------
    runs : sequence of FinishedRun
        As of `recgauge.tracking.find_runs`. Of runs that differ in seed or fold alone, the first counts,
        since not all have the same test users.
    by : sequence of str
        Attributes: of `BUILT_IN`, or columns of `users`.
    load : callable
        Loads data and split of a run.
    metric : str
        Such as ``ndcg@10``; empty: nDCG at 10, else at the largest cutoff.
    users : UserTable, optional
        A table of the user's own.
    n_groups : int
        Into how many groups numbers are cut.
    baseline : str, optional
        The run that others are compared with; the first if not given.
    confidence : float

    Returns
    -------
    list of Segments
        One for each attribute.

    Raises
    ------
    RecgaugeError
        If runs differ in more than the model, or an attribute or the data cannot be used.
    """
    groups = group(runs)
    named = name_runs([repeats.runs[0] for repeats in groups])
    data = load(next(iter(named.values())))
    key, notes = reference_key(named, metric), tuple[str, ...]()
    if len(named) < len(runs):
        seed = next(iter(named.values())).record.seed
        notes = (f"Of the first seed or fold alone (seed {seed}): others have other test users.",)
    of_attribute = partial(segments_by, n_groups=n_groups, baseline=baseline, confidence=confidence)
    made = [of_attribute(attribute, named, key, *data, users) for attribute in by]
    return [replace(each, notes=(*each.notes, *notes)) for each in made]


def segments_by(  # noqa: PLR0913 - likewise
    by: str,
    runs: Mapping[str, FinishedRun],
    key: str,
    dataset: Dataset,
    split: Split,
    users: UserTable | None = None,
    *,
    n_groups: int = 4,
    baseline: str | None = None,
    confidence: float = 0.95,
) -> Segments:
    """Return the runs compared inside the groups of one attribute."""
    if by == "items":
        return _by_items(runs, key, split, baseline, confidence)
    first = next(iter(runs.values()))
    groups = groups_by(by, n_groups, users, lambda: (first, dataset, split), "--by", BUILT_IN)
    entry = first.record.result(key)
    values = {name: run.values([key]) for name, run in runs.items()}
    paired = UserValues.paired(values, {key: entry is None or entry.higher_is_better})
    (segments,) = segments_of(paired, groups, baseline=baseline, confidence=confidence)
    if users is None or by not in users.columns:  # the run's own data have all its users
        segments = replace(segments, notes=())
    if any(key in of_run.pooled for of_run in values.values()):
        rows = "queries" if split_key(key)[1] else "ratings"
        note = f"Means over users; the number of a run is over all {rows}."
        segments = replace(segments, notes=(*segments.notes, note))
    return segments


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
        return held_popularity(split.train, _by_owner(_relevant_rows(run), split))
    if dataset.item_features is None:
        raise ConfigError(f"--by genre: {dataset.name} has no genres or other features of items.")
    return taste(split.history, dataset.item_features)


def _relevant_rows(run: FinishedRun) -> "pd.DataFrame":
    """Return the distinct relevant test rows as columns user and item."""
    rows, lowest = run.test(), run.record.dataset.relevant_from
    kept = rows if lowest is None else rows[is_relevant(rows["rating"], lowest)]
    return kept.drop_duplicates(["user_id", "item_id"]).rename(columns={"user_id": "user", "item_id": "item"})


def _by_owner(rows: "pd.DataFrame", split: Split) -> "pd.DataFrame":
    """Return rows with the user of each query in place of the query."""
    if split.sequences is None or split.query_of is None:
        return rows
    codes, ids = split.test_users, split.test.user_ids
    owners = split.sequences.rows.user_ids[split.query_of[codes]].tolist()
    return rows.assign(user=rows["user"].map(dict(zip(ids[codes].tolist(), owners, strict=True))))


def _by_items(
    runs: Mapping[str, FinishedRun], key: str, split: Split, baseline: str | None, confidence: float
) -> Segments:
    """Return the share of relevant test rows that each run recommends, by popularity of the items."""
    import pandas as pd

    k = split_key(key)[1] or 10
    hits = _relevant_rows(next(iter(runs.values())))[["user", "item"]]
    pairs = pd.MultiIndex.from_frame(hits)
    for name, run in runs.items():
        lists = run.recommended()
        top = lists[lists["rank"] <= k]
        hits[name] = pairs.isin(pd.MultiIndex.from_frame(top[["user_id", "item_id"]]))
    hits = _by_owner(hits, split)
    counts = item_counts(split.train)
    groups = cut_groups(counts.where(counts > 0), _DECILES).cat.add_categories("0")
    groups = groups.fillna("0").cat.reorder_categories(["0", *groups.cat.categories[:-1]])
    metric = f"hit_rate_of_rows@{k}"
    return compare_item_groups(
        hits, groups, by="items", metric=metric, baseline=baseline, confidence=confidence
    )
