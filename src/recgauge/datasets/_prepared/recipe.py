"""The key under which a prepared data set is kept: the files' content, the options and the code that read."""

import json
from collections.abc import Mapping
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from recgauge._version import __version__

_CODE = Path(__file__).parent.parent  # all of recgauge.datasets


def key_of(digests: list[str], options: Mapping[str, Any]) -> str:
    """Return the digest of everything that decides what reading gives.

    Parameters
    ----------
    digests : list of str
        sha256 of the files, in order.
    options : mapping of str to Any
        Options of the reader; must survive JSON.

    Notes
    -----
    The version of the reader is its source text together with the versions of the libraries that it reads
    with: a number that somebody has to raise would be forgotten one day.
    """
    recipe = {"files": digests, "options": options, "code": _code(), "libraries": _libraries()}
    return sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def _code() -> str:
    digest = sha256()
    for path in sorted(_CODE.rglob("*.py")):
        digest.update(f"{path.relative_to(_CODE).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _libraries() -> dict[str, str]:
    # pyarrow takes a tenth of a second to import, which a kept data set does without.
    return {"recgauge": __version__, "numpy": np.__version__, "pyarrow": metadata.version("pyarrow")}
