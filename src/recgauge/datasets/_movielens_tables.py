"""Reads the members of a MovieLens archive: ratings as columns, movies with titles and genres."""

import csv
import io
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.data.dataset import ItemFeatures
from recgauge.datasets._arrow import to_numpy
from recgauge.datasets._movielens_releases import Release
from recgauge.errors import SchemaError
from recgauge.utils.checks import FloatArray, IntArray, LongArray

_NOT_A_GENRE = frozenset({"(no genres listed)", "unknown", ""})


@dataclass(frozen=True)
class Ratings:
    """Rows as the publisher ordered them."""

    user: IntArray
    item: IntArray
    value: FloatArray
    timestamp: LongArray


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
        place = np.searchsorted(self.ids, item_ids, sorter=order)
        rows = order[np.minimum(place, len(order) - 1)]
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


def read_ratings(archive: zipfile.ZipFile, release: Release) -> Ratings:
    """Return every row of the ratings member.

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
        # Fields are parted by two colons, so every second column of the single-colon reading is empty.
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
    return Ratings(*(to_numpy(table[column], dtype) for column, dtype in types.items()))


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
