"""One digest of everything that can change a run's numbers, so that finished runs can be found again."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from recgauge.runs.settings import free_settings

FREE_DATASET_SETTINGS = ("mirror", "cache", "archive", "offline", "sha256", "path", "prepared")
"""Settings of a data set that say where it is; the digest of its content replaces them."""


def fingerprint(
    settings: Mapping[str, Any], data_sha256: str, numeric_version: int, sources: Mapping[str, str]
) -> str:
    """Return the digest of everything that can change a number.

    Runs with equal fingerprints have equal results, as far as the same machine and the same versions of the
    libraries below recgauge give the same floating-point numbers.

    Parameters
    ----------
    settings : mapping of str to Any
        The resolved configuration. What is not known to be free counts, so a setting that is new makes new
        fingerprints rather than wrong ones.
    data_sha256 : str
        Digest of the content of the data; where they are does not count.
    numeric_version : int
        ``NUMERIC_VERSION`` of the package.
    sources : mapping of str to str
        What the run reads other than its data set, each with its digest: files that define classes outside
        recgauge, and files that settings name.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> here = fingerprint({"seed": 0, "tracking": {"uri": "a"}}, "0" * 64, 1, {})
    >>> here == fingerprint({"seed": 0, "tracking": {"uri": "b"}}, "0" * 64, 1, {})
    True
    >>> here == fingerprint({"seed": 1}, "0" * 64, 1, {})
    False
    """
    counted = {key: value for key, value in settings.items() if key not in free_settings()}
    counted["filters"] = list((counted.get("filters") or {}).items())  # their order counts
    dataset = counted.get("dataset") or {}
    counted["dataset"] = {key: dataset[key] for key in dataset if key not in FREE_DATASET_SETTINGS}
    facts = json.dumps([counted, data_sha256, numeric_version, dict(sources)], sort_keys=True, default=str)
    return sha256(facts.encode()).hexdigest()
