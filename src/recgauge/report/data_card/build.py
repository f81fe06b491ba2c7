"""Makes a data card from a data set and its split; a second or two for 20 million rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.data.split import Split, Step
from recgauge.report.data_card import (
    ColdStart,
    DataCard,
    Drift,
    HeadShare,
    PartCard,
    RatingFacts,
    TimeFacts,
)
from recgauge.report.data_card.tally import Days, Tally, day_text, group_days, tally
from recgauge.report.distributions import (
    Boundary,
    gini,
    long_tail,
    quantiles,
    share_with_at_least,
    shares_by_popularity,
)
from recgauge.runs.facts import PARTS
from recgauge.utils.checks import DoubleArray, FloatArray, LongArray

# recmetrics' long_tail_plot, and the short head of LongTailShare and Elliot
HEADS: tuple[tuple[float, Boundary], ...] = ((0.5, "tail"), (0.8, "head"))


def data_card(
    dataset: Dataset,
    split: Split | None = None,
    *,
    steps: tuple[Step, ...] = (),
    split_settings: Mapping[str, str] | None = None,
    digests: Mapping[str, str] | None = None,
) -> DataCard:
    """Describe a data set and its split in numbers.

    Parameters
    ----------
    dataset : Dataset
        After the filters.
    split : Split, optional
        Of that data set.
    steps : tuple of Step
        What filters dropped, where there is no split that knows it.
    split_settings : mapping of str to str, optional
        How the split was made, to be shown.
    digests : mapping of str to str, optional
        Digests of rows that are known already, by part: "data", "train", "validation", "test".

    Returns
    -------
    DataCard

    Raises
    ------
    SchemaError
        If the data set has no rows.

    Examples
    --------
    >>> from recgauge.datasets.demo import Demo
    >>> card = data_card(Demo().load())
    >>> card.data.n_rows, card.data.density, round(card.data.gini, 2)
    (60000, 0.04, 0.53)
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
    cold, drift = (None, None) if split is None else (_cold(tallies), _drift(split, tallies, cards))
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
        cold=cold,
        drift=drift,
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
        gini=gini(per_item[per_item > 0]),
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


def _cold(tallies: Mapping[str, Tally]) -> ColdStart:
    train, test = tallies["train"], tallies["test"]
    known_users = train.users + (tallies["fold_in"].users if "fold_in" in tallies else 0)
    counted = []
    for before, after in ((known_users, test.users), (train.items, test.items)):
        unknown = (after > 0) & (before == 0)
        n_unknown, rows = int(np.count_nonzero(unknown)), float(after[unknown].sum() / after.sum())
        counted.append((n_unknown, n_unknown / int(np.count_nonzero(after)), rows))
    (users, users_share, user_rows), (items, items_share, item_rows) = counted
    return ColdStart(users, items, users_share, items_share, user_rows, item_rows)


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
