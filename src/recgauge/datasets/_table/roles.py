"""Decides which column of a table is the user, the item, the rating and the time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeGuard

from recgauge.errors import ConfigError, SchemaError, listed

Role = Literal["user", "item", "rating", "time"]
Choice = str | int | bool | None
ROLES: tuple[Role, ...] = ("user", "item", "rating", "time")

_KNOWN: Mapping[Role, frozenset[str]] = {
    "user": frozenset({"user", "userid", "uid", "reviewerid"}),
    "item": frozenset({"item", "itemid", "iid", "movieid", "bookid", "productid", "asin"}),
    "rating": frozenset({"rating", "score", "stars", "overall"}),
    "time": frozenset({"timestamp", "time", "unixreviewtime"}),
}


@dataclass(frozen=True)
class Roles:
    """What the user said about the columns.

    Parameters
    ----------
    user, item, rating, time : str, int, False or None
        A name, a position counted from 0, False for a rating or time that must not be used, or None: the
        column is recognised by a usual name; if there is no header and no column is chosen, columns are taken
        in the order user, item, rating, time.

    Raises
    ------
    ConfigError
        If a choice is none of these.
    """

    user: Choice = None
    item: Choice = None
    rating: Choice = None
    time: Choice = None

    def __post_init__(self) -> None:
        for role, choice in self.choices.items():
            may_be_off = role in ("rating", "time")
            usable = (isinstance(choice, str) and choice) or (_is_position(choice) and choice >= 0)
            if not (usable or choice is None or (choice is False and may_be_off)):
                off = ", false" if may_be_off else ""
                raise ConfigError(
                    f"Table: {role} must be a column's name, its position from 0{off} or null, "
                    f"got {choice!r}."
                )

    @property
    def choices(self) -> dict[Role, Choice]:
        """What was said about each role."""
        return {"user": self.user, "item": self.item, "rating": self.rating, "time": self.time}

    def match_names(self, names: Sequence[str]) -> bool:
        """Whether `names` must be a header, since a name was chosen, or hold usual ones of user and item."""
        if any(isinstance(choice, str) for choice in self.choices.values()):
            return True
        return all(any(_plain(name) in _KNOWN[role] for name in names) for role in ("user", "item"))


def columns_by_name(roles: Roles, names: Sequence[str], place: str) -> dict[Role, int]:
    """Return the position of each role's column among `names`; rating and time may be absent.

    Raises
    ------
    SchemaError
        If a column is absent, or several could be meant.
    """
    chosen: dict[Role, int] = {}
    for role, choice in roles.choices.items():
        if choice is False:
            continue
        if choice is None:
            found = [position for position, name in enumerate(names) if _plain(name) in _KNOWN[role]]
        else:
            found = [position for position, name in enumerate(names) if choice in (name, position)]
        if len(found) == 1:
            chosen[role] = found[0]
        elif len(found) > 1 or choice is not None or role in ("user", "item"):
            raise SchemaError(_unclear(role, choice, names, [names[position] for position in found], place))
    return _distinct(chosen, names, place)


def columns_by_position(roles: Roles, n_columns: int, place: str) -> dict[Role, int]:
    """Return the position of each role's column where there is no header.

    Raises
    ------
    SchemaError
        If a column is absent.
    """
    names = [str(position) for position in range(n_columns)]
    choices = roles.choices
    if any(_is_position(choice) or isinstance(choice, str) for choice in choices.values()):
        chosen = {role: choice for role, choice in choices.items() if _is_position(choice)}
    else:
        unsaid = [role for role in ROLES if choices[role] is None]
        chosen = dict(zip(unsaid, range(n_columns), strict=False))
    for role, choice in choices.items():
        needed = role in ("user", "item") or isinstance(choice, str)
        if chosen.get(role, n_columns if needed else 0) >= n_columns:
            raise SchemaError(_unclear(role, choice, names, [], f"{place} (no header)"))
    return _distinct(chosen, names, place)


def _distinct(chosen: dict[Role, int], names: Sequence[str], place: str) -> dict[Role, int]:
    for position in chosen.values():
        doubled = [role for role in chosen if chosen[role] == position]
        if len(doubled) > 1:
            raise SchemaError(
                f"{place}: column {names[position]} is taken as {' and as '.join(doubled)}. Set "
                "dataset.user, item, rating and time to different columns."
            )
    return chosen


def _unclear(role: Role, choice: Choice, names: Sequence[str], found: Sequence[str], place: str) -> str:
    if found:
        problem = f"several columns could be the {role}: {listed(found)}"
    elif choice is None:
        problem = f"no column is known as the {role}"
    else:
        problem = f"there is no column {choice!r} for the {role}"
    return f"{place}: {problem}. The columns are: {listed(names)}. Choose with dataset.{role}=COLUMN."


def _is_position(choice: Choice) -> TypeGuard[int]:
    return isinstance(choice, int) and not isinstance(choice, bool)


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())
