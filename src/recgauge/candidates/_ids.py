"""Ids in files of candidates: lines of text, matched with the data set's ids as they are written."""

from collections.abc import Iterator

from recgauge.data.ids import IdArray
from recgauge.errors import MissingDataError, SchemaError, listed
from recgauge.utils.files import refuse_irregular, user_path


def codes_by_text(ids: IdArray) -> dict[str, int]:
    """Return ``{id as text: code}``."""
    return {str(one): code for code, one in enumerate(ids.tolist())}


def numbered_lines(subject: str, path: str) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of every line that is not blank.

    Raises
    ------
    MissingDataError
        If there is no such file.
    SchemaError
        If it is not UTF-8 text.
    """
    file = user_path(path)
    refuse_irregular(file, subject)
    if not file.is_file():
        raise MissingDataError(f"{subject}: there is no file {path}. Name one with candidates.path=FILE.")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SchemaError(
            f"{subject}: {path} is not UTF-8 text ({error.reason}). Save it as UTF-8."
        ) from error
    except OSError as error:
        raise MissingDataError(f"{subject}: cannot read {path}: {error.strerror}.") from error
    for number, line in enumerate(
        text.split("\n"), start=1
    ):  # splitlines also splits at characters inside ids
        if line.strip():
            yield number, line


def some(ids: IdArray) -> str:
    """Return a few ids as an example of how the data set writes them."""
    return listed(ids[:3].tolist())
