"""What tables of users' values say of themselves: whose they are, and what each column is."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = b"recgauge"


def described(schema: "pa.Schema", about: Mapping[str, Any]) -> "pa.Schema":
    """Return a schema that says, as JSON in its metadata, what its columns hold."""
    return schema.with_metadata({_KEY: json.dumps(about, ensure_ascii=False)})


def type_of_all(kinds: "Iterable[pa.DataType]") -> "pa.DataType":
    """Return the type of ids of several tables together: text, unless all have one type.

    Examples
    --------
    >>> import pyarrow as pa
    >>> type_of_all([pa.int64(), pa.int64()]), type_of_all([pa.int64(), pa.string()])
    (DataType(int64), DataType(string))
    """
    import pyarrow as pa

    known = set(kinds)
    return known.pop() if len(known) == 1 else pa.string()


def about_values(schema: "pa.Schema") -> dict[str, Any]:
    """Return what `described` wrote; nothing of tables that others have made.

    Examples
    --------
    >>> import pyarrow as pa
    >>> about_values(described(pa.schema([("user", pa.int64())]), {"run": "svd"}))
    {'run': 'svd'}
    """
    try:
        found = json.loads((schema.metadata or {}).get(_KEY, b"{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
