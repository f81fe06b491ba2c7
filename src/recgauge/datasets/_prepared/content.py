"""What is kept of a data set, and how it becomes plain arrays and text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.data.dataset import ItemFeatures
from recgauge.data.interactions import Interactions

Columns = dict[str, npt.NDArray[Any]]

ROWS = ("user", "item", "value", "timestamp")


class NotStorableError(Exception):
    """An array has a type that plain files cannot keep exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """All that reading a source gives; what a run's settings add to it is not part.

    Parameters
    ----------
    interactions : Interactions
    item_titles : ndarray of str, shape (n_items,), or None
    item_features : ItemFeatures or None
    facts : mapping of str to Any
        What the reader has to say about the files; survives a JSON round trip.
    """

    interactions: Interactions
    item_titles: npt.NDArray[Any] | None = None
    item_features: ItemFeatures | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def to_columns(prepared: Prepared) -> tuple[Columns, dict[str, Any]]:
    """Return plain arrays by name, and what is needed beside them as JSON.

    Raises
    ------
    NotStorableError
        If an array holds objects that are no text.
    """
    rows = prepared.interactions
    columns: Columns = {name: getattr(rows, name) for name in ROWS if getattr(rows, name) is not None}
    texts = {"user_ids": rows.user_ids, "item_ids": rows.item_ids, "item_titles": prepared.item_titles}
    for name, array in texts.items():
        if array is not None:
            columns |= _plain(name, array)
    described: dict[str, Any] = {"facts": dict(prepared.facts)}
    if (features := prepared.item_features) is not None:
        for part in ("data", "indices", "indptr"):
            columns[f"features_{part}"] = getattr(features.matrix, part)
        described["feature_names"] = list(features.names)
    return columns, described


def from_columns(columns: Columns, described: Mapping[str, Any]) -> Prepared:
    """Return what `to_columns` was given.

    Raises
    ------
    KeyError
        If a column is absent.
    SchemaError
        If columns do not fit together.
    """
    rows = Interactions(
        columns["user"],
        columns["item"],
        columns["value"],
        columns.get("timestamp"),
        _restored("user_ids", columns),
        _restored("item_ids", columns),
    )
    has_titles = "item_titles" in columns or "item_titles_text" in columns
    features = None
    if (names := described.get("feature_names")) is not None:
        parts = tuple(columns[f"features_{part}"] for part in ("data", "indices", "indptr"))
        matrix = sparse.csr_array(parts, shape=(rows.n_items, len(names)))
        features = ItemFeatures(matrix, tuple(names))
    titles = _restored("item_titles", columns) if has_titles else None
    return Prepared(rows, titles, features, described["facts"])


def _plain(name: str, array: npt.NDArray[Any]) -> Columns:
    """Return the array, or the bytes and ends of its texts if it holds Python's."""
    if array.dtype != object:
        if array.dtype.hasobject or array.dtype.kind == "T":
            raise NotStorableError(f"{name} of type {array.dtype}")
        return {name: array}
    texts = array.tolist()
    if others := sorted({type(text).__name__ for text in texts if type(text) is not str}):
        raise NotStorableError(f"{name} of type {', '.join(others)}")
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {f"{name}_text": np.frombuffer(b"".join(encoded), np.uint8), f"{name}_ends": ends}


def _restored(name: str, columns: Columns) -> npt.NDArray[Any]:
    if name in columns:
        return columns[name]
    text, ends = columns[f"{name}_text"].tobytes(), columns[f"{name}_ends"].tolist()
    texts = np.empty(len(ends), dtype=object)
    starts = [0, *ends[:-1]]
    texts[:] = [text[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)]
    return texts
