"""The data card: what a data set and its split are, in numbers, and as JSON.

Making one takes a second or two for 20 million rows.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import fsum, inf
from typing import Self

import numpy as np
import numpy.typing as npt

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions, is_relevant
from recgauge.data.popularity import gini, shares_by_popularity, short_head
from recgauge.data.split import Split, Step
from recgauge.errors import SchemaError
from recgauge.utils.checks import DoubleArray, FloatArray, LongArray
from recgauge.utils.plain import from_plain

_PARTS = ("train", "fold_in", "validation", "test")
# recmetrics' long_tail_plot, and the short head of LongTailShare and Elliot
_HEADS = ((0.5, "tail"), (0.8, "head"))
_MOST_VALUES = 100  # distinct ratings; more are counted in bins
_BINS = 20
_DAY = 86_400
_EARLIEST, _LATEST = -719_162, 2_932_896  # days of the years 1 and 9999, which dates are written with


@dataclass(frozen=True, slots=True)
class HeadShare:
    """How few items hold a share of the rows.

    The item that crosses the share is in the head or the tail, as `boundary` says; `n_head` and `n_tail`
    are items with rows on either side, `head_rows` the share of the rows that the head holds.
    """

    share: float
    boundary: str
    n_head: int
    n_tail: int
    head_rows: float


@dataclass(frozen=True, slots=True)
class RatingFacts:
    """The ratings of a part.

    `deviation` is over all rows (divided by n); `values` are distinct ratings, rising, and their counts,
    middles of bins (`binned`) where there are more than 100; `relevant` is the share of the rows that
    would be relevant if held out.
    """

    mean: float
    deviation: float
    values: tuple[tuple[float, int], ...]
    binned: bool
    relevant: float


@dataclass(frozen=True, slots=True)
class TimeFacts:
    """When the rows of a part happened: seconds since 1970 UTC, and the ISO date of the middle row."""

    first: int
    last: int
    median_day: str


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The distribution of the counts, of those with at least one row; `highest_tenth` is the 0.9 quantile."""

    lowest: int
    lower_quartile: float
    median: float
    mean: float
    upper_quartile: float
    highest_tenth: float
    highest_hundredth: float
    highest: int


@dataclass(frozen=True, slots=True)
class PartCard:
    """A data set, or one part of its split.

    Users and items are those with at least one row; `density` is rows over users times items; `gini` is of
    the rows of items with rows: 0 even, near 1 concentrated. `ratings` is None for implicit feedback, `time`
    without times, or with times that no calendar knows; `sha256` is of the rows, with ids.
    """

    n_rows: int
    n_users: int
    n_items: int
    density: float
    ratings: RatingFacts | None
    rows_per_user: Quantiles
    rows_per_item: Quantiles
    gini: float
    heads: tuple[HeadShare, ...]
    time: TimeFacts | None
    sha256: str


@dataclass(frozen=True, slots=True)
class ColdStart:
    """What of the test part the training part does not know: test users and items without a training row.

    `users_share` and `items_share` are of the test users and items, `rows_of_users` and `rows_of_items`
    the shares of the test rows that are theirs.
    """

    users: int
    items: int
    users_share: float
    items_share: float
    rows_of_users: float
    rows_of_items: float


@dataclass(frozen=True, slots=True)
class Drift:
    """How the test part differs from the training part."""

    # share of the ratings that would have to change for equal distributions: half the sum of absolute
    # differences (total variation distance); None for implicit feedback
    ratings: float | None
    popularity: float  # the same of the shares of ten groups of items
    groups: tuple[tuple[float, float], ...]  # those shares of training and of test rows, most popular first
    popularity_of_train: float  # mean number of training rows of the item of a training row
    popularity_of_test: float  # and of a test row
    test_after_train: float | None  # share of the test rows later than every training row
    train_after_first_test: float | None  # share of the training rows later than the earliest test row


@dataclass(frozen=True, slots=True)
class DataCard:
    """A data set after its filters, and its split if there is one.

    `sha256` is of the file that was read, `split_settings` those of the strategy, and the seed, where
    they are known; `steps` say what was dropped, in order; `parts` are train, validation, test.
    """

    name: str
    feedback: str
    relevant_from: float | None
    sha256: str
    provenance: str
    source: str
    licence: str
    citation: str | None
    split: str | None
    split_settings: dict[str, str]
    steps: tuple[Step, ...]
    data: PartCard
    parts: dict[str, PartCard]
    cold: ColdStart | None
    drift: Drift | None

    def to_json(self) -> str:
        """Return the card as indented JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a card back; SchemaError if the text is not one."""
        try:
            plain = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SchemaError(f"DataCard: not JSON ({error}).") from error
        card: Self = from_plain(cls, plain, "DataCard")
        return card


def data_card(
    dataset: Dataset,
    split: Split | None = None,
    *,
    steps: tuple[Step, ...] = (),
    split_settings: Mapping[str, object] | None = None,
    digests: Mapping[str, str] | None = None,
) -> DataCard:
    """Describe a data set after its filters, and its split, in numbers.

    `steps` say what filters dropped where there is no split that knows it; `split_settings` are those of the
    strategy's node, and the seed; `digests` are those of rows that are known already, by part: "train",
    "validation", "test". SchemaError if there are no rows.
    """
    parts = {}
    for name in _PARTS if split is not None else ():
        part: Interactions | None = getattr(split, name)
        if part is not None and len(part):
            # the evaluated part is called what it is: a run on validation rows has no test part
            shown = split.evaluated if split is not None and name == "test" else name
            parts[shown] = _part(part, dataset, (digests or {}).get(name))
    settings = {
        key: str(value) for key, value in (split_settings or {}).items() if key not in ("_target_", "name")
    }
    cold, drift = (None, None) if split is None else _against_train(split, parts)
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
        split_settings=settings,
        steps=steps if split is None else split.steps,
        data=_part(dataset.interactions, dataset, None),
        parts=parts,
        cold=cold,
        drift=drift,
    )


def _part(part: Interactions, dataset: Dataset, sha256: str | None) -> PartCard:
    per_user, per_item = part.user_counts(), part.item_counts()
    active_users, rated_items = per_user[per_user > 0], per_item[per_item > 0]
    heads = []
    for share, boundary in _HEADS:
        head = per_item[short_head(per_item, share, boundary) & (per_item > 0)]
        held = float(head.sum() / len(part))
        heads.append(HeadShare(share, boundary, len(head), len(rated_items) - len(head), held))
    time = None
    if part.timestamp is not None:
        first, last = int(part.timestamp.min()), int(part.timestamp.max())
        # a card must not end a run whose models never look at times
        if first // _DAY >= _EARLIEST and last // _DAY <= _LATEST:
            place = (len(part) - 1) // 2
            middle = int(np.partition(part.timestamp, place)[place]) // _DAY
            time = TimeFacts(first, last, str(np.datetime64(middle, "D")))
    return PartCard(
        n_rows=len(part),
        n_users=len(active_users),
        n_items=len(rated_items),
        density=len(part) / (len(active_users) * len(rated_items)),
        ratings=_ratings(part.value, dataset.relevant_from) if dataset.feedback == "explicit" else None,
        rows_per_user=_quantiles(active_users),
        rows_per_item=_quantiles(rated_items),
        gini=gini(rated_items.astype(np.float64), len(rated_items)),
        heads=tuple(heads),
        time=time,
        sha256=sha256 or part.sha256(),
    )


def _quantiles(counts: LongArray) -> Quantiles:
    """Describe counts, interpolated between the two nearest."""
    q25, q50, q75, q90, q99 = np.quantile(counts, (0.25, 0.5, 0.75, 0.9, 0.99)).tolist()
    return Quantiles(int(counts.min()), q25, q50, float(counts.mean()), q75, q90, q99, int(counts.max()))


def _ratings(values: FloatArray, relevant_from: float | None) -> RatingFacts:
    distinct, counts, binned = count_ratings(values)
    lowest = -inf if relevant_from is None else relevant_from
    if binned:
        mean, deviation = float(values.mean(dtype=np.float64)), float(values.std(dtype=np.float64))
        relevant = float(is_relevant(values, lowest).mean())
    else:
        mean = float(counts @ distinct / counts.sum())
        deviation = float(np.sqrt(counts @ (distinct - mean) ** 2 / counts.sum()))
        relevant = float(counts[is_relevant(distinct, lowest)].sum() / counts.sum())
    pairs = tuple(zip(distinct.tolist(), counts.tolist(), strict=True))
    return RatingFacts(mean, deviation, pairs, binned, relevant)


def count_ratings(values: npt.NDArray[np.floating]) -> tuple[DoubleArray, LongArray, bool]:
    """Return the distinct ratings, rising, their counts, and whether these are bins (of more than 100)."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= _MOST_VALUES:
        return distinct.astype(np.float64), counts.astype(np.int64), False
    counts, edges = np.histogram(values, bins=_BINS)
    return (edges[1:] + edges[:-1]).astype(np.float64) / 2, counts.astype(np.int64), True


def _against_train(split: Split, parts: Mapping[str, PartCard]) -> tuple[ColdStart, Drift]:
    train, test = split.train, split.test
    own, held_out = parts["train"], parts[split.evaluated]
    counts = split.cold_counts()
    users, items = counts["test_cold_users"], counts["test_cold_items"]
    shares = users / held_out.n_users, items / held_out.n_items
    rows = (counts[name] / held_out.n_rows for name in ("test_cold_user_rows", "test_cold_item_rows"))
    ratings = late = early = None
    # bins of two parts need not be the same
    if own.ratings and held_out.ratings and not (own.ratings.binned or held_out.ratings.binned):
        before, after = dict(own.ratings.values), dict(held_out.ratings.values)
        differences = (
            abs(before.get(value, 0) / own.n_rows - after.get(value, 0) / held_out.n_rows)
            for value in sorted(before.keys() | after.keys())
        )
        ratings = fsum(differences) / 2
    if train.timestamp is not None and test.timestamp is not None:
        late = float((test.timestamp > train.timestamp.max()).mean())
        early = float((train.timestamp > test.timestamp.min()).mean())
    in_train, in_test = train.item_counts(), test.item_counts()
    groups = shares_by_popularity(in_train, in_test)
    return ColdStart(users, items, *shares, *rows), Drift(
        ratings=ratings,
        popularity=float(np.abs(groups[0] - groups[1]).sum() / 2),
        groups=tuple(zip(groups[0].tolist(), groups[1].tolist(), strict=True)),
        popularity_of_train=float(in_train @ in_train / len(train)),
        popularity_of_test=float(in_train @ in_test / len(test)),
        test_after_train=late,
        train_after_first_test=early,
    )
