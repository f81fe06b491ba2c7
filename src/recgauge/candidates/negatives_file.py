"""Negatives that somebody else has drawn, read from a file."""

import re
from dataclasses import dataclass

import numpy as np

from recgauge._checks import shown
from recgauge.candidates._ids import codes_by_text, numbered_lines, some
from recgauge.candidates.rule import CandidateItems, Candidates, pairs_matrix, stored
from recgauge.errors import ConfigError, SchemaError
from recgauge.splits import Split

_PAIR = re.compile(r"\(\s*([^,]+?)\s*,\s*([^,]+?)\s*\)")


@dataclass(frozen=True)
class NegativesFile(Candidates):
    r"""Rank test items among the negatives of a file, as published with NCF [1]_ (``*.test.negative``).

    A line holds a test row and its negatives, ``(user,item)\tnegative\tnegative...``, ids as the data set
    writes them. A user's lines are joined. Marks the run, as sampled candidates do.

    Parameters
    ----------
    path : str
        UTF-8 text; blank lines are left out.

    Raises
    ------
    ConfigError
        If `path` is empty.

    Notes
    -----
    A line whose row is not in the test part, an unknown id or a test user without a line is an error: the
    file belongs to another split. Negatives that the user has in train are kept as given and counted.

    References
    ----------
    .. [1] X. He et al., "Neural collaborative filtering", WWW 2017.
    """

    path: str

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise ConfigError("NegativesFile: name the file with candidates.path=FILE.")

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:  # noqa: ARG002 - contract
        """Return the items of each user's lines."""
        test, shape = split.test, (split.test.n_users, split.test.n_items)
        code_of_user, code_of_item = codes_by_text(test.user_ids), codes_by_text(test.item_ids)
        users: list[int] = []
        items: list[int] = []
        rows: list[tuple[int, int, int]] = []
        for number, line in numbered_lines("NegativesFile", self.path):
            user, item, negatives = self._parsed(number, line)
            if user not in code_of_user:
                raise self._unknown(number, "user", user, some(test.user_ids))
            for text in (item, *negatives):
                if text not in code_of_item:
                    raise self._unknown(number, "item", text, some(test.item_ids))
            rows.append((number, code_of_user[user], code_of_item[item]))
            items += [code_of_item[text] for text in (item, *negatives)]
            users += [code_of_user[user]] * (1 + len(negatives))
        self._check_rows(split, rows)
        user_codes, item_codes = np.array(users, np.int32), np.array(items, np.int32)
        n_seen = int(stored(split.history.to_csr(), user_codes, item_codes).sum())
        return CandidateItems(
            per_user=pairs_matrix(user_codes, item_codes, shape),
            incomparable="each user's test items were ranked among the negatives of a file, "
            "not in the catalogue",
            notes=(f"{n_seen:,} items of the file are in their user's training rows",) if n_seen else (),
        )

    def _parsed(self, number: int, line: str) -> tuple[str, str, list[str]]:
        first, *negatives = [field.strip() for field in line.strip().split("\t")]
        match = _PAIR.fullmatch(first)
        if match is None or not negatives or "" in negatives:
            raise SchemaError(
                f"NegativesFile: {self.path}, line {number}: expected (user,item) and at least one negative, "
                f"separated by tabs; got {shown(line[:60])}."
            )
        return match.group(1), match.group(2), negatives

    def _unknown(self, number: int, kind: str, text: str, example: str) -> SchemaError:
        return SchemaError(
            f"NegativesFile: {self.path}, line {number}: the data set has no {kind} {shown(text)}. "
            f"Write ids as the data set does, such as {example}; published files often number them anew."
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
        without = np.setdiff1d(split.test_users, users)
        if len(without):
            raise SchemaError(
                f"NegativesFile: {self.path} has no line for user {shown(test.user_ids[without[0]])}, one of "
                f"{len(without)} with test rows. The file belongs to another split; use the published one."
            )
