"""Items that a list from the user allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from recgauge.candidates import CandidateItems, Candidates, Seen, check_seen, seen_rows
from recgauge.candidates._ids import codes_by_text, numbered_lines, some
from recgauge.data.split import Split
from recgauge.errors import ConfigError, SchemaError
from recgauge.utils.checks import check_choice, shown

Unknown = Literal["error", "skip"]


@dataclass(frozen=True)
class AllowList(Candidates):
    """Only items of a list, such as those in stock, but for those the user has already seen.

    Numbers over a part of the catalogue cannot be compared with those over all of it and mark the run,
    unless the list holds every item.

    Parameters
    ----------
    items : sequence of ids, optional
        Item ids as the data set writes them.
    path : str, optional
        A text file with one item id per line; either this or `items`.
    seen : {"train", "validation", "both", "none"}
        As in `recgauge.candidates.AllItems`.
    unknown : {"error", "skip"}
        What happens to ids that the data set does not have: refused by name, or left out and counted.

    Raises
    ------
    ConfigError
        If not exactly one of `items` and `path` is given, or a setting is unknown.

    Examples
    --------
    >>> from recgauge import Demo, RandomRows, stream
    >>> split = RandomRows().split(Demo().load().interactions, rng=stream(0, "split"))
    >>> chosen = AllowList(items=(3, 1)).choose(split, rng=stream(0, "candidates"))
    >>> split.train.item_ids[chosen.items].tolist()
    [1, 3]
    """

    items: Sequence[object] | None = None
    path: str | None = None
    seen: Seen = "train"
    unknown: Unknown = "error"

    def __post_init__(self) -> None:
        if (self.items is None) == (self.path is None):
            raise ConfigError(
                "AllowList: give either items=[ID,...] or path=FILE with one item id per line "
                "(candidates.items=[...] or candidates.path=...)."
            )
        if isinstance(self.items, str) or (self.items is not None and len(self.items) == 0):
            raise ConfigError(f"AllowList: items must be a list with at least one id, got {self.items!r}.")
        check_seen("AllowList", self.seen)
        check_choice("AllowList: unknown", self.unknown, get_args(Unknown))

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:  # noqa: ARG002 - contract
        """Return the items of the list, and what users have seen as excluded."""
        ids = split.train.item_ids
        code_of = codes_by_text(ids)
        named = self._named()
        unknown = [(where, text) for where, text in named if text not in code_of]
        if unknown and (self.unknown == "error" or len(unknown) == len(named)):
            where, text = unknown[0]
            raise SchemaError(
                f"AllowList: {where}: the data set has no item {shown(text)} ({len(unknown)} of {len(named)} "
                f"ids are unknown). Write ids as the data set does, such as {some(ids)}; to leave "
                "unknown ones out: candidates.unknown=skip."
            )
        codes = np.unique([code_of[text] for _, text in named if text in code_of]).astype(np.int32)
        whole = len(codes) == len(ids)
        return CandidateItems(
            excluded=seen_rows(split, self.seen),
            items=codes,
            incomparable=""
            if whole
            else f"only {len(codes):,} of {len(ids):,} items could be recommended (allow-list)",
            notes=(f"{len(unknown):,} ids of the allow-list are not in the data set",) if unknown else (),
        )

    def _named(self) -> list[tuple[str, str]]:
        """Return the position of each id and its text."""
        if self.path is None:
            return [(f"items[{number}]", str(one)) for number, one in enumerate(self.items or ())]
        lines = numbered_lines("AllowList", self.path)
        named = [(f"{self.path}, line {number}", line.strip()) for number, line in lines]
        if not named:
            raise SchemaError(f"AllowList: {self.path} has no lines; write one item id per line.")
        return named
