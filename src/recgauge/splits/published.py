"""The split that a publisher made: from the data set's own archive, or from files."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from recgauge.data.dataset import Dataset, PublishedParts, PublishedSplits
from recgauge.data.ids import IdArray
from recgauge.data.interactions import Interactions, pair_codes
from recgauge.data.split import Split, Step
from recgauge.datasets.table import Table
from recgauge.errors import ConfigError, DataError, SchemaError
from recgauge.files.limits import Limits
from recgauge.splits import Assignment, ColdRows, Splitter
from recgauge.splits._order import scramble
from recgauge.utils.checks import BoolArray, LongArray, check_real, shown, text_array

Paths = str | Sequence[str]
_PARTS = ("test", "validation", "train")


@dataclass(frozen=True, slots=True, eq=False)
class _Matched:
    """The rows of each part, and published rows that the data set does not have.

    `named` counts the rows that the publisher's files name, by part, as far as there are files; `n_absent`
    those that the data set does not have, or not so often, `n_unknown` those of them whose pair it does not
    have at all; `first_absent` is one of them in words.
    """

    assignment: Assignment
    named: dict[str, int]
    n_absent: int
    n_unknown: int
    first_absent: str


def match(parts: PublishedParts, interactions: Interactions) -> _Matched:
    """Return the rows whose user and item ids are those of published pairs.

    Ids that are numbers on one side and text on the other are compared as text. A pair may have several rows
    and be in several parts: each part gets as many of its rows as it names, test the last ones of the table,
    validation those before, train those before these. Where rows are missing, train goes without first.
    """
    rows = _Sorted.of(pair_codes(interactions))
    named = {"test": parts.test, "validation": parts.validation, "train": parts.train}
    published = {name: part for name, part in named.items() if part is not None}
    masks: dict[str, BoolArray] = {}
    taken = np.zeros(len(rows.first), dtype=np.int64)
    n_absent, n_unknown, first_absent = 0, 0, ""
    for name, part in published.items():
        users = positions_of(part.user_ids, interactions.user_ids)[part.user]
        items = positions_of(part.item_ids, interactions.item_ids)[part.item]
        at = rows.find(np.where((users >= 0) & (items >= 0), users * interactions.n_items + items, -1))
        wanted = np.bincount(at[at >= 0], minlength=len(taken))
        got = np.minimum(wanted, rows.counts - taken)
        masks[name] = rows.from_the_end(taken, taken + got)
        taken += got
        n_missing = len(part) - int(got.sum())
        if n_missing and not first_absent:
            first_absent = _first_absent(name, part, at, wanted > got)
        n_absent += n_missing
        n_unknown += int((at < 0).sum())
    unused: tuple[tuple[str, BoolArray], ...] = ()
    if "train" in masks:
        outside = ~np.logical_or.reduce(list(masks.values()))
        unused = (("rows that the published split does not name", outside),)
    assignment = Assignment(masks["test"], masks.get("validation"), unused=unused)
    counts = {name: len(part) for name, part in published.items()}
    return _Matched(assignment, counts, n_absent, n_unknown, first_absent)


def _first_absent(name: str, part: Interactions, at: LongArray, short: BoolArray) -> str:
    """Return a row in words that the data set does not have, or not so often as it is named."""
    unknown = at < 0
    unknown[~unknown] = short[at[~unknown]]
    row = int(np.flatnonzero(unknown)[0])
    user, item = shown(part.user_ids[part.user[row]]), shown(part.item_ids[part.item[row]])
    return f"user {user} and item {item} ({name})"


def positions_of(ids: IdArray, known: IdArray) -> LongArray:
    """Return the position of each id in `known`, -1 where it is not there."""
    if (ids.dtype.kind in "iu") != (known.dtype.kind in "iu"):
        ids, known = text_array(list(map(str, ids))), text_array(list(map(str, known)))
    if len(known) == 0:
        return np.full(len(ids), -1, dtype=np.int64)
    order = np.argsort(known, kind="stable")
    at = np.minimum(np.searchsorted(known, ids, sorter=order), len(known) - 1)
    positions: LongArray = np.where(known[order[at]] == ids, order[at], -1)
    return positions


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """Rows ordered by pair: distinct codes, and for each where its rows begin in the order and how many."""

    codes: LongArray
    order: LongArray
    first: LongArray
    counts: LongArray

    @classmethod
    def of(cls, codes: LongArray) -> "_Sorted":
        order = np.argsort(codes, kind="stable")  # rows of one pair stay in their order
        ordered = codes[order]
        begins = np.ones(len(ordered), dtype=bool)
        np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
        first = np.flatnonzero(begins)
        return cls(ordered[first], order, first, np.diff(first, append=len(ordered)))

    def find(self, wanted: LongArray) -> LongArray:
        """Return the position of each wanted code among the distinct ones, -1 where it is not there."""
        if len(self.codes) == 0:
            return np.full(len(wanted), -1, dtype=np.int64)
        by_code = np.argsort(wanted)  # looked up in order, they stay in the cache
        at = np.minimum(np.searchsorted(self.codes, wanted[by_code]), len(self.codes) - 1)
        positions = np.empty(len(wanted), dtype=np.int64)
        positions[by_code] = np.where(self.codes[at] == wanted[by_code], at, -1)
        return positions

    def from_the_end(self, begin: LongArray, end: LongArray) -> BoolArray:
        """Return the mask of each pair's rows from `begin` to before `end`, counted from its last row."""
        n_after = np.repeat(self.first + self.counts, self.counts) - 1 - np.arange(len(self.order))
        chosen = (n_after >= np.repeat(begin, self.counts)) & (n_after < np.repeat(end, self.counts))
        rows = np.empty(len(self.order), dtype=bool)
        rows[self.order] = chosen
        return rows


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
    format, user, item, header, separator, quotes, encoding, member
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
    limits: Limits | Mapping[str, Any] | None = None
    source: PublishedSplits | None = None
    validation_size: float = 0.0
    cold_users: ColdRows = field(default="keep", kw_only=True)

    name: ClassVar[str] = "published"

    def __post_init__(self) -> None:
        super().__post_init__()
        if check_real("Published: validation_size", self.validation_size, low=0.0, high=1.0) == 1.0:
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
            try:
                self._table(getattr(self, part))
            except ConfigError as error:
                text = str(error).removeprefix("Table: ").replace("path must", f"{part} must")
                raise ConfigError(f"Published: {text}") from error

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
        matched = match(self.parts(), interactions)
        n_dropped = sum(step.dropped_rows for step in steps)
        if matched.n_absent > n_dropped:
            raise SchemaError(_not_there(matched, n_dropped))
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
            if (paths := getattr(self, part)) is not None:
                with _of_split(part):
                    self._table(paths).find()

    def _read(self, part: str) -> Interactions | None:
        paths = getattr(self, part)
        if paths is None:
            return None
        with _of_split(part):
            return self._table(paths).load().interactions

    def _table(self, paths: Paths) -> Table:
        return Table(
            paths,
            format=self.format,
            member=self.member,
            limits=self.limits,
            user=self.user,
            item=self.item,
            rating=False,
            time=False,
            header=self.header,
            separator=self.separator,
            quotes=self.quotes,
            encoding=self.encoding,
        )


def _not_there(matched: _Matched, n_dropped: int) -> str:
    """Return the message about published pairs for which the data set has no row."""
    n_named = sum(matched.named.values())
    filters = f", and filters dropped {n_dropped:,} rows" if n_dropped else ""
    if matched.n_unknown:
        problem = f"{matched.n_absent:,} of the {n_named:,} published pairs are not in the data set"
        remedy = (
            "Do the files belong to it? Name all files in dataset.path, or choose columns: split.user, "
            "split.item, split.header."
        )
    else:
        more = "are named once more than there are rows"
        problem = f"{matched.n_absent:,} of the {n_named:,} published pairs {more}"
        remedy = "A pair that is named twice, in one file or in two, needs two rows in the data set."
    return f"split=published: {problem}, the first has {matched.first_absent}{filters}. {remedy}"


@contextmanager
def _of_split(part: str) -> Iterator[None]:
    """Name the settings in messages as they are called here; their words are those of dataset=table."""
    try:
        yield
    except DataError as error:
        text = str(error).replace("recgauge run dataset=table", "recgauge run split=published")
        text = text.replace("dataset.path", f"split.{part}").replace("dataset.", "split.")
        text = text.replace(" or leave bad rows out with split.on_bad_rows=skip", "").replace(",.", ".")
        raise type(error)(f"split=published, {part}: {text.removeprefix('Table: ')}") from error


def _after_filters(matched: _Matched, interactions: Interactions, n_loaded: int) -> Step:
    """Return a step that drops nothing and says how many rows of each published part the filters left."""
    assigned = matched.assignment
    masks = {"train": assigned.train, "validation": assigned.validation, "test": assigned.test}
    # without files of their own, all rows in no other part are for training
    before = {"train": n_loaded - sum(matched.named.values())} | matched.named
    counts = ", ".join(
        f"{name} {before[name]:,} to {int(mask.sum()):,}" for name, mask in masks.items() if mask is not None
    )
    step = Step.between("nothing", interactions, interactions)
    return replace(step, note=f"rows of the published parts, before and after the filters: {counts}")
