"""Ids in two spellings: how one is written in the other, and which ids a file writes in several ways."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from recgauge.data.ids import IdArray
from recgauge.utils.arrow import to_arrow
from recgauge.utils.checks import LongArray

if TYPE_CHECKING:
    import pyarrow as pa

FEWEST_PREFIXED = 20
"""Ids of the smaller side from which any two prefixes are no chance."""
LEAST_SHARE = 0.05
"""Share of the smaller side's ids that must meet in another spelling to be the cause."""
_MOST_KEYS = 250_000
"""Ids whose spellings are compared, in less than a second."""


_BLANK = r"[\s\p{Z}\x{200b}\x{feff}]+"
_SEPARATORS = r"[:/|#_\s-]"
_FLOATS, _LOWER, _NFC, _NFKC = "floats", "lower", "NFC", "NFKC"
_SPELLINGS = (  # a cause, and how its spellings become one: a pattern and what stands in its place
    ("blanks, or marks that are not seen, around ids", f"^{_BLANK}|{_BLANK}$", ""),
    ("quotes or brackets around ids", r"^(np\.\w+)?[(\[{<]*([bu]?['\"])?|['\"]?[)\]}>,]*$", ""),
    ("a fraction of 0 is written", r"^(-?[0-9]+)[.,]0+$", r"\1"),
    ("zeros at the beginning are lost", r"^0+([0-9])", r"\1"),
    ("upper and lower case", _LOWER, ""),
    ("composed and decomposed letters (Unicode's NFC and NFD)", _NFC, ""),
    ("letters and digits of other forms (Unicode's NFKC)", _NFKC, ""),
    ("numbers with an exponent, or rounded as floats", _FLOATS, ""),
    ("separators, punctuation or blanks inside ids", r"[\s\p{P}\p{S}]+", ""),
)
_USUAL = tuple(_SPELLINGS[at][1:] for at in (0, 2, 3, 4))
"""What two tables of the same ids differ in; quotes and separators may be part of an id."""


def _rewritten(texts: "pa.Array", pattern: str, by: str = "") -> "pa.Array":
    """Return texts in one spelling."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pattern == _LOWER:
        return pc.utf8_lower(texts)
    if pattern in (_NFC, _NFKC):
        return pc.utf8_normalize(texts, pattern)
    if pattern != _FLOATS:
        return pc.replace_substring_regex(texts, pattern, by)
    # 7.06016e+08 and 706016000 are one
    numbers = pc.match_substring_regex(texts, r"^-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$")
    floats = pc.if_else(numbers, texts, pa.scalar(None, texts.type)).cast(pa.float64())
    return pc.coalesce(floats.cast(texts.type), texts)


def spelling_keys(ids: IdArray) -> LongArray | None:
    """Return a number for each distinct id, the same for ids that differ only in how they are written.

    That is as a number or as text, in blanks around, a fraction of 0, zeros at the beginning, case and
    Unicode's form. None: no two ids do, or there are too many to look.

    Examples
    --------
    >>> spelling_keys(np.array(["x1", "7", "X1", "007"])).tolist()
    [0, 1, 0, 1]
    >>> spelling_keys(np.array(["x1", "7"])) is None
    True
    """
    if ids.dtype.kind in "iu" or len(ids) > _MOST_KEYS:
        return None
    import pyarrow.compute as pc

    texts = texts_of(ids if ids.dtype.kind == "U" else np.array(list(map(str, ids.tolist())), object))
    if not pc.all(pc.string_is_ascii(texts)).as_py():
        texts = pc.utf8_normalize(texts, "NFKC")
    for spelling in _USUAL:
        texts = _rewritten(texts, *spelling)
    keys = texts.dictionary_encode()
    if len(keys.dictionary) == len(ids):
        return None
    return np.asarray(keys.indices, np.int64)


def spelling_cause(first: IdArray, second: IdArray) -> tuple[str, tuple[int, int]]:
    """Return why ids differ that are the same in another spelling, and where a pair of them is."""
    texts = texts_of(first), texts_of(second)
    fewest = max(1, int(LEAST_SHARE * min(len(first), len(second))))
    if pair := _pair(*texts, fewest):
        return "numbers on one side, text on the other", pair
    rewritten = texts
    for cause, *spelling in _SPELLINGS:
        if pair := _pair(_rewritten(texts[0], *spelling), _rewritten(texts[1], *spelling), fewest):
            return cause, pair
        if _FLOATS not in spelling:  # 12e5 may be a name
            rewritten = _rewritten(rewritten[0], *spelling), _rewritten(rewritten[1], *spelling)
    if pair := _pair(*rewritten, fewest):
        return "several of blanks, quotes, zeros, case and punctuation", pair
    for bare in _without_prefix(*texts):
        if pair := _pair(*bare, fewest):
            return "ids of one side have a prefix or an ending", pair
    return "", (0, 0)


def texts_of(ids: IdArray) -> "pa.Array":
    """Return ids as text."""
    import pyarrow as pa

    return to_arrow(ids.astype(object)).cast(pa.large_string())  # which may outgrow 2 GiB


def _pair(first: "pa.Array", second: "pa.Array", fewest: int) -> tuple[int, int] | None:
    """Return where the last texts that became equal are, if at least so many did."""
    import pyarrow.compute as pc

    positions = pc.index_in(first, value_set=second)
    if len(first) - positions.null_count < fewest:
        return None
    at = len(first) - 1 - positions.is_valid()[::-1].index(True).as_py()
    return at, positions[at].as_py()


def _without_prefix(first: "pa.Array", second: "pa.Array") -> Iterator[tuple["pa.Array", "pa.Array"]]:
    """Yield texts of which one side lost what may be around the other's ids."""
    digits = r"^.*?([0-9]+)[^0-9]*$", r"\1"
    for bare, *spelling in (("^[0-9]+$", *digits), (f"^[^{_SEPARATORS[1:]}+$", f"^.*{_SEPARATORS}")):
        if all_match(second, bare):
            yield _rewritten(first, *spelling), second
        if all_match(first, bare):
            yield first, _rewritten(second, *spelling)
    if min(len(first), len(second)) >= FEWEST_PREFIXED:  # of a few ids any two prefixes would do
        yield _rewritten(first, *digits), _rewritten(second, *digits)


def all_match(texts: "pa.Array", pattern: str) -> bool:
    """Whether a pattern is found in every text."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def any_match(texts: "pa.Array", pattern: str) -> bool:
    """Whether a pattern is found in a text."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())
