"""The columns of a file and their roles: by choice, by usual names, or by their order."""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Literal, Self, TypeGuard

from recgauge.errors import ColumnsError, ConfigError, SchemaError, did_you_mean, listed, shortened
from recgauge.utils.checks import check_choice, shown

Role = Literal["user", "item", "rating", "time", "rank", "score", "tag", "event", "items"]
Choice = str | int | bool | None
"""A column's name, its position from 0, False for one that must not be used, None: by a usual name."""

Names = tuple[str, ...]
"""Groups of names with blanks between them."""
TimeUnit = Literal["s", "ms", "us", "ns", "date"]

# Usual names without case, blanks and signs. Those of the first group that a file has count, so that `asin`
# is no second item beside `item_id`; two of one group are not clear.
USERS = (
    "user userid userids uid",
    "username customer customerid customerno customernumber client clientid visitor visitorid viewer "
    "viewerid reviewer reviewerid member memberid account accountid profile profileid buyer buyerid person "
    "personid subscriber subscriberid shopper shopperid reader readerid listener listenerid "
    "kunde kundennummer kundennr kdnr kundenid käufer kaeufer nutzer benutzer",
    "qid query queryid",
)
ITEMS = (
    "item itemid itemids iid",
    "sku skuid product productid productno productasin productsku itemsku articlesku "
    "movie movieid film filmid book bookid asin isbn article articleid "
    "articleno track trackid song songid artist artistid album albumid game gameid appid business businessid "
    "venue venueid poi poiid news newsid recipe recipeid anime animeid beer beerid stockcode ean gtin "
    "artikel artikelnummer artikelnr artnr produkt produktnummer offer "
    "offerid content contentid video videoid show showid",
    "parentasin",
    "docid docno doc",
)
_RATED = "rating ratings stars overall"
_RATED_MORE = "bookrating userrating reviewrating reviewscore ratingvalue bewertung sterne"
_GRADED = "grade relevance rel"
SCORED: Names = ("score prediction predicted predictedrating estimate est",)
RATINGS = (f"{_RATED} score", _RATED_MORE, _GRADED)
GRADES = (_GRADED, f"{_RATED} {_RATED_MORE}", *SCORED, "label")  # beside others a label is asked for
ACTUAL_RATINGS = (f"{_RATED} {_RATED_MORE}", _GRADED, *SCORED, "label")
SCORES = (*SCORED, _GRADED, f"{_RATED} {_RATED_MORE}")
TIMES = (
    "timestamp time unixreviewtime",
    "ts date datetime eventtime eventtimestamp timestampms unixtime createdat created dateadded ratedat "
    "ratingdate ratingtimestamp reviewdate reviewtime reviewtimestamp "
    "orderdate orderedat purchasedate purchasedat clickedat "
    "playedat tdat datum kaufdatum bestelldatum zeitstempel",
)
EVENTS = (
    "event eventtype eventname action actiontype behavior behaviortype interaction interactiontype "
    "ereignis ereignistyp aktion vorgang",
)
KINDS = (
    "view click detailview pv like dislike share comment cart fav buy order purchase transaction remove "
    "addtocart addcart removefromcart wishlist play skip watch listen open rate impression"
)
"""Kinds of events as logs have them: rows that hardly count alike."""
RANKS = ("rank position",)
LISTED = ("items itemids recommendations list",)
LISTED_SCORES = ("scores",)
"""Of a column beside lists, which is refused."""

LOOK = "`recgauge data look FILE` shows what each column of a file is taken for."
_ATOMIC = re.compile(r":(token|float)(_seq)?$")  # RecBole's types of columns
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)*|[.,][0-9]+)([eE][+-]?[0-9]+)?")
LATEST = 4_102_444_800  # the year 2100
# Words in the name of a column that says which rows count, or for what.
_LABELS = frozenset(
    {"label", "labels", "event", "events", "split", "fold", "variant", "run", "model", "algorithm", "algo"}
    | {"partition", "train", "test"}
)
_TAGGED = frozenset({"tag", "runid", "system", "method", "recommender", "experiment"})  # in lists, too
_NO_LABELS = frozenset({"id", "time", "date", "timestamp", "year", "day", "at", "ts", "price"})  # event_time
TRUTHS = frozenset(
    {"true", "false", "yes", "no", "t", "f", "y", "n", "up", "down", "like", "dislike", "pos", "neg"}
) | {"liked", "disliked", "positive", "negative", "train", "training", "test", "valid", "validation", "val"}
_PAIR: tuple[Role, ...] = ("user", "item")


@dataclass(frozen=True)
class CellFormat:
    """How cells are written, as far as the user says so; see `recgauge.datasets.table.Table`."""

    missing: Sequence[str] = ()  # cells that are missing, beside empty ones
    unused: Sequence[str] = ()  # columns that are left out on purpose
    keep: Sequence[str] = ()  # columns that are read along
    decimal: str = "."
    time_unit: TimeUnit | None = None
    time_format: str | None = None  # as strptime has it
    implausible: Literal["refuse", "keep"] = "refuse"

    @classmethod
    def of(cls, settings: object) -> Self:
        """Return what an object with settings of these names says; others keep their defaults."""
        names = [field.name for field in fields(cls) if hasattr(settings, field.name)]
        return cls(**{name: getattr(settings, name) for name in names})

    def __post_init__(self) -> None:
        for name in ("missing", "unused", "keep"):
            cells = getattr(self, name)
            if isinstance(cells, str) or not all(isinstance(cell, (str, int)) for cell in cells):
                raise ConfigError(f"{name} must be a list, such as [NA], got {cells!r}.")
            object.__setattr__(self, name, tuple(map(str, cells)))
        check_choice("decimal", self.decimal, (".", ","))
        check_choice("implausible", self.implausible, ("refuse", "keep"))
        if self.time_format is not None and "%" not in str(self.time_format):
            raise ConfigError(f"time_format must be as of strptime (%d.%m.%Y), got {self.time_format!r}.")


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are read, by position."""

    names: tuple[str, ...]  # of all columns; their positions where there is no header
    positions: Mapping[Role, int]
    header: bool = True
    further: tuple[int, ...] = ()  # in no role: to be looked at, or kept
    unused: tuple[str, ...] = ()

    @property
    def used(self) -> list[int]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.positions.values(), *self.further]))

    @property
    def labels(self) -> dict[Role, str]:
        """What the columns of roles are called."""
        names = self.names if self.header else [f"column {name}" for name in self.names]
        return {role: bare(names[at]) for role, at in self.positions.items()}


@dataclass(frozen=True)
class Roles:
    """The roles that the columns of a file may have, and how a user says which column has which."""

    names: Mapping[Role, Names]  # without any, all columns are read
    order: tuple[Role, ...] = ()  # of the columns of a known format that has no header
    choices: Mapping[Role, Choice] = field(default_factory=dict)
    needed: tuple[tuple[Role, ...], ...] = (("user",), ("item",))  # at least one role of each
    option: str = "dataset.{}={}"  # how a column is chosen, with the role and the column; empty: not at all
    command: str = ""  # what comes before
    setting: str = "dataset.{}={}"  # how anything else is set, with its name and value; empty: in Python
    # Files of lists may be those of evaluation tools: blanks may separate columns without a header, and
    # TREC's are recognised by their looks, which a table may have, too. One command names columns of several
    # files, so that a chosen name counts only where it is there. Ratings are float64 instead of float32, and
    # ids may be numbers and texts in one column, which are texts then.
    of_lists: bool = False
    cells: CellFormat = field(default_factory=CellFormat)

    def __post_init__(self) -> None:
        for role, choice in self.choices.items():
            if choice is None or (choice is False and role not in _PAIR):
                continue
            if (_is_position(choice) and choice < 0) or not (choice or _is_position(choice)):
                raise ConfigError(
                    f"{role} must be a column's name, its position from 0 or null (false for no rating or "
                    f"time), got {choice!r}."
                )

    def columns(
        self,
        names: Sequence[str],
        location: str,
        numbers: Collection[int] = (),
        lists: Collection[int] = (),
        *,
        header: bool = True,
    ) -> Columns:
        """Return which columns are read.

        `numbers` are those of numbers or truth values, `lists` those whose cells are lists by their type.
        Without a `header`, `names` are positions; roles are chosen by position, or known from the order.
        """
        positions, problems = self.positions(names, header=header)
        if header and {"item", "items"} <= {*positions} and not self._chosen("items", names):
            del positions["items"]  # any column may be called list
        if "items" in self.names and "items" not in positions and positions.get("item") in lists:
            positions["items"] = positions.pop("item")
        for roles in self.needed:
            if not {*positions, *problems} & {*roles}:
                words = " or ".join(role for role in roles if role != "items")
                form = " (write one row per item, or one list per cell)" * (roles == ("item", "items"))
                problems[roles[0]] = f"no column is known as the {words}{form}"
        if problems:
            raise self._refusal(problems, positions, names, location, header=header)
        role_at: dict[int, Role] = {}
        for role, at in positions.items():
            if role_at.setdefault(at, role) != role:
                raise SchemaError(
                    f"{location}: column {shortened(names[at])} is taken as {role_at[at]} and as {role}. "
                    "Choose different columns."
                )
        further, unused = self._further(names, {*role_at}, "rating" in positions, numbers, location)
        return Columns(tuple(names), positions, header, further, unused)

    def _refusal(
        self,
        problems: Mapping[Role, str],
        positions: Mapping[Role, int],
        names: Sequence[str],
        location: str,
        *,
        header: bool,
    ) -> SchemaError:
        hints = [did_you_mean(str(self.choices.get(role) or ""), map(bare, names)) for role in problems]
        text = f"{location}: {'; '.join(problems.values())}. {''.join(dict.fromkeys(hints))}The columns are: "
        text += f"{listed(names)}. Choose with {self._words([*problems])}."
        if {*problems} == {"rank"} and not self.setting:  # in Python
            ranks = f"frame['rank'] = frame.groupby({names[positions['user']]!r}).cumcount() + 1"
            text += f" If rows are in the order of each list, this adds ranks: {ranks}."
        if any(self.choices.get(role) is not None for role in problems):
            return SchemaError(text)  # a choice is wrong
        rest = (bare(name) for at, name in enumerate(names) if at not in positions.values())
        return ColumnsError(text + self._look, dict(zip(problems, rest, strict=False)), header=header)

    def positions(self, names: Sequence[str], *, header: bool) -> tuple[dict[Role, int], dict[Role, str]]:
        """Return the position of each role's column, and what is wrong with others."""
        choices = [choice for choice in self.choices.values() if choice is not None and choice is not False]
        if not header and all(self.of_lists and isinstance(choice, str) for choice in choices):
            order = self.order or (_PAIR if len(names) == len(_PAIR) else ())
            return {role: at for at, role in enumerate(order) if self.choices.get(role) is not False}, {}
        positions, problems = {}, {}
        taken = {at for role in self.names for at in self._chosen(role, names)}
        for role in self.names:
            at = self._chosen(role, names) or (self._usual(role, names, taken) if header else [])
            if len(at) == 1:
                positions[role] = at[0]
            elif at:
                problems[role] = f"several columns could be the {role}: {listed(names[p] for p in at)}"
            elif self.choices.get(role) not in (None, False) and not self.of_lists:
                problems[role] = f"there is no column {self.choices[role]!r} for the {role}"
        return positions, problems

    def _further(
        self, names: Sequence[str], used: set[int], rated: bool, numbers: Collection[int], location: str
    ) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Return columns in no role that are kept or may be labels, and the names of unused ones."""
        if not self.names:
            refuse_repeated(names, location)
            return tuple(range(len(names))), ()
        plain, cells = [*map(bare, names)], self.cells
        absent = [name for name in (*cells.keep, *cells.unused) if name not in plain]
        if absent and not self.of_lists:
            raise SchemaError(
                f"{location}: there is no column {shown(absent[0])}. The columns are: {listed(plain)}."
            )
        graded = rated or "rating" not in self.names or self.choices.get("rating") is False
        rest = [at for at, name in enumerate(plain) if at not in used and name not in cells.keep]
        labels = [
            at
            for at in rest
            if (self.is_label(plain[at]) or (at in numbers and not graded)) and plain[at] not in cells.unused
        ]
        kept = [at for at, name in enumerate(plain) if name in cells.keep]
        return tuple(kept + labels), tuple(names[at] for at in rest)

    def has_header(
        self, rows: Sequence[Sequence[str]], file: object, separator: str, header: bool | None = None
    ) -> bool:
        """Whether the first of some rows names the columns: as usual, as chosen, or as `header` says.

        Raises
        ------
        ColumnsError
            If nobody says so: the message shows the first rows, with the file's `separator`, and how to say
            which columns are which.
        """
        if not self.names:
            return header is not False
        first = rows[0]
        pair = [roles for roles in self.needed if {*_PAIR} & {*roles}]
        named = [any(self._is_named(role, first) for role in roles) for roles in pair]
        chosen = not self.of_lists and any(isinstance(choice, str) for choice in self.choices.values())
        if (all(named) or chosen) and (header is None or self.of_lists):
            return True
        positions = [role for role in (*_PAIR, "items") if _is_position(self.choices.get(role))]
        if header is not None and (header or positions or self.order or len(first) == len(_PAIR)):
            return header
        if any(named) and not positions:
            return True  # what it does not name is asked for by the names of all columns
        rated = any(self._is_named(role, first) for role in ("rating", "time") if role in self.names)
        is_header = _seems_header(rows) or (rated and not any(map(is_value, first)))
        if len(positions) == len(_PAIR) and not is_header:
            return False
        cells = rows[-1] if len(rows[-1]) == len(first) else first
        places = [str(at) for at, cell in enumerate(cells) if not is_date(cell)]
        if positions or not self.option:
            words = " or ".join(self.setting.format("header", value) for value in ("true", "false"))
        else:
            options = [self.option.format(role, at) for role, at in zip(_PAIR, places, strict=False)]
            if "rank" in self.names:
                options += [
                    self.option.format("rank", "COLUMN"),
                    f"(or {self.option.format('score', 'COLUMN')})",
                ]
            words = " ".join(filter(None, [self.command, *options]))
            words += ", with the right columns from 0, if it is a row; "
            words += f"{self._words(_PAIR)} if it names the columns"
        begin = ", ".join(shown(shortened((separator or " ").join(row))) for row in rows[:3])
        examples = zip(_PAIR, map(bare, first) if is_header else places, strict=False)
        raise ColumnsError(
            f"{file}: the first row does not name the user and the item as usual. Say which columns they "
            f"are: {words}. It begins: {begin}.{self._look}",
            {role: column for role, column in examples if self.choices.get(role) is None},
            header=is_header,
        )

    def is_read(self, name: str) -> bool:
        """Whether a column of this name may be read, whatever other columns there are."""
        by_position = not self.names or any(map(_is_position, self.choices.values()))
        return by_position or self.is_name(name) or self.is_label(name) or name in self.cells.keep

    def is_name(self, name: str) -> bool:
        """Whether a column of this name has a role, by choice or as usual."""
        return any(self._is_named(role, [name]) for role in self.names)

    def _is_named(self, role: Role, names: Sequence[str]) -> bool:
        """Whether a name is that of a role, by choice or as usual; positions do not count."""
        choice = self.choices.get(role)
        chosen = isinstance(choice, str) and choice in map(bare, names)
        return chosen or any(is_usual(name, self.names.get(role, ())) for name in names)

    def is_label(self, name: str) -> bool:
        """Whether the name of a column that is not used says which rows count, or for what."""
        return is_label(name) or is_usual(name, EVENTS) or (self.of_lists and _plain(name) in _TAGGED)

    def _chosen(self, role: Role, names: Sequence[str]) -> list[int]:
        choice = self.choices.get(role)
        if choice is None or choice is False:
            return []
        return [at for at, name in enumerate(names) if choice in (name, bare(name)) or choice == at]

    def _usual(self, role: Role, names: Sequence[str], taken: Collection[int] = ()) -> list[int]:
        choice = self.choices.get(role)
        if choice is False or (choice is not None and not self.of_lists):
            return []
        plain = ["" if at in taken else _plain(name) for at, name in enumerate(names)]
        groups = (
            [at for at, name in enumerate(plain) if name in g.split()] for g in self.names.get(role, ())
        )
        return next(filter(None, groups), [])

    @property
    def _look(self) -> str:
        return f" {LOOK}" if self.setting.startswith("dataset.") else ""

    def _words(self, roles: Sequence[Role]) -> str:
        """Return what to type to choose columns."""
        if not self.option:
            return f"a header that names {', '.join(roles)}"
        kept = {
            role: choice for role, choice in self.choices.items() if choice is not None and role not in roles
        }
        options = [
            self.option.format(role, shlex.quote(str(kept[role]))) for role in kept if kept[role] is not False
        ]
        options += [self.option.format(role, "COLUMN") for role in roles]
        if "rank" in roles and "score" in self.names:
            options.append(f"(or {self.option.format('score', 'COLUMN')})")
        if "items" in self.names and {"item", "rank"} & {*roles}:
            options.append(f"(or {self.option.format('items', 'COLUMN')}, of lists)")
        return " ".join([*filter(None, [self.command]), *options])


def column_of(role: Role, names: Sequence[str], subject: str, choice: Choice = None, option: str = "") -> str:
    """Return the name of the column of users or items: the chosen one, or the one with a usual name.

    Raises
    ------
    SchemaError
        If there is none, or several could be meant; the message names the columns.
    """
    roles = Roles({role: {"user": USERS, "item": ITEMS}[role]}, (), {role: choice}, ((role,),), option)
    return names[roles.columns(names, subject).positions[role]]


def refuse_repeated(names: Sequence[str], subject: str) -> None:
    """Refuse columns of one name."""
    if repeated := [name for at, name in enumerate(names) if name in names[:at]]:
        raise SchemaError(f"{subject}: two columns are called {shown(repeated[0])}. Rename or drop one.")


TABLE: Mapping[Role, Names] = {"user": USERS, "item": ITEMS, "rating": RATINGS, "time": TIMES}


def is_label(name: str) -> bool:
    """Whether the name of a column says label, event, run, model, algorithm, fold, split or variant.

    Examples
    --------
    >>> [is_label(name) for name in ("event_type", "modelName", "Split", "event_time", "flabel", "price")]
    [True, True, True, False, False, False]
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", bare(name).strip())
    plain = {word.lower() for word in words}
    return bool(plain & _LABELS) and not plain & _NO_LABELS


def is_usual(name: str, groups: Names) -> bool:
    """Whether a name is in groups of usual names."""
    return _plain(name) in " ".join(groups).split()


def _seems_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether text stands over numbers or dates in the first rows: a header with names that nobody knows."""
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    columns = zip(rows[0], *below, strict=True) if below else []
    return any(
        cell.strip()
        and not is_value(cell)
        and all(is_value(value) for value in cells if value.strip())
        and any(cells)
        for cell, *cells in columns
    )


def is_value(cell: str) -> bool:
    """Whether text is a number or a date."""
    return bool(_NUMBER.fullmatch(cell.strip())) or is_date(cell)


def are_flags(cells: Iterable[object]) -> bool:
    """Whether cells are numbers or truth values, as such or as text; None is an empty cell."""
    return all(
        bool(_NUMBER.fullmatch(cell)) or cell.lower() in TRUTHS
        if isinstance(cell, str)
        else cell is None or isinstance(cell, (bool, int, float))
        for cell in cells
    )


def are_kinds(cells: Iterable[str]) -> bool:
    """Whether all cells are kinds of events, two or more: ``view`` and ``add_to_cart``."""
    kinds = set(map(_plain, cells))
    return len(kinds) > 1 and kinds <= set(KINDS.split())


def is_date(cell: str) -> bool:
    """Whether text is an ISO 8601 date, with or without a time of day."""
    text = cell.strip()
    if not (len(text) >= 10 and text[4:5] == "-" and text[:4].isdecimal()):
        return False
    try:
        datetime.fromisoformat(text.removesuffix(" UTC"))
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
