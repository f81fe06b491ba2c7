"""What tables of users' values say of themselves: whose they are, and what each column is."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = b"recgauge"


def described(schema: "pa.Schema", about: Mapping[str, Any]) -> "pa.Schema":
    """Return a schema that says, as JSON in its metadata, what its columns hold."""
    return schema.with_metadata({_KEY: json.dumps(about, ensure_ascii=False)})


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
