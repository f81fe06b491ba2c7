"""Finds the rows of a data set that a publisher's pairs of ids mean."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge._checks import BoolArray, LongArray, shown, text_array
from recgauge.datasets.published import PublishedParts
from recgauge.errors import SchemaError
from recgauge.interactions import Interactions
from recgauge.splits._pairs import pair_codes
from recgauge.splits.assignment import Assignment


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """The rows of each part, and published pairs without a row.

    Parameters
    ----------
    assignment : Assignment
    n_pairs, n_absent : int
        Published pairs, and those that the data set has not.
    first_absent : str
        The first of them in words.
    """

    assignment: Assignment
    n_pairs: int
    n_absent: int
    first_absent: str


def match(parts: PublishedParts, interactions: Interactions) -> Matched:
    """Return the rows whose user and item ids are those of published pairs.

    Ids that are numbers on one side and text on the other are compared as text.

    Raises
    ------
    SchemaError
        If a pair is in several parts.
    """
    rows = _Sorted.of(pair_codes(interactions))
    masks: dict[str, BoolArray] = {}
    n_absent, first_absent = 0, ""
    named = {"test": parts.test, "validation": parts.validation, "train": parts.train}
    published = {name: part for name, part in named.items() if part is not None}
    for name, part in published.items():
        users = places_of(part.user_ids, interactions.user_ids)[part.user]
        items = places_of(part.item_ids, interactions.item_ids)[part.item]
        pairs = users * interactions.n_items + items
        there = (users >= 0) & (items >= 0)
        masks[name], there[there] = rows.find(pairs[there])
        if not there.all():
            first = int(np.flatnonzero(~there)[0])
            first_absent = first_absent or (
                f"user {shown(part.user_ids[part.user[first]])} and item "
                f"{shown(part.item_ids[part.item[first]])} ({name})"
            )
            n_absent += int((~there).sum())
        _refuse_overlap(name, masks)
    unused: tuple[tuple[str, BoolArray], ...] = ()
    if "train" in masks:
        outside = ~np.logical_or.reduce(list(masks.values()))
        unused = (("rows that the published split does not name", outside),)
    assignment = Assignment(masks["test"], masks.get("validation"), unused=unused)
    return Matched(assignment, sum(map(len, published.values())), n_absent, first_absent)


def places_of(ids: npt.NDArray[Any], known: npt.NDArray[Any]) -> LongArray:
    """Return the position of each id in `known`, -1 where it is not there."""
    if (ids.dtype.kind in "iu") != (known.dtype.kind in "iu"):
        ids, known = text_array(list(map(str, ids))), text_array(list(map(str, known)))
    if len(known) == 0:
        return np.full(len(ids), -1, dtype=np.int64)
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known, ids, sorter=order), len(known) - 1)
    found: LongArray = np.where(known[order[place]] == ids, order[place], -1)
    return found


def _refuse_overlap(name: str, masks: dict[str, BoolArray]) -> None:
    for other, mask in masks.items():
        if other != name and (n_shared := int((mask & masks[name]).sum())):
            raise SchemaError(
                f"split=published: {n_shared} rows have a pair that is in {other} and in {name}. Each pair "
                "may be in one part: correct the files."
            )


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """Codes of rows, sorted once, so that looking up many of them in order stays in the cache."""

    codes: LongArray
    order: LongArray

    @classmethod
    def of(cls, codes: LongArray) -> "_Sorted":
        order = np.argsort(codes)
        return cls(codes[order], order)

    def find(self, wanted: LongArray) -> tuple[BoolArray, BoolArray]:
        """Return which rows have a wanted code, and which wanted codes some row has."""
        by_code = np.argsort(wanted)
        first = np.searchsorted(self.codes, wanted[by_code], side="left")
        end = np.searchsorted(self.codes, wanted[by_code], side="right")
        is_there = np.empty(len(wanted), dtype=bool)
        is_there[by_code] = end > first
        # A code's rows lie between the first and the end: open a span there, close it here.
        open_spans = np.bincount(first, minlength=len(self.codes) + 1)
        open_spans -= np.bincount(end, minlength=len(self.codes) + 1)
        rows = np.empty(len(self.codes), dtype=bool)
        rows[self.order] = np.cumsum(open_spans[:-1]) > 0
        return rows, is_there
