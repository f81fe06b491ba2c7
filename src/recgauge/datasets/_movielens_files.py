"""Reads the files in a MovieLens archive: ratings, movies with titles and genres, published splits."""

import csv
import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.data.dataset import ItemFeatures
from recgauge.data.ids import encode_sorted
from recgauge.data.interactions import Interactions
from recgauge.data.published import PublishedParts, PublishedSplits
from recgauge.datasets._arrow import to_numpy
from recgauge.datasets._movielens_releases import Release
from recgauge.datasets._published import PUBLISHED, REZIPPED, UNPACKING_ERRORS, VerifiedFile
from recgauge.errors import IntegrityError, SchemaError
from recgauge.utils.checks import LongArray

_NOT_A_GENRE = frozenset({"(no genres listed)", "unknown", ""})


@dataclass(frozen=True)
class Movies:
    """Listed movies: ids, titles, genres of each, and the genre names in column order."""

    ids: LongArray
    titles: npt.NDArray[Any]
    genres: list[list[str]]
    genre_names: tuple[str, ...]

    def of_items(self, item_ids: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ItemFeatures]:
        """Return titles and genres in the order of `item_ids`."""
        order = np.argsort(self.ids, kind="stable")
        position = np.searchsorted(self.ids, item_ids, sorter=order)
        rows = order[np.minimum(position, len(order) - 1)]
        unlisted = item_ids[self.ids[rows] != item_ids]
        if len(unlisted):
            raise SchemaError(
                f"{len(unlisted)} rated movies are not in the list of movies, the first has id "
                f"{unlisted[0]}. The members of the archive do not belong together: download it again."
            )
        return self.titles[rows], self._features(rows)

    def _features(self, rows: LongArray) -> ItemFeatures:
        column = {name: code for code, name in enumerate(self.genre_names)}
        columns = [sorted(column[name] for name in self.genres[row] if name in column) for row in rows]
        indptr = np.cumsum([0, *map(len, columns)])
        indices = np.array([code for row in columns for code in row], dtype=np.int32)
        ones = np.ones(len(indices), dtype=np.float32)
        shape = (len(rows), len(self.genre_names))
        return ItemFeatures(sparse.csr_array((ones, indices, indptr), shape=shape), self.genre_names)


def read_ratings(archive: zipfile.ZipFile, release: Release) -> Interactions:
    """Return every row of the ratings member, in the publisher's order.

    Raises
    ------
    SchemaError
        If a cell is not a number.
    """
    # pyarrow reads the 20 million rows of ml_20m in a third of the time of pandas; imported when needed only.
    from pyarrow import ArrowInvalid
    from pyarrow import csv as arrow_csv

    member, separator, columns = {
        "u": ("u.data", "\t", ["user", "item", "rating", "time"]),
        # Fields are separated by two colons, so every second column of the single-colon reading is empty.
        "dat": ("ratings.dat", ":", ["user", "_1", "item", "_2", "rating", "_3", "time"]),
        "csv": ("ratings.csv", ",", ["user", "item", "rating", "time"]),
    }[release.layout]
    types = {"user": "int32", "item": "int32", "rating": "float32", "time": "int64"}
    name = f"{release.folder}/{member}"
    with archive.open(name) as stream:
        try:
            table = arrow_csv.read_csv(
                stream,
                arrow_csv.ReadOptions(column_names=columns, skip_rows=int(release.layout == "csv")),
                arrow_csv.ParseOptions(delimiter=separator, quote_char=False),
                arrow_csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
            )
        except ArrowInvalid as error:
            raise SchemaError(f"{release.name}: {name} cannot be read: {error}.") from error
    user, item, value, timestamp = (to_numpy(table[column], dtype) for column, dtype in types.items())
    (user_ids, users), (item_ids, items) = encode_sorted(user), encode_sorted(item)
    user_ids, item_ids = user_ids.astype(np.int64), item_ids.astype(np.int64)
    return Interactions(users, items, value, timestamp, user_ids, item_ids)


def read_movies(archive: zipfile.ZipFile, release: Release) -> Movies:
    """Return every listed movie, rated or not.

    Raises
    ------
    SchemaError
        If a line lacks a field, its id is no number, or the text has another encoding.
    """
    read = _read_u_item if release.layout == "u" else _read_movies
    try:
        return read(archive, release)
    except (ValueError, IndexError) as error:
        raise SchemaError(
            f"{release.name}: the list of movies is not laid out as published: {error}."
        ) from error


def _read_movies(archive: zipfile.ZipFile, release: Release) -> Movies:
    if release.layout == "csv":
        text = _text(archive, release, "movies.csv")
        fields = list(csv.reader(io.StringIO(text, newline="")))[1:]
    else:
        fields = [line.split("::") for line in _lines(_text(archive, release, "movies.dat"))]
    genres = [[name for name in row[2].split("|") if name not in _NOT_A_GENRE] for row in fields]
    return _movies(fields, genres, tuple(sorted({name for row in genres for name in row})))


def _read_u_item(archive: zipfile.ZipFile, release: Release) -> Movies:
    listed = [line.split("|")[0] for line in _lines(_text(archive, release, "u.genre"))]
    fields = [line.split("|") for line in _lines(_text(archive, release, "u.item"))]
    # The genre flags end the line: one a name of u.genre, in its order.
    genres = [[name for name, flag in zip(listed, row[5:], strict=True) if flag == "1"] for row in fields]
    return _movies(fields, genres, tuple(name for name in listed if name not in _NOT_A_GENRE))


def _movies(fields: list[list[str]], genres: list[list[str]], names: tuple[str, ...]) -> Movies:
    ids = np.array([int(row[0]) for row in fields], dtype=np.int64)
    return Movies(ids, np.array([row[1] for row in fields], dtype=object), genres, names)


def _text(archive: zipfile.ZipFile, release: Release, member: str) -> str:
    return archive.read(f"{release.folder}/{member}").decode(release.encoding)


def _lines(text: str) -> list[str]:
    # Not splitlines: it also cuts at bytes that ISO-8859-1 titles may hold.
    return [line.rstrip("\r") for line in text.split("\n") if line]


# sha256 of the test rows of each; the training rows (.base) are all others.
_TEST_ROWS: Mapping[str, str] = {
    "u1": "18c6014a4b2c7324f250a63f8904a7b16b2b19f911129e346141507b0cbac950",
    "u2": "4de658d1e04ed9104629509a2e2528fce833ac8e048280183f1df167632038c3",
    "u3": "0f548b51c78327de4c156461d3e430b7e5579fe2b5681586a59416e48fd35f6d",
    "u4": "7c02ad0a1e7ab1083c8b9d4b627203a051dd7b5eab46d99fa44de33470de8db9",
    "u5": "351cc52e0d15b6c721466276fc24671d40936899e3d01fadeaf312915b8c5634",
    "ua": "d0497e202417720f57a184ec8c66be2d1afa4ff41bb53787c57b28d6bf79bc42",
    "ub": "d54a72d05730d5892062734b2bec73e976f9b713d18c828a18b968d6cce442da",
}


def splits_of(release: Release, file: VerifiedFile) -> PublishedSplits | None:
    """Return the splits in a release's archive, or None; nothing is read before it is requested."""
    if release.name != "ml_100k":
        return None
    # Who pins an archive of their own vouches for all that is in it.
    vouched = file.provenance not in (PUBLISHED, REZIPPED)
    return PublishedSplits(
        release.name,
        {
            name: partial(_read_test, file.path, f"{release.folder}/{name}.test", None if vouched else sha256)
            for name, sha256 in _TEST_ROWS.items()
        },
    )


def _read_test(path: Path, member: str, sha256: str | None) -> PublishedParts:
    """Return the test rows of one split.

    Raises
    ------
    IntegrityError
        If the archive lacks the member, or it is not the publisher's.
    SchemaError
        If it is not laid out as published.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            content = archive.read(member)
    except KeyError as error:
        raise IntegrityError(
            f"{path} has no member {member}. Get the publisher's whole archive, or choose another split."
        ) from error
    except UNPACKING_ERRORS as error:
        raise IntegrityError(
            f"{path}: {member} cannot be unpacked: {error}. Get the archive again."
        ) from error
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise IntegrityError(
            f"{path}: its member {member} is not the publisher's. Get the publisher's archive again."
        )
    try:
        rows = np.array([line.split(b"\t")[:2] for line in content.splitlines() if line], dtype=np.int64)
        return PublishedParts(test=Interactions.from_ids(rows[:, 0], rows[:, 1]))
    except (ValueError, IndexError) as error:
        raise SchemaError(f"{path}: {member} is not laid out as published: {error}.") from error
