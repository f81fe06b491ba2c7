"""Items named in a list or a file: those that are allowed, or negatives that somebody else has drawn."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recgauge.candidates import CandidateItems, Candidates, Seen, seen_rows
from recgauge.data.ids import IdArray
from recgauge.data.interactions import Interactions, pairs_matrix, stored
from recgauge.data.split import Split
from recgauge.errors import ConfigError, SchemaError, listed
from recgauge.files.columns import ITEMS, USERS, Roles
from recgauge.files.formats import read
from recgauge.files.opening import find_list_files
from recgauge.utils.checks import IntArray, shown


def codes_by_text(ids: IdArray) -> dict[str, int]:
    """Return ``{id as text: code}``."""
    return {str(id_): code for code, id_ in enumerate(ids.tolist())}


def numbered_lines(option: str, path: str) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of every line that is not blank."""
    for file in find_list_files([path], option):
        with file.open() as stream:
            for number, line in enumerate(io.TextIOWrapper(stream, "utf-8-sig"), start=1):
                if line.strip():
                    yield number, line.removesuffix("\n")


def example_of(ids: IdArray) -> str:
    """Return a few ids as an example of how the data set writes them."""
    return listed(ids[:3].tolist())


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
    seen : {"both", "train", "none"}
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
    seen: Seen = "both"
    unknown: Unknown = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.items is None) == (self.path is None):
            raise ConfigError(
                "AllowList: give either items=[ID,...] or path=FILE with one item id per line "
                "(candidates.items=[...] or candidates.path=...)."
            )
        if isinstance(self.items, str) or (self.items is not None and len(self.items) == 0):
            raise ConfigError(f"AllowList: items must be a list with at least one id, got {self.items!r}.")

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:  # noqa: ARG002 - contract
        """Return the items of the list, and what users have seen as excluded."""
        ids = split.train.item_ids
        code_of = codes_by_text(ids)
        n_unknown, n_items = 0, 0
        first, items = ("", ""), set[int]()
        for where, text in self._named():
            if text in code_of:
                items.add(code_of[text])
                n_items += 1
            else:
                first, n_unknown = first if n_unknown else (where, text), n_unknown + 1
        if n_unknown and (self.unknown == "error" or not items):
            raise SchemaError(
                f"AllowList: {first[0]}: the data set has no item {shown(first[1])} ({n_unknown} of "
                f"{n_unknown + n_items} ids are unknown). Write ids as the data set does, such as "
                f"{example_of(ids)}; to leave unknown ones out: candidates.unknown=skip."
            )
        codes = np.array(sorted(items), np.int32)
        whole = len(codes) == len(ids)
        return CandidateItems(
            excluded=seen_rows(split, self.seen),
            items=codes,
            incomparable=""
            if whole
            else f"only {len(codes):,} of {len(ids):,} items could be recommended (allow-list)",
            notes=(f"{n_unknown:,} ids of the allow-list are not in the data set",) if n_unknown else (),
        )

    def _named(self) -> Iterator[tuple[str, str]]:
        """Yield the position of each id and its text."""
        if self.path is None:
            yield from ((f"items[{number}]", str(item)) for number, item in enumerate(self.items or ()))
            return
        number = 0
        for number, line in numbered_lines("AllowList: candidates.path", self.path):
            yield f"{self.path}, line {number}", line.strip()
        if not number:
            raise SchemaError(f"AllowList: {self.path} has no lines; write one item id per line.")


_HEAD = 1 << 10  # bytes that show how a file begins
_NEGATIVES = Roles(
    {"user": USERS, "item": ITEMS},
    option="candidates.{}={}",
    setting="candidates.{}={}",
    of_lists=True,
)
_PAIR = re.compile(r"\(\s*([^,]+?)\s*,\s*([^,]+?)\s*\)")


@dataclass(frozen=True)
class NegativesFile(Candidates):
    r"""Rank test items among the negatives of a file, as published with NCF [1]_ (``*.test.negative``).

    A line holds a test row and its negatives, ``(user,item)\tnegative\tnegative...``; or a user and the
    negatives (``format="user_lines"``); or the file is a table with columns of users and of negative items.
    Ids are as the data set writes them. A user's lines are joined. Marks the run, as sampled candidates do.

    Parameters
    ----------
    path : str
        UTF-8 text, or a table in any format of ``dataset=table``; blank lines are left out.
    format : {"ncf", "user_lines", "text", "parquet", "jsonl"}, optional
        By default "ncf" where the first line begins with a bracket, else a table, recognised as such.
    seen : {"keep", "drop"}
        What happens to negatives that the user has in train: ranked as given, or left out, as the authors of
        CMN [2]_ do. They are counted.

    Raises
    ------
    ConfigError
        If `path` is empty, or a setting is unknown.

    Notes
    -----
    A line whose row is not in the test part, an unknown id or a test user without a line is an error: the
    file belongs to another split. A negative that is one of the user's own test items is a test item: it is
    ranked once, and the user has one negative fewer, which is counted.

    References
    ----------
    .. [1] X. He et al., "Neural collaborative filtering", WWW 2017.
    .. [2] T. Ebesu, B. Shen, Y. Fang, "Collaborative memory network for recommendation systems", SIGIR 2018.
    """

    path: str
    format: Literal["ncf", "user_lines", "text", "parquet", "jsonl"] | None = None
    seen: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.path, str) or not self.path:
            raise ConfigError("NegativesFile: name the file with candidates.path=FILE.")

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:  # noqa: ARG002 - contract
        """Return the items of each user's lines."""
        test, shape = split.test, (split.test.n_users, split.test.n_items)
        users, negatives = self._pairs(test) if self._is_table() else self._lines(split)
        without = np.setdiff1d(split.test_users, users)
        if len(without):
            raise SchemaError(
                f"NegativesFile: {self.path} has no line for user {shown(test.user_ids[without[0]])}, one of "
                f"{len(without)} with test rows. The file belongs to another split; use the published one."
            )
        notes = _odd_negatives(split, users, negatives, self.seen)
        if self.seen == "drop":
            kept = ~stored(split.seen, users, negatives)
            users, negatives = users[kept], negatives[kept]
        candidates = pairs_matrix(
            np.concatenate([test.user, users]), np.concatenate([test.item, negatives]), shape
        )
        return CandidateItems(
            per_user=candidates,
            incomparable="each user's test items were ranked among the negatives of a file, "
            "not in the catalogue",
            notes=notes,
        )

    def _is_table(self) -> bool:
        """Whether the file has no test rows in brackets."""
        if self.format is not None:
            return self.format != "ncf"
        (file,) = find_list_files([self.path], "candidates.path", pattern=False)
        with file.open() as stream:
            return not stream.read(_HEAD).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"(")

    def _pairs(self, test: Interactions) -> tuple[IntArray, IntArray]:
        """Return the user and the item of each negative in a table, or in lines of a user and items."""
        (file,) = find_list_files([self.path], "candidates.path", pattern=False)
        rows = read(file, _NEGATIVES, form=self.format)
        if rows.problems:
            raise SchemaError(f"NegativesFile: {rows.first_bad()}. Correct the file.")
        users, items = codes_by_text(test.user_ids), codes_by_text(test.item_ids)
        codes = []
        kinds = (("user", rows.user, users, test.user_ids), ("item", rows.item, items, test.item_ids))
        for kind, column, code_of, ids in kinds:
            of_distinct = np.array([code_of.get(str(id_), -1) for id_ in column.distinct.tolist()], np.int32)
            code = of_distinct[column.codes]
            if len(unknown := np.flatnonzero(code < 0)):
                text = str(column.distinct[column.codes[unknown[0]]])
                raise self._unknown(rows.where(int(unknown[0])), kind, text, ids)
            codes.append(code)
        return codes[0], codes[1]

    def _lines(self, split: Split) -> tuple[IntArray, IntArray]:
        """Return the user and the item of each negative in lines that begin with a test row."""
        test = split.test
        code_of_user, code_of_item = codes_by_text(test.user_ids), codes_by_text(test.item_ids)
        users: list[int] = []
        negatives: list[int] = []
        rows: list[tuple[int, int, int]] = []
        for number, line in numbered_lines("NegativesFile: candidates.path", self.path):
            user, item, named = self._parsed(number, line)
            where = f"{self.path}, line {number}"
            if user not in code_of_user:
                raise self._unknown(where, "user", user, test.user_ids)
            for text in (item, *named):
                if text not in code_of_item:
                    raise self._unknown(where, "item", text, test.item_ids)
            rows.append((number, code_of_user[user], code_of_item[item]))
            negatives += [code_of_item[text] for text in named]
            users += [code_of_user[user]] * len(named)
        self._check_rows(split, rows)
        return np.array(users, np.int32), np.array(negatives, np.int32)

    def _parsed(self, number: int, line: str) -> tuple[str, str, list[str]]:
        first, *negatives = [field.strip() for field in line.strip().split("\t")]
        match = _PAIR.fullmatch(first)
        if match is None or not negatives or "" in negatives:
            raise SchemaError(
                f"NegativesFile: {self.path}, line {number}: expected (user,item) and at least one negative, "
                f"separated by tabs; got {shown(line[:60])}."
            )
        return match.group(1), match.group(2), negatives

    def _unknown(self, where: str, kind: str, text: str, ids: IdArray) -> SchemaError:
        return SchemaError(
            f"NegativesFile: {where}: the data set has no {kind} {shown(text)}. "
            f"Write ids as the data set does, such as {example_of(ids)}; published files often renumber them."
        )

    def _check_rows(self, split: Split, rows: list[tuple[int, int, int]]) -> None:
        """Refuse a file whose rows are not those of the test part."""
        if not rows:
            raise SchemaError(f"NegativesFile: {self.path} has no lines.")
        test = split.test
        numbers, users, items = (np.array(column) for column in zip(*rows, strict=True))
        held_out = pairs_matrix(test.user, test.item, (test.n_users, test.n_items))
        strange = np.flatnonzero(~stored(held_out, users.astype(np.int32), items.astype(np.int32)))
        if len(strange):
            at = strange[0]
            raise SchemaError(
                f"NegativesFile: {self.path}, line {numbers[at]}: user {shown(test.user_ids[users[at]])} has "
                f"no test row with item {shown(test.item_ids[items[at]])} "
                f"({len(strange)} of {len(rows)} lines). "
                "The file belongs to another split; use the published one."
            )


def _odd_negatives(split: Split, users: IntArray, negatives: IntArray, seen: str) -> tuple[str, ...]:
    """Tell of negatives that are test items or training rows of their own user."""
    test, pairs = split.test, pairs_matrix(users, negatives, (split.test.n_users, split.test.n_items)).tocoo()
    user, item = pairs.row.astype(np.int32), pairs.col.astype(np.int32)
    tested = stored(test.to_csr(), user, item)
    n_tested, n_users = int(tested.sum()), len(np.unique(user[tested]))
    n_seen = int(stored(split.seen, user, item).sum())
    notes = {
        f"{n_users:,} of {len(split.test_users):,} users have test items of their own among the file's "
        f"negatives ({n_tested:,} items), which are ranked once, as test items": n_tested,
        f"{n_seen:,} negatives of the file are in their user's training rows"
        f"{', and are left out' if seen == 'drop' else '; candidates.seen=drop leaves them out'}": n_seen,
    }
    return tuple(note for note, count in notes.items() if count)
