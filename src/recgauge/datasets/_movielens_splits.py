"""The splits that GroupLens published with MovieLens 100K."""

import hashlib
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.data.published import PublishedParts, PublishedSplits
from recgauge.datasets._fetch.verify import PUBLISHED, REZIPPED, UNPACKING_ERRORS, VerifiedFile
from recgauge.datasets._movielens_releases import Release
from recgauge.errors import IntegrityError, SchemaError

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
    """Return the splits in a release's archive, or None; nothing is read before it is asked for."""
    if release.name != "ml_100k":
        return None
    # Who pins an archive of their own vouches for all that is in it.
    vouched = file.provenance not in (PUBLISHED, REZIPPED)
    return PublishedSplits(
        release.name,
        {
            name: partial(_read, file.path, f"{release.folder}/{name}.test", None if vouched else sha256)
            for name, sha256 in _TEST_ROWS.items()
        },
    )


def _read(path: Path, member: str, sha256: str | None) -> PublishedParts:
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
