"""Makes a data card from a data set and its split; a second or two for 20 million rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import PIECE, Interactions
from recgauge.data.split import Split, Step
from recgauge.errors import SchemaError
from recgauge.metrics.beyond.concentration import Gini
from recgauge.report.data_card import (
    ColdStart,
    DataCard,
    Drift,
    HeadShare,
    PartCard,
    RatingFacts,
    RowsOverTime,
    TimeFacts,
)
from recgauge.report.distributions import (
    Boundary,
    long_tail,
    quantiles,
    share_with_at_least,
    shares_by_popularity,
)
from recgauge.runs.facts import PARTS
from recgauge.utils.checks import DoubleArray, FloatArray, LongArray

# recmetrics' long_tail_plot, and the short head of LongTailShare and Elliot
HEADS: tuple[tuple[float, Boundary], ...] = ((0.5, "tail"), (0.8, "head"))
MOST_VALUES = 100  # distinct ratings; more are counted in bins
_BINS = 20
_DAY = 86_400
_EARLIEST, _LATEST = -719_162, 2_932_896  # days of the years 1 and 9999, which dates are written with

Unit = Literal["day", "week", "month", "year"]
# longest span in days that a unit is drawn for: about a hundred bars, and all of MovieLens' months
_SPANS: tuple[tuple[Unit, float], ...] = (("day", 92), ("week", 730), ("month", 14_610), ("year", inf))
Days = tuple[int, LongArray]  # the first day, and the rows of each day from there on


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Counts of a part's rows: `values` as `count_values` returns them, `days` as `count_days` does."""

    users: LongArray
    items: LongArray
    values: tuple[DoubleArray, LongArray, bool] | None
    days: Days | None


def data_card(
    dataset: Dataset,
    split: Split | None = None,
    *,
    steps: tuple[Step, ...] = (),
    split_settings: Mapping[str, str] | None = None,
    digests: Mapping[str, str] | None = None,
) -> DataCard:
    """Describe a data set after its filters, and its split, in numbers.

    `steps` say what filters dropped where there is no split that knows it; `digests` are those of rows that
    are known already, by part: "data", "train", "validation", "test". SchemaError if there are no rows.
    """
    known = digests or {}
    parts = {} if split is None else {name: getattr(split, name) for name in PARTS}
    rows_of = {name: part for name, part in parts.items() if part is not None and len(part)}
    rows_of["data"] = dataset.interactions
    tallies = {name: tally(part, explicit=dataset.feedback == "explicit") for name, part in rows_of.items()}
    cards = {
        name: _part(part, tallies[name], dataset.relevant_from, known.get(name) or part.sha256())
        for name, part in rows_of.items()
    }
    data = cards.pop("data")
    days = {name: found for name in cards or ("data",) if (found := tallies[name].days) is not None}
    days = _named(days, split)
    return DataCard(
        name=dataset.name,
        feedback=dataset.feedback,
        relevant_from=dataset.relevant_from,
        sha256=dataset.sha256,
        provenance=dataset.provenance,
        source=dataset.source,
        licence=dataset.licence,
        citation=dataset.citation,
        split=None if split is None else split.name,
        split_settings=dict(split_settings or {}),
        steps=steps if split is None else split.steps,
        data=data,
        parts=_named(cards, split),
        cold=None if split is None else _cold(split, cards["test"]),
        drift=None if split is None else _drift(split, tallies, cards),
        over_time=group_days(days) if days else None,
    )


def _named(parts: dict[str, Any], split: Split | None) -> dict[str, Any]:
    """Call the evaluated part what it is; a run on validation rows has no test part."""
    evaluated = "test" if split is None else split.evaluated
    return {evaluated if name == "test" else name: part for name, part in parts.items()}


def split_settings(node: Mapping[str, object], seed: int) -> dict[str, str]:
    """Return how a split is made, as text: the settings of its strategy, and the seed."""
    settings = {key: str(value) for key, value in node.items() if key not in ("_target_", "name")}
    return {**settings, "seed": str(seed)}


def _part(part: Interactions, counted: Tally, relevant_from: float | None, sha256: str) -> PartCard:
    per_user, per_item = counted.users, counted.items
    n_users, n_items = int(np.count_nonzero(per_user)), int(np.count_nonzero(per_item))
    return PartCard(
        n_rows=len(part),
        n_users=n_users,
        n_items=n_items,
        density=len(part) / (n_users * n_items),
        ratings=None if counted.values is None else _ratings(part.value, counted.values, relevant_from),
        rows_per_user=quantiles(per_user),
        rows_per_item=quantiles(per_item),
        activity=share_with_at_least(per_user),
        popularity=share_with_at_least(per_item),
        gini=Gini().value(per_item[per_item > 0].astype(np.float64)),
        heads=tuple(_head(per_item, share, boundary) for share, boundary in HEADS),
        time=_time(part.timestamp, counted.days),
        sha256=sha256,
    )


def _ratings(
    values: FloatArray, counted: tuple[DoubleArray, LongArray, bool], relevant_from: float | None
) -> RatingFacts:
    distinct, counts, binned = counted
    if binned:
        mean, deviation = float(values.mean(dtype=np.float64)), float(values.std(dtype=np.float64))
        relevant = 1.0 if relevant_from is None else float((values >= relevant_from).mean())
    else:
        mean = float(counts @ distinct / counts.sum())
        deviation = float(np.sqrt(counts @ (distinct - mean) ** 2 / counts.sum()))
        high = distinct >= (-np.inf if relevant_from is None else relevant_from)
        relevant = float(counts[high].sum() / counts.sum())
    pairs = tuple(zip(distinct.tolist(), counts.tolist(), strict=True))
    return RatingFacts(mean, deviation, pairs, binned, relevant)


def _head(per_item: LongArray, share: float, boundary: Boundary) -> HeadShare:
    table = long_tail(per_item, share, boundary)
    held = float(table.counts[table.in_head].sum() / table.counts.sum())
    return HeadShare(share, boundary, table.n_head, table.n_tail, held)


def _time(timestamps: LongArray | None, days: Days | None) -> TimeFacts | None:
    if timestamps is None or days is None:
        return None
    first, counts = days
    middle = int(np.searchsorted(np.cumsum(counts), (counts.sum() + 1) // 2))
    return TimeFacts(int(timestamps.min()), int(timestamps.max()), day_text(first + middle))


def _cold(split: Split, test: PartCard) -> ColdStart:
    counts = split.cold_counts()
    users, items = counts["test_cold_users"], counts["test_cold_items"]
    shares = users / test.n_users, items / test.n_items
    rows = (counts[name] / test.n_rows for name in ("test_cold_user_rows", "test_cold_item_rows"))
    return ColdStart(users, items, *shares, *rows)


def _drift(split: Split, tallies: Mapping[str, Tally], parts: Mapping[str, PartCard]) -> Drift:
    train, test = split.train, split.test
    before, after = tallies["train"].items, tallies["test"].items
    groups = shares_by_popularity(before, after)
    late = early = None
    if train.timestamp is not None and test.timestamp is not None:
        late = float((test.timestamp > train.timestamp.max()).mean())
        early = float((train.timestamp > test.timestamp.min()).mean())
    return Drift(
        ratings=_ratings_drift(parts["train"].ratings, parts["test"].ratings),
        popularity=float(np.abs(groups[0] - groups[1]).sum() / 2),
        groups=tuple(zip(groups[0].tolist(), groups[1].tolist(), strict=True)),
        popularity_of_train=float(before @ before / len(train)),
        popularity_of_test=float(before @ after / len(test)),
        test_after_train=late,
        train_after_first_test=early,
    )


def _ratings_drift(train: RatingFacts | None, test: RatingFacts | None) -> float | None:
    if train is None or test is None or train.binned or test.binned:
        return None  # bins of two parts need not be the same
    one, other = (dict(part.values) for part in (train, test))
    n_one, n_other = sum(one.values()), sum(other.values())
    values = sorted(one.keys() | other.keys())
    return sum(abs(one.get(v, 0) / n_one - other.get(v, 0) / n_other) for v in values) / 2


def tally(part: Interactions, *, explicit: bool) -> Tally:
    """Count the rows of a part; `explicit`: its values are ratings."""
    values = count_values(part.value) if explicit else None
    return Tally(part.user_counts(), part.item_counts(), values, _days(part.timestamp))


def count_values(values: FloatArray) -> tuple[DoubleArray, LongArray, bool]:
    """Return the distinct ratings, rising, their counts, and whether these are bins (of more than 100)."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= MOST_VALUES:
        return distinct.astype(np.float64), counts.astype(np.int64), False
    counts, edges = np.histogram(values, bins=_BINS)
    return (edges[1:] + edges[:-1]).astype(np.float64) / 2, counts.astype(np.int64), True


def _days(timestamps: LongArray | None) -> Days | None:
    """Return the rows of each day; None without times, or with times that no calendar knows."""
    try:
        return None if timestamps is None else count_days(timestamps)
    except SchemaError:
        return None  # a card must not end a run whose models never look at times


def count_days(timestamps: LongArray) -> Days:
    """Return the first day, counted from 1970-01-01, and the rows of that day and each day after it."""
    first, last = int(timestamps.min()) // _DAY, int(timestamps.max()) // _DAY
    if first < _EARLIEST or last > _LATEST:
        raise SchemaError(
            f"Times must be in the years 1 to 9999, got {int(timestamps.min())} to {int(timestamps.max())} "
            "seconds since 1970. Are they milliseconds? Set dataset.time_unit."
        )
    counts = np.zeros(last - first + 1, np.int64)
    step = max(PIECE, 4 * len(counts))
    for begin in range(0, len(timestamps), step):
        counts += np.bincount(timestamps[begin : begin + step] // _DAY - first, minlength=len(counts))
    return first, counts


def over_time(timestamps: Mapping[str, LongArray], unit: Unit | None = None) -> RowsOverTime:
    """Count the rows of each period.

    Days up to three months, weeks up to two years, months up to forty years, else years; or as `unit` says.
    """
    return group_days({name: count_days(times) for name, times in timestamps.items() if len(times)}, unit)


def group_days(per_day: Mapping[str, Days], unit: Unit | None = None) -> RowsOverTime:
    """Add up the days of each part to periods."""
    if not per_day:
        raise SchemaError("over_time: timestamps must hold rows, got none.")
    first = min(start for start, _ in per_day.values())
    last = max(start + len(counts) - 1 for start, counts in per_day.values())
    by_span = next(name for name, days in _SPANS if last - first < days)
    starts = _periods(first, last, unit or by_span)
    counts = {}
    for name, (start, days) in per_day.items():
        period = np.searchsorted(starts, start + np.arange(len(days)), side="right") - 1
        added = np.bincount(period, days.astype(np.float64), minlength=len(starts))
        counts[name] = tuple(added.astype(np.int64).tolist())
    return RowsOverTime(unit or by_span, tuple(map(day_text, starts)), counts)


def day_text(day: int) -> str:
    """Return the ISO date of a day counted from 1970-01-01."""
    return str(np.datetime64(int(day), "D"))


def _periods(first: int, last: int, unit: Unit) -> LongArray:
    """Return the first day of every period from that of `first` to that of `last`."""
    if unit == "day":
        return np.arange(first, last + 1)
    if unit == "week":
        return np.arange(first - (first + 3) % 7, last + 1, 7)  # 1970 began on a Thursday
    ends = np.array([first, last], dtype="datetime64[D]").astype(f"datetime64[{unit[0].upper()}]")
    return np.arange(ends[0], ends[1] + 1).astype("datetime64[D]").astype(np.int64)
