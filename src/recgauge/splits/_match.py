"""Finds the rows of a data set that a publisher's pairs of ids mean."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.dataset import PublishedParts
from recgauge.data.ids import IdArray
from recgauge.data.interactions import Interactions
from recgauge.data.pairs import pair_codes
from recgauge.splits import Assignment
from recgauge.utils.checks import BoolArray, LongArray, shown, text_array


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
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


def match(parts: PublishedParts, interactions: Interactions) -> Matched:
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
    return Matched(assignment, counts, n_absent, n_unknown, first_absent)


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
