"""The split that a publisher made: from the data set's own archive, or from files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from recgauge.data.dataset import Dataset, PublishedParts, PublishedSplits
from recgauge.data.ids import IdArray
from recgauge.data.interactions import Interactions, pair_codes
from recgauge.data.meeting import Meeting, meet, require_meeting
from recgauge.data.split import Split, Step
from recgauge.datasets.table import Table
from recgauge.errors import ConfigError, SchemaError
from recgauge.files.limits import Limits
from recgauge.splits import Assignment, ColdRows, Splitter
from recgauge.splits._order import scramble
from recgauge.utils.checks import BoolArray, LongArray, Share, shown, text_array

Paths = str | Sequence[str]
_PARTS = ("test", "validation", "train")
_OF_TABLES = ("format", "member", "limits", "user", "item", "header", "separator", "quotes", "encoding")
_OF_CELLS = ("missing", "unused", "implausible")


@dataclass(frozen=True, slots=True, eq=False)
class _Matched:
    """The rows of each part, and published rows that the data set does not have.

    `counts` are of the rows that the publisher's files name, by part, as far as there are files; `n_absent`
    of those that the data set does not have, or not so often; `first_absent` is one of them in words.
    """

    assignment: Assignment
    counts: dict[str, int]
    n_absent: int
    first_absent: str


def match(parts: PublishedParts, interactions: Interactions) -> _Matched:
    """Return the rows whose user and item ids are those of published pairs.

    Ids that are numbers on one side and text on the other are compared as text. A pair may have several rows
    and be in several parts: each part gets as many of its rows as it names, test the last ones of the table,
    validation those before, train those before these. Where rows are missing, train goes without first.
    """
    published, codes = parts.named, pair_codes(interactions)
    rows = len(codes) - 1 - np.argsort(codes[::-1], kind="stable")  # by pair, of each its last row first
    pairs = np.concatenate([_codes_of(part, interactions) for part in published.values()])
    order = np.argsort(pairs, kind="stable")  # by pair, of each those of the test part first
    first, after = (np.searchsorted(codes[rows], pairs[order], side=side) for side in ("left", "right"))
    place = first + np.arange(len(order)) - np.searchsorted(pairs[order], pairs[order])
    there = place < after
    counts = {name: len(part) for name, part in published.items()}
    part_of = np.zeros(len(codes), np.int8)
    part_of[rows[place[there]]] = np.repeat(np.arange(1, len(counts) + 1), [*counts.values()])[order[there]]
    masks = {name: part_of == number for number, name in enumerate(counts, start=1)}
    unused: tuple[tuple[str, BoolArray], ...] = ()
    if "train" in masks:
        unused = (("rows that the published split does not name", part_of == 0),)
    assignment = Assignment(masks["test"], masks.get("validation"), unused=unused)
    absent = np.sort(order[~there])
    first_absent = _in_words(published, int(absent[0])) if len(absent) else ""
    return _Matched(assignment, counts, len(absent), first_absent)


def _codes_of(part: Interactions, interactions: Interactions) -> LongArray:
    """Return the pair codes that published rows have in a data set, -1 where it does not have an id."""
    users = positions_of(part.user_ids, interactions.user_ids)[part.user]
    items = positions_of(part.item_ids, interactions.item_ids)[part.item]
    return np.where((users >= 0) & (items >= 0), users * interactions.n_items + items, -1)


def _in_words(published: Mapping[str, Interactions], row: int) -> str:
    """Return a row of all published ones."""
    for name, part in published.items():
        if row < len(part):
            user, item = part.user_ids[part.user[row]], part.item_ids[part.item[row]]
            return f"user {shown(user)} and item {shown(item)} ({name})"
        row -= len(part)
    return ""


def _alike(first: IdArray, second: IdArray) -> tuple[IdArray, IdArray]:
    """Return ids that are numbers on one side and text on the other as text."""
    if (first.dtype.kind in "iu") == (second.dtype.kind in "iu"):
        return first, second
    return text_array(list(map(str, first))), text_array(list(map(str, second)))


def positions_of(ids: IdArray, catalogue: IdArray) -> LongArray:
    """Return the position of each id in `known`, -1 where it is not there."""
    ids, catalogue = _alike(ids, catalogue)
    if len(catalogue) == 0:
        return np.full(len(ids), -1, dtype=np.int64)
    order = np.argsort(catalogue, kind="stable")
    at = np.minimum(np.searchsorted(catalogue, ids, sorter=order), len(catalogue) - 1)
    positions: LongArray = np.where(catalogue[order[at]] == ids, order[at], -1)
    return positions


@dataclass(frozen=True)
class Published(Splitter):
    """Hold out the rows that a publisher held out; rows are matched by user and item id.

    The data set loads all rows; the published split says which of them are test.

    Parameters
    ----------
    fold : str, optional
        Name of a published split of the data set, such as ``u1`` of ml_100k; may be left out if the data
        set has a single one. Not together with files.
    test : str or sequence of str, optional
        File or files with the test rows; folders and addresses as of ``dataset=table``.
    validation : str or sequence of str, optional
        With the validation rows; None makes no validation part, unless `validation_size` does.
    validation_size : float
        Share of the published training rows in validation, in [0, 1), drawn from the run's seed: for choosing
        settings on a split that has no validation rows. The test part stays the publisher's.
    train : str or sequence of str, optional
        With the training rows; rows of the data set in no file are then not used, and counted. None: all
        rows in no other file are for training.
    format, user, item, header, separator, quotes, encoding, member, missing, unused, implausible
        How the files are read: as those of ``dataset=table``, see `Table`. Ratings and times are those of the
        data set, whatever the files say. A row that cannot be read is an error.
    limits : Limits or mapping, optional
        How large the files may be, see `Table`.
    source : PublishedSplits, optional
        The published splits of the data set; `for_dataset` sets it.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`; both "keep": the test part is the publisher's.

    Raises
    ------
    ConfigError
        If neither or both of `fold` and files are given, or the data set has no such split; or if validation
        rows are to be drawn where the publisher has some.
    MissingDataError
        If a file is absent.
    SchemaError
        If the files name rows that the data set does not have, unless filters dropped as many.

    Notes
    -----
    A pair may have several rows and be in several parts: each part gets as many of its rows as it names, test
    the last ones of the table, validation those before, train the others. A row that a filter drops is in no
    part, and counted by the filter; a step says how many rows of each part are left. Where a filter leaves
    one row of a pair that was in two parts, that is the test row. Does not depend on the order of the rows if
    no (user, item) pair repeats.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["ann", "ann", "bob"], ["x", "y", "x"])
    >>> parts = PublishedParts(test=Interactions.from_ids(["ann"], ["y"]))
    >>> source = PublishedSplits("mine", {"theirs": lambda: parts})
    >>> split = Published(source=source).split(ratings, rng=np.random.default_rng(0))
    >>> split.test.item_ids[split.test.item].tolist()
    ['y']
    """

    fold: str | None = None
    test: Paths | None = None
    validation: Paths | None = None
    train: Paths | None = None
    format: str | None = None
    user: str | int | None = None
    item: str | int | None = None
    header: bool | None = None
    separator: str | None = None
    quotes: bool | None = None
    encoding: str = "utf-8"
    member: str | None = None
    missing: Sequence[str] = ()
    unused: Sequence[str] = ()
    implausible: Literal["refuse", "keep"] = "refuse"
    limits: Limits | Mapping[str, Any] | None = None
    source: PublishedSplits | None = None
    whole: str | None = field(default=None, init=False)  # the publisher has split the rows already
    validation_size: Share = 0.0
    cold_users: ColdRows = field(default="keep", kw_only=True)

    name: ClassVar[str] = "published"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validation_size == 1.0:
            raise ConfigError("Published: validation_size must be below 1, so that training rows are left.")
        files = [part for part in ("train", "validation", "test") if getattr(self, part) is not None]
        if files and self.fold is not None:
            raise ConfigError(
                f"Published: fold names a split of the data set, {', '.join(files)} name files; set either, "
                "not both."
            )
        if files and self.test is None:
            raise ConfigError(f"Published: {', '.join(files)} needs test=FILE as well, got none.")
        for part in files:
            self._table(part)

    def for_dataset(self, dataset: Dataset) -> Self:
        """Return the strategy with the published splits of `dataset`."""
        return replace(self, source=dataset.published)

    def split(
        self,
        interactions: Interactions,
        *,
        rng: np.random.Generator,
        steps: tuple[Step, ...] = (),
        overlap: bool = False,
    ) -> Split:
        """Split `interactions` as published; see `Splitter.split`."""
        parts = self.parts()
        for meeting in _meetings(parts, interactions):
            require_meeting(meeting, subject="split=published")
        matched = match(parts, interactions)
        n_dropped = sum(step.dropped_rows for step in steps)
        if matched.n_absent > n_dropped:
            filters = f", and filters dropped {n_dropped:,} rows" if n_dropped else ""
            raise SchemaError(
                f"split=published: {matched.n_absent:,} of the {sum(matched.counts.values()):,} published "
                "pairs are not in the data set, or not as often as they are published, the first has "
                f"{matched.first_absent}{filters}. Name all files in dataset.path, or choose columns: "
                "split.user, split.item, split.header. A pair that is named twice needs two rows."
            )
        if n_dropped:
            steps = (*steps, _after_filters(matched, interactions, len(interactions) + n_dropped))
        assigned = self._with_validation(matched.assignment, interactions, rng)
        return self._assemble(interactions, assigned, steps, overlap)

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out, whether or not all published pairs are there."""
        return self._with_validation(match(self.parts(), interactions).assignment, interactions, rng)

    def _with_validation(
        self, published: Assignment, interactions: Interactions, rng: np.random.Generator
    ) -> Assignment:
        """Move a share of the training rows to validation."""
        if self.validation_size == 0.0:
            return published
        if published.validation is not None:
            raise ConfigError(
                "split=published: validation_size draws validation rows, but this split has some of its own. "
                "Leave out split.validation_size."
            )
        train = np.flatnonzero(published.train)
        words = scramble(interactions, int(rng.integers(2**64, dtype=np.uint64)))[train]
        chosen = train[np.argsort(words, kind="stable")[: round(len(train) * self.validation_size)]]
        validation = np.zeros(len(interactions), dtype=bool)
        validation[chosen] = True
        return replace(published, validation=validation)

    def parts(self) -> PublishedParts:
        """Read the published pairs.

        Raises
        ------
        ConfigError
            If there is nothing to read.
        """
        if self.test is not None:
            test, validation, train = map(self._read, _PARTS)
            return PublishedParts(test, validation, train)  # type: ignore[arg-type]
        if self.source is None:
            raise ConfigError(
                "split=published: the data set has no published split. Name the files with "
                "split.test=FILE and, if there are, split.validation=FILE and split.train=FILE."
            )
        return self.source.read(self.fold)

    def find(self) -> None:
        """Find the files; see `Splitter.find`."""
        for part in _PARTS:
            if getattr(self, part) is not None:
                self._table(part).find()

    def _read(self, part: str) -> Interactions | None:
        return None if getattr(self, part) is None else self._table(part).load().interactions

    def _table(self, part: str) -> "_PartTable":
        settings = {name: getattr(self, name) for name in (*_OF_TABLES, *_OF_CELLS)}
        return _PartTable(getattr(self, part), rating=False, time=False, part=part, **settings)


@dataclass(frozen=True)
class _PartTable(Table):
    """The table of a part, whose settings are those of the split."""

    part: str = "test"

    group: ClassVar[str] = "split"
    skips: ClassVar[bool] = False

    @property
    def path_name(self) -> str:
        """The setting that names the files."""
        return self.part

    @property
    def command(self) -> str:
        """What is typed before settings."""
        return f"recgauge run split=published split.{self.part}=..."


def _meetings(parts: PublishedParts, interactions: Interactions) -> Iterator[Meeting]:
    """Count the users and items of published rows that the data set has."""
    for name in ("user", "item"):
        for part, rows in parts.named.items():
            if len(rows):
                ids, of_data = _alike(getattr(rows, f"{name}_ids"), getattr(interactions, f"{name}_ids"))
                yield meet(ids, of_data, name=name, sides=(f"{part} part", "data set"))


def _after_filters(matched: _Matched, interactions: Interactions, n_loaded: int) -> Step:
    """Return a step that drops nothing and says how many rows of each published part the filters left."""
    assigned = matched.assignment
    masks = {"train": assigned.train, "validation": assigned.validation, "test": assigned.test}
    # without files of their own, all rows in no other part are for training
    before = {"train": n_loaded - sum(matched.counts.values())} | matched.counts
    counts = ", ".join(
        f"{name} {before[name]:,} to {int(mask.sum()):,}" for name, mask in masks.items() if mask is not None
    )
    step = Step.between("nothing", interactions, interactions)
    return replace(step, note=f"rows of the published parts, before and after the filters: {counts}")
