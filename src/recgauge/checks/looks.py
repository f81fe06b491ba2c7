"""Candidates that were judged on the same test rows before: each has a chance of its own to pass wrongly."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

from recgauge.errors import SchemaError, said
from recgauge.utils.files import read_own, refuse_irregular
from recgauge.utils.plain import from_plain


@dataclass(frozen=True, slots=True)
class Look:
    """A candidate that was judged.

    Parameters
    ----------
    candidate : str
        Digest of its run, or of its values.
    test_sha256 : str
        Digest of the test rows.
    outcome : str
    """

    candidate: str
    test_sha256: str
    outcome: str

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a line of `to_json`; further fields, of earlier versions, are left out.

        Raises
        ------
        SchemaError
            If it is something else.
        """
        try:
            plain = json.loads(text)
            look: Self = from_plain(cls, {field.name: plain[field.name] for field in fields(cls)}, "look")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise SchemaError(f"a look is not what a check has written ({error}).") from error
        return look

    def to_json(self) -> str:
        """Return a line of JSON."""
        return json.dumps(asdict(self))


def count_candidates(looks: Iterable[Look], candidate: str, test_sha256: str) -> int:
    """Return how many other candidates were judged on these test rows.

    Examples
    --------
    >>> looks = [Look("a", "rows", "shown"), Look("b", "rows", "worse"), Look("b", "rows", "worse")]
    >>> count_candidates(looks, "a", "rows")
    1
    """
    return len({look.candidate for look in looks if look.test_sha256 == test_sha256} - {candidate})


def read_looks(file: Path) -> list[Look]:
    """Read the looks that `write_look` has written; none if there is no file.

    Raises
    ------
    SchemaError
        If a line is not a look.
    """
    refuse_irregular(file, "looks")
    try:
        return [Look.from_json(line) for line in read_own(file).splitlines()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise SchemaError(f"{file}: cannot be read ({said(error)}). Mend it or move it away.") from error


def write_look(file: Path, look: Look) -> None:
    """Add a look to a file: a line of JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"{look.to_json()}\n")
