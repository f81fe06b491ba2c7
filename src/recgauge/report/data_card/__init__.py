"""The data card: what a data set and its split are, in numbers that survive a JSON round trip."""

import json
from dataclasses import asdict, dataclass
from typing import Self

from recgauge.data.split import Step
from recgauge.errors import SchemaError
from recgauge.report.distributions import Quantiles
from recgauge.utils.plain import from_plain


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
class PartCard:
    """A data set, or one part of its split.

    Users and items are those with at least one row; `density` is rows over users times items. `activity`
    and `popularity` are the shares of users, and of items, with at least so many rows; `gini` is of the
    rows of items with rows: 0 even, near 1 concentrated. `ratings` is None for implicit feedback;
    `sha256` is of the rows, with ids.
    """

    n_rows: int
    n_users: int
    n_items: int
    density: float
    ratings: RatingFacts | None
    rows_per_user: Quantiles
    rows_per_item: Quantiles
    activity: tuple[tuple[int, float], ...]
    popularity: tuple[tuple[int, float], ...]
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
class RowsOverTime:
    """Rows of each part in each period, without gaps; `starts` are ISO dates (UTC), weeks begin on Monday."""

    unit: str
    starts: tuple[str, ...]
    counts: dict[str, tuple[int, ...]]


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
    over_time: RowsOverTime | None

    @property
    def held_out(self) -> str:
        """The part that was evaluated: "test", or "validation" of a run that chooses."""
        return "test" if "test" in self.parts else "validation"

    def to_json(self) -> str:
        """Return the card as indented JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a card back; SchemaError if the text is not one."""
        try:
            plain = json.loads(text)
        except ValueError as error:
            raise SchemaError(f"DataCard: not JSON ({error}).") from error
        card: Self = from_plain(cls, plain, "DataCard")
        return card
