"""Which columns of a file are meant: by the names that people give them, by choice, or by their places."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeGuard

from recgauge.errors import ConfigError, SchemaError, listed, shortened
from recgauge.utils.checks import shown

Role = Literal["user", "item", "rating", "time", "rank", "score", "tag", "items", "scores", "weight"]
Choice = str | int | bool | None
"""A column's name, its position from 0, False for one that must not be used, None: by a usual name."""

Names = tuple[str, ...]
"""Groups of names with blanks between them."""

# Usual names without case, blanks and signs. Those of the first group that a file has count, so that `asin`
# is no second item beside `item_id`; two of one group are not clear.
USERS = (
    "user userid userids uid",
    "username customer customerid customerno customernumber client clientid visitor visitorid viewer "
    "viewerid reviewer reviewerid member memberid account accountid profile profileid buyer buyerid person "
    "personid subscriber subscriberid shopper shopperid reader readerid listener listenerid kunde",
    "qid query queryid",
)
ITEMS = (
    "item itemid itemids iid",
    "sku skuid product productid productno movie movieid film filmid book bookid asin isbn article articleid "
    "articleno track trackid song songid artist artistid album albumid game gameid appid business businessid "
    "venue venueid poi poiid news newsid recipe recipeid anime animeid beer beerid stockcode ean gtin "
    "artikel artikelnummer offer offerid content contentid video videoid show showid",
    "parentasin",
    "docid docno doc",
)
_RATED = "rating ratings stars overall"
_RATED_MORE = "bookrating userrating reviewrating reviewscore ratingvalue"
_GRADED = "grade relevance rel label"
_SCORED = "score prediction predicted predictedrating estimate est"
RATINGS = (f"{_RATED} score", _RATED_MORE, "grade relevance rel")
GRADES = (_GRADED, f"{_RATED} {_RATED_MORE}", _SCORED)
ACTUAL_RATINGS = (f"{_RATED} {_RATED_MORE}", _GRADED, _SCORED)
SCORES = (_SCORED, _GRADED, f"{_RATED} {_RATED_MORE}")
TIMES = (
    "timestamp time unixreviewtime",
    "ts date datetime eventtime eventtimestamp timestampms unixtime createdat created dateadded ratedat "
    "ratingdate ratingtimestamp reviewtimestamp orderdate orderedat purchasedate purchasedat clickedat "
    "playedat tdat datum",
)
RANKS = ("rank position",)
TAGS = ("tag run runid system",)
LISTED = ("items itemids recommendations list",)
LISTED_SCORES = ("scores",)

_ATOMIC = re.compile(r":(token|float)(_seq)?$")  # RecBole's types of columns
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?")
_GAPS = frozenset({"", "nan", "null", "none", "na", "n/a", "\\n"})
LATEST = 4_102_444_800  # the year 2100
_FIRST_TIME = 100_000_000  # smaller whole numbers in a third column are ratings, larger ones times


@dataclass(frozen=True)
class Wanted:
    """The columns that a file is read for, and how a user says which they are."""

    names: Mapping[Role, Names]
    order: tuple[Role, ...]  # of the columns where there is no header and none is chosen
    choices: Mapping[Role, Choice] = field(default_factory=dict)
    needed: tuple[tuple[Role, ...], ...] = (("user",), ("item",))  # of each at least one must be there
    option: str = "dataset.{}={}"  # how a column is chosen, with the role and the column; empty: not at all
    command: str = ""  # what comes before
    setting: str = "dataset.{}={}"  # how anything else is set, with its name and value
    # Files of lists may be those of evaluation tools: blanks may separate columns without a header, and
    # TREC's are recognised by their looks, which a table may have, too. One command names columns of several
    # files, so that a chosen name counts only where it is there. Ratings are float64 instead of float32.
    of_lists: bool = False
    mixed_ids: bool = False  # whether ids may be numbers and texts in one column; they are texts then

    def __post_init__(self) -> None:
        for role, choice in self.choices.items():
            may_be_off = role not in ("user", "item")
            usable = (isinstance(choice, str) and choice) or (_is_position(choice) and choice >= 0)
            if not (usable or choice is None or (choice is False and may_be_off)):
                off = ", false" if may_be_off else ""
                raise ConfigError(
                    f"{role} must be a column's name, its position from 0{off} or null, got {choice!r}."
                )

    def by_name(self, names: Sequence[str], location: str) -> dict[Role, int]:
        """Return the position of each role's column among `names`; what is not needed may be absent."""
        positions, problems = {}, {}
        for role in self.names:
            at = self._places(role, names)
            if len(at) == 1:
                positions[role] = at[0]
            elif at:
                problems[role] = f"several columns could be the {role}: {listed(names[p] for p in at)}"
            elif self.choices.get(role) not in (None, False) and not self.of_lists:
                problems[role] = f"there is no column {self.choices[role]!r} for the {role}"
        return self._complete(positions, problems, names, location, f"The columns are: {listed(names)}")

    def by_position(
        self, first: Sequence[str], below: Sequence[Sequence[str]], location: str
    ) -> dict[Role, int]:
        """Return the position of each role's column where there is no header, from the first rows."""
        chosen = {role: choice for role, choice in self.choices.items() if _is_position(choice)}
        problems = {
            role: f"there is no column {choice!r} for the {role}"
            for role, choice in self.choices.items()
            if (isinstance(choice, str) and not self.of_lists) or chosen.get(role, -1) >= len(first)
        }
        if not chosen and not problems:
            if not self.order:
                raise SchemaError(
                    f"{location}: nobody knows whether the third column is a rank or a score. Say "
                    f"{self.setting.format('order', 'rank')} or {self.setting.format('order', 'score')}, or "
                    f"choose columns by their positions: {self._line(['user', 'item'])}."
                )
            chosen, problems = self._in_order([first, *below])
        elif not {"user", "item"} & {*chosen, *problems}:
            chosen = {"user": 0, "item": 1, **chosen}
        columns = f"There are {len(first)} columns, from 0"
        return self._complete(chosen, problems, [str(at) for at in range(len(first))], location, columns)

    def _complete(
        self,
        positions: dict[Role, int],
        problems: dict[Role, str],
        names: Sequence[str],
        location: str,
        columns: str,
    ) -> dict[Role, int]:
        """Return positions, or refuse what is wrong, what is missing and what is there twice."""
        missing = [roles for roles in self.needed if not {*positions, *problems} & set(roles)]
        texts = [*problems.values()]
        if missing:  # that lists may stand in one column is said in the docs
            words = (" or ".join(role for role in roles if role != "items") for roles in missing)
            texts.append(f"no column is known as the {', the '.join(words)}")
        if texts:
            unclear = [*problems, *(roles[0] for roles in missing)]
            none = " (false for none)" if {"rating", "time"} & {*problems} else ""
            raise SchemaError(
                f"{location}: {'; '.join(filter(None, texts))}. {columns}. Choose with "
                f"{self._line(unclear)}{none}."
            )
        for role, at in positions.items():
            if twice := [other for other in positions if other != role and positions[other] == at]:
                raise SchemaError(
                    f"{location}: column {shortened(names[at])} is taken as {role} and as {twice[0]}. "
                    "Choose different columns."
                )
        return positions

    def has_header(
        self, first: Sequence[str], below: Sequence[Sequence[str]], location: str, said: bool | None = None
    ) -> bool:
        """Whether the first row of a file names its columns, by the rule of docs/data.md.

        `said` is what the user says, which counts, of several files where nobody can tell.
        """
        if said is not None and not self.of_lists:
            return said
        chosen = [choice for choice in self.choices.values() if isinstance(choice, str)]
        if (chosen and not self.of_lists) or any(choice in first for choice in chosen):
            return True
        unknown = [roles[0] for roles in self.needed if not any(self._usual(role, first) for role in roles)]
        if not {"user", "item"} & {*unknown}:
            return True
        header = looks_like_header(first, below)
        header = said if header is None else header
        if header is None:
            raise SchemaError(
                f"{location}: nobody can tell whether this line names the columns or is a row. If it is a "
                f"row, say {self.setting.format('header', 'false')}; if it names the columns, "
                f"{self._line(unknown)}."
            )
        return header

    def may_be(self, name: str) -> bool:
        """Whether a column of this name may be one of the wanted, whatever other columns there are."""
        chosen = any(choice == name or _is_position(choice) for choice in self.choices.values())
        return chosen or any(self._usual(role, [name]) for role in self.names)

    def _in_order(self, rows: Sequence[Sequence[str]]) -> tuple[dict[Role, int], dict[Role, str]]:
        """Return columns in their usual order, and what is wrong where rating or time would be text."""
        roles = [role for role in self.order if self.choices.get(role) is not False]
        positions: dict[Role, int] = {}
        problems: dict[Role, str] = {}
        for at in range(len(rows[0])):
            if not roles:
                break
            role = roles[0]
            cells = [row[at] for row in rows if len(row) > at and not _is_gap(row[at])]
            if role == "rating" and "time" in roles and cells and all(map(_is_time, cells)):
                role = "time"
            if role in ("rating", "time") and cells and not any(map(_is_value, cells)):
                problems |= dict.fromkeys(roles, "") | {role: f"column {at} is no {role}: {shown(cells[0])}"}
            positions[role] = at
            roles = roles[roles.index(role) + 1 :]
        return positions, problems

    def _places(self, role: Role, names: Sequence[str]) -> list[int]:
        choice = self.choices.get(role)
        if choice is False:
            return []
        if choice is not None:
            places = [at for at, name in enumerate(names) if choice in (name, at)]
            if places or not self.of_lists:
                return places
        return self._usual(role, names)

    def _usual(self, role: Role, names: Sequence[str]) -> list[int]:
        plain = [_plain(name) for name in names]
        for group in self.names.get(role, ()):
            if places := [at for at, name in enumerate(plain) if name in group.split()]:
                return places
        return []

    def _line(self, roles: Sequence[Role]) -> str:
        """Return what to type to choose columns."""
        if not self.option:
            return f"a header that names {', '.join(roles)}"
        options = [self.option.format(role, "COLUMN") for role in dict.fromkeys(roles)]
        if "rank" in roles and "score" in self.names:
            options.append(f"(or {self.option.format('score', 'COLUMN')})")
        return " ".join([*([self.command] if self.command else []), *options])


TABLE: Mapping[Role, Names] = {"user": USERS, "item": ITEMS, "rating": RATINGS, "time": TIMES}


def looks_like_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool | None:
    """Whether a first row of unknown names is a header, from the rows below it; None: not clear.

    Examples
    --------
    >>> looks_like_header(["kunde", "wert"], [["ann", "3.5"]])  # text over numbers
    True
    >>> looks_like_header(["ann", "3.5"], [["bob", "4"]]), looks_like_header(["u1", "x7"], [["u2", "x7"]])
    (False, False)
    >>> looks_like_header(["ann", "x"], [["bob", "y"]]) is None, looks_like_header(["0", "1"], []) is None
    (True, True)
    """
    columns = [
        [row[at] for row in below if len(row) > at and not _is_gap(row[at])] for at in range(len(first))
    ]
    words = [(cell, cells) for cell, cells in zip(first, columns, strict=True) if not _is_gap(cell) and cells]
    counted = [str(at) for at in range(len(first))]
    if list(first) == counted or [cell for cell in first if cell] == counted[:-1]:
        return None  # pandas writes such names where columns have none
    over_values = [cell for cell, cells in words if not _is_value(cell) and all(map(_is_value, cells))]
    if any(map(_is_value, first)):
        return None if any(not _digits(cell) for cell in over_values) else False
    if over_values or any(not _digits(cell) and all(map(_digits, cells)) for cell, cells in words):
        return True
    return False if any(cell in cells or _one_form(cell, cells) for cell, cells in words) else None


def _one_form(cell: str, cells: Sequence[str]) -> bool:
    """Whether ids with digits have the same letters, or all the same length."""
    if not _digits(cell):
        return False
    letters = re.sub("[0-9]+", "0", cell)
    same = all(re.sub("[0-9]+", "0", other) == letters for other in cells)
    return same or (len(cells) > 2 and all(len(other) == len(cell) for other in cells) and len(cell) > 6)


def _digits(cell: str) -> bool:
    return any(sign.isdigit() for sign in cell)


def _is_gap(cell: str) -> bool:
    return cell.strip().lower() in _GAPS


def _is_value(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(cell.strip())) or is_date(cell)


def _is_time(cell: str) -> bool:
    text = cell.strip()
    return is_date(text) or (text.partition(".")[0].isdecimal() and float(text) >= _FIRST_TIME)


def is_date(cell: str) -> bool:
    """Whether text is an ISO 8601 date, with or without a time of day."""
    text = cell.strip()
    if not (len(text) >= 10 and text[4:5] == "-" and text[:4].isdecimal()):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _plain(name: str) -> str:
    return "".join(sign for sign in _ATOMIC.sub("", name.strip()).lower() if sign.isalnum())


def bare(name: str) -> str:
    """Return the name of a column without RecBole's type."""
    return _ATOMIC.sub("", name)


def _is_position(choice: Choice) -> TypeGuard[int]:
    return isinstance(choice, int) and not isinstance(choice, bool)
