"""Candidates judged on the same test rows before, and what that does to the level.

Each candidate that is judged has its own chance to pass wrongly, and who chooses the next one by the
verdicts of those before fits the test rows. With ``looks: holm`` all candidates on these rows, those to come
among them, are one more family: candidate k gets the share ``1 / (k (k + 1))`` of the level, which sum to
one, and what candidates that passed have left (Holm's method with weights). It bounds the chance that any
candidate ever passes wrongly if none was chosen by earlier verdicts.

With ``looks: ladder`` also nothing is said of a candidate unless its first metric is better than that of the
best one before by more than a standard error. Until the first verdict is let out nothing was learned from the
rows, so that the bound holds for candidates that were chosen by earlier answers, too; later it is weakened by
the few verdicts that were let out, and not by all.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

from recgauge.errors import SchemaError
from recgauge.utils.files import refuse_irregular
from recgauge.utils.plain import from_plain

_LARGEST_FILE = 1 << 26  # bytes; a look has some 300


@dataclass(frozen=True, slots=True)
class Look:
    """A candidate that was judged.

    Parameters
    ----------
    candidate : str
        Digest of its run, or of its values.
    test_sha256 : str
        Digest of the test rows.
    p : float
        The largest p-value of its rules: that of a pass.
    outcome : str
    number : int
        Which candidate on these rows it is, from 1.
    metric : str
        The first one of the rules that was tested; empty if there is none.
    value : float
        Its mean.
    released : bool
        Whether the Ladder let its verdicts be read.
    """

    candidate: str
    test_sha256: str
    p: float
    outcome: str
    number: int = 1
    metric: str = ""
    value: float = 0.0
    released: bool = True

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` has written, or an earlier version, which wrote more fields.

        Raises
        ------
        SchemaError
            If it is something else.
        """
        try:
            known = {field.name for field in fields(cls)}
            plain = {name: value for name, value in dict(json.loads(text)).items() if name in known}
            look: Self = from_plain(cls, plain, "look")
        except (ValueError, TypeError, RecursionError) as error:
            raise SchemaError(f"a look is not what a check has written ({error}).") from error
        return look

    def to_json(self) -> str:
        """Return a line of JSON."""
        return json.dumps(asdict(self))


def others(looks: Iterable[Look], candidate: str, test_sha256: str) -> tuple[Look, ...]:
    """Return the last look at each other candidate on these test rows."""
    of_rows = (look for look in looks if look.test_sha256 == test_sha256 and look.candidate != candidate)
    return tuple({look.candidate: look for look in of_rows}.values())


def place_of(looks: Iterable[Look], candidate: str, test_sha256: str) -> int:
    """Return which candidate on these test rows one is: as before if it was judged before, else the next."""
    numbers = {look.candidate: look.number for look in looks if look.test_sha256 == test_sha256}
    return numbers.get(candidate, 1 + max(numbers.values(), default=0))


def holm_level(number: int, before: Iterable[Look], alpha: float) -> float:
    """Return the level of a candidate so that any of all candidates passes wrongly with chance alpha at most.

    Parameters
    ----------
    number : int
        Which candidate on the test rows it is, from 1.
    before : iterable of Look
        The other candidates on these rows.
    alpha : float

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
       Statistics 6(2), 1979 (with weights).

    Examples
    --------
    >>> first = Look("a", "rows", p=0.001, outcome="shown", number=1)
    >>> round(holm_level(2, [], 0.05), 5), round(holm_level(2, [first], 0.05), 5)
    (0.00833, 0.01667)
    """
    passed = {look.number for look in before if look.p <= alpha * _share(look.number)}
    return alpha * _share(number) / (1 - sum(map(_share, passed - {number})))


def _share(number: int) -> float:
    return 1 / (number * (number + 1))


def climbs(value: float, stderr: float, best: float, *, higher: bool) -> bool:
    """Return whether the Ladder lets a candidate be read: better than the best before by a standard error.

    Parameters
    ----------
    value, stderr : float
        The candidate's mean, and the standard error of its difference from the baseline.
    best : float
        The best mean that was let out before, the baseline's among them.
    higher : bool
        Whether higher is better.

    Notes
    -----
    The Ladder with a fixed step; its step is the standard error, as in its parameter-free form.

    References
    ----------
    .. [1] A. Blum, M. Hardt, "The Ladder: a reliable leaderboard for machine learning competitions", ICML
       2015.

    Examples
    --------
    >>> climbs(0.34, 0.01, 0.32, higher=True), climbs(0.325, 0.01, 0.32, higher=True)
    (True, False)
    """
    return (value - best if higher else best - value) > stderr


def read_looks(file: Path) -> list[Look]:
    """Read the looks that `write_look` has written; none if there is no file.

    Raises
    ------
    SchemaError
        If a line is not a look.
    """
    try:
        refuse_irregular(file, "--looks")
        with file.open("rb") as stream:
            text = stream.read(_LARGEST_FILE + 1).decode()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"{file}: cannot be read ({error}). Name another file, --looks.") from error
    if len(text) > _LARGEST_FILE:
        raise SchemaError(f"{file}: larger than {_LARGEST_FILE:,} bytes. Name another file, --looks.")
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(Look.from_json(line))
        except SchemaError as error:
            raise SchemaError(
                f"{file}, line {number}: is not a look that a check has written. Name another file, --looks."
            ) from error
    return found


def write_look(file: Path, look: Look) -> None:
    """Add a look to a file: a line of JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"{look.to_json()}\n")
