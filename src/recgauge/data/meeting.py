"""Where two tables meet: how many ids they share, and why they share next to none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from unicodedata import normalize

import numpy as np

from recgauge.data.ids import IdArray, encode
from recgauge.data.spellings import (
    FEWEST_PREFIXED,
    LEAST_SHARE,
    all_match,
    any_match,
    spelling_cause,
    texts_of,
)
from recgauge.errors import SchemaError
from recgauge.utils.checks import BoolArray, IntArray, LongArray, shown

REFUSED_BELOW = LEAST_SHARE
"""Share under which tables do not belong together, as they are written."""
WARNED_BELOW = 0.5
"""Share under which a warning comes first, and a cause is looked for."""
FEWEST = FEWEST_PREFIXED
"""Ids of the smaller side from which a miss of nearly all needs no cause to be refused."""


_MOST_SEARCHED = 200_000
"""Ids among which another spelling is looked for, in a second or two, where no error is to be explained."""


@dataclass(frozen=True)
class Meeting:
    """How many ids of one table are in another.

    The share is of the smaller side's ids. Lists of a few popular items meet a large truth, and a small truth
    meets lists of the whole catalogue: what the larger side has beyond the smaller one is normal.

    Parameters
    ----------
    name : str
        What the ids are of: ``user`` or ``item``.
    sides : tuple of str
        What the two tables are called, such as ``("lists", "truth")``.
    n_ids : tuple of int
        Distinct ids of each side.
    n_both : int
        Distinct ids that both sides have.
    cause : str
        Why ids of one side are probably not on the other; empty if nothing shows it.
    examples : tuple of str or None
        An id of each side that the other lacks: where there is a cause, one id in two spellings. None where
        half or more meet.
    respelled : bool
        Whether ids of one side are on the other in another spelling, which the examples show.
    n_respelled : int
        Ids that one side alone has and the other has in another spelling, of the side that has more of them.
    respelling : str
        Which side that is, two of them in both spellings, and the likely cause.
    """

    name: str
    sides: tuple[str, str]
    n_ids: tuple[int, int]
    n_both: int
    cause: str = ""
    examples: tuple[str, str] | None = None
    respelled: bool = False
    n_respelled: int = 0
    respelling: str = ""

    def __add__(self, other: "Meeting") -> "Meeting":
        """Return the same of two parts: users are in one of them, items are counted in each."""
        name = self.name if self.name == "user" else "part's item"
        n_ids = self.n_ids[0] + other.n_ids[0], self.n_ids[1] + other.n_ids[1]
        cause, examples = self.cause or other.cause, self.examples or other.examples
        respelled = self.respelled or other.respelled
        return Meeting(name, self.sides, n_ids, self.n_both + other.n_both, cause, examples, respelled)

    @property
    def share(self) -> float:
        """The share of the smaller side's ids that the other side has; 1 where a side is empty."""
        return self.n_both / min(self.n_ids) if min(self.n_ids) else 1.0

    @property
    def sentence(self) -> str:
        """What met, in words."""
        smaller = int(self.n_ids[1] < self.n_ids[0])
        if not self.n_ids[smaller]:
            return f"{self.name}s: the {self.sides[smaller]} have none"
        shares = (
            f"of {self.n_ids[side]:,} in the {self.sides[side]} "
            f"({100 * self.n_both / self.n_ids[side]:.3g} %)"
            for side in (smaller, 1 - smaller)
        )
        return f"{self.name}s: {self.n_both:,} in both, {' and '.join(shares)}"

    def is_refused(self, fewest: float = FEWEST) -> bool:
        """Whether almost nothing meets, and not by chance; see `require_meeting`."""
        if self.share >= REFUSED_BELOW:
            return False
        return self.respelled or (isfinite(fewest) and (bool(self.cause) or min(self.n_ids) >= fewest))

    @property
    def warning(self) -> str:
        """The sentence with examples and the likely cause; empty where half or more meet, in one spelling."""
        text = self.sentence
        if self.n_respelled and self.share >= REFUSED_BELOW:
            return f"{text}; {self.n_respelled:,} {self.name}{self.respelling}"
        if self.share >= WARNED_BELOW:
            return ""
        if self.examples is not None:
            pairs = zip(self.examples, self.sides, strict=True)
            text += "; " + " and ".join(f"{example} only in the {side}" for example, side in pairs)
        return f"{text}; likely cause: {self.cause}" if self.cause else text


def meet(first: IdArray, second: IdArray, *, name: str, sides: tuple[str, str]) -> Meeting:
    """Count the ids that two tables share; a number and a text are never one id.

    Parameters
    ----------
    first, second : ndarray, shapes (n,) and (m,)
        Distinct ids of each table: whole numbers, text or objects.
    name : str
        What they are of: ``user`` or ``item``.
    sides : tuple of str
        What the two tables are called.

    Examples
    --------
    >>> meet(np.array([1, 2, 3, 4]), np.array([4, 5]), name="item", sides=("lists", "truth")).sentence
    'items: 1 in both, of 2 in the truth (50 %) and of 4 in the lists (25 %)'
    >>> lost = meet(np.array(["7", "12"]), np.array(["007", "012"]), name="user", sides=("lists", "truth"))
    >>> lost.share, lost.cause, lost.examples
    (0.0, 'zeros at the beginning are lost', ("'12'", "'012'"))
    """
    ids, (ours, theirs) = encode([first, second], in_order=True)
    return meet_rows(ids, ours, [theirs], name=name, sides=sides)


def meet_rows(
    ids: IdArray,
    first: IntArray | LongArray,
    second: Sequence[IntArray | LongArray],
    *,
    name: str,
    sides: tuple[str, str],
    keys: LongArray | None = None,
) -> Meeting:
    """Count what the rows of one table share with those of others, by the codes that `ids` have in them.

    `keys` are those of `spelling_keys`.

    Examples
    --------
    >>> ids, lists, truth = np.array(["a", "b", "c"]), np.array([0, 1, 1]), np.array([2, 1, 2])
    >>> meet_rows(ids, lists, [truth], name="item", sides=("lists", "truth")).n_both
    1
    """
    ours, theirs = np.zeros((2, len(ids)), bool)
    ours[first] = True
    for codes in second:
        theirs[codes] = True
    n_ids = int(np.count_nonzero(ours)), int(np.count_nonzero(theirs))
    meeting = Meeting(name, sides, n_ids, int(np.count_nonzero(ours & theirs)))
    if keys is not None:
        meeting = _with_spellings(meeting, ids, (ours, theirs), keys)
    if meeting.share >= WARNED_BELOW:
        return meeting
    return _explained(meeting, ids[ours & ~theirs], ids[theirs & ~ours])


def require_meeting(
    meeting: Meeting, *, subject: str = "", way_on: str = "", fewest: float = FEWEST
) -> Meeting:
    """Return a meeting of which more than next to nothing met.

    Parameters
    ----------
    meeting : Meeting
    subject : str
        What the message begins with, such as the name of a file.
    way_on : str
        What to type to go on all the same, such as ``--keep unmet``.
    fewest : float
        Ids of the smaller side from which no cause is needed: 1 where nobody may miss, infinite where all may
        miss that are not found in another spelling.

    Raises
    ------
    SchemaError
        If almost nothing meets; with an id of each side and the likely cause.

    Examples
    --------
    >>> lists, truth = np.array(["10.0", "20.0"]), np.array(["10", "20"])
    >>> require_meeting(meet(lists, truth, name="item", sides=("lists", "truth")), way_on="--keep unmet")
    Traceback (most recent call last):
    ...
    recgauge.errors.SchemaError: items: 0 in both, of 2 in the lists (0 %) and of 2 in the truth (0 %); '20.0'
    only in the lists and '20' only in the truth; likely cause: a fraction of 0 is written. Write ids in the
    same way in both, or go on with --keep unmet.
    """
    if meeting.is_refused(fewest):
        go_on = f", or go on with {way_on}" if way_on else ""
        begin = f"{subject}: " if subject else ""
        raise SchemaError(f"{begin}{meeting.warning}. Write ids in the same way in both{go_on}.")
    return meeting


def _with_spellings(
    meeting: Meeting, ids: IdArray, masks: tuple[BoolArray, BoolArray], keys: LongArray
) -> Meeting:
    """Return a meeting with the ids of one side that the other has in another spelling, two as examples."""
    side, respelled = 0, np.empty(0, np.int64)
    for own in (0, 1):
        written = np.zeros(len(ids), bool)
        written[keys[masks[1 - own]]] = True
        codes = np.flatnonzero(masks[own] & ~masks[1 - own] & written[keys])
        if len(codes) > len(respelled):
            side, respelled = own, codes
    if not len(respelled):
        return meeting
    causes, pairs = list[str](), list[str]()
    for code in respelled[:2]:
        twin = int(np.flatnonzero(masks[1 - side] & (keys == keys[code]))[0])
        causes.append(spelling_cause(ids[[code]], ids[[twin]])[0])
        pairs.append(" and ".join(_pair_shown(ids[code], ids[twin])))
    ours, theirs = meeting.sides[side], meeting.sides[1 - side]
    verb = "s of the {} are" if len(respelled) > 1 else " of the {} is"
    text = f"{verb.format(ours)} in the {theirs} in another spelling, such as {' or '.join(pairs)}"
    text += f"; likely cause: {', or '.join(dict.fromkeys(filter(None, causes)))}"
    return replace(meeting, n_respelled=len(respelled), respelling=text)


def _pair_shown(ours: object, theirs: object) -> tuple[str, str]:
    """Return two ids as messages show them, with codes of letters where they look alike."""
    alike = isinstance(ours, str) and isinstance(theirs, str)
    if alike and normalize("NFKC", str(ours)) == normalize("NFKC", str(theirs)):
        return ascii(str(ours)), ascii(str(theirs))
    return shown(ours), shown(theirs)


def _explained(meeting: Meeting, first: IdArray, second: IdArray) -> Meeting:
    """Return a meeting with examples of the ids that did not meet, and why they did not."""
    if not len(first) or not len(second):
        return meeting
    cause, at = "", (0, 0)
    if meeting.share < REFUSED_BELOW or max(len(first), len(second)) <= _MOST_SEARCHED:
        cause, at = spelling_cause(first, second)
    respelled = bool(cause)
    if not cause and not meeting.n_both:
        cause = _form(first, second, meeting.sides)
    examples = _pair_shown(first[at[0]], second[at[1]])
    return replace(meeting, cause=cause, examples=examples, respelled=respelled)


def _form(first: IdArray, second: IdArray, sides: tuple[str, str]) -> str:
    """Return how the ids of two sides differ in form: codes, or numbers and names."""
    texts = texts_of(first), texts_of(second)
    numbers = tuple(all_match(side, "^[0-9]{1,18}$") for side in texts)
    for side, ids, other in ((0, first, numbers[1]), (1, second, numbers[0])):
        if numbers[side] and (not other or len(ids) >= FEWEST):
            codes = ids.astype(np.int64)
            if codes.min() <= 1 and codes.max() < 2 * len(codes) and len(codes) > 1:
                return f"the {sides[side]} have codes from {codes.min()} to {codes.max()} instead of ids"
    if any(numbers) and not any(any_match(texts[1 - side], "[0-9]") for side in (0, 1) if numbers[side]):
        return "numbers on one side, names on the other"
    return ""
