"""Libraries that cannot be installed beside recgauge: which there are, and what their environments hold."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from types import MappingProxyType

from recgauge.errors import ConfigError, did_you_mean

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Library:
    """A library that is run in an environment of its own."""

    name: str  # as in `recgauge env make NAME` and on the package index
    title: str  # as its authors write it
    install: tuple[str, ...]  # what is asked for; all others come along, in the pinned versions
    pythons: tuple[Version, Version]  # first and last that it can be installed with
    why: str  # what limits the versions of Python
    space: str  # on disk

    def requirements(self) -> str:
        """Return the file that pins the version of every package."""
        return files(__name__).joinpath("requirements", f"{self.name}.txt").read_text(encoding="utf-8")

    def pins(self) -> dict[str, set[str]]:
        """Return the versions that a package may have; which one depends on Python and system.

        Examples
        --------
        >>> LIBRARIES["recbole"].pins()["recbole"]
        {'1.2.1'}
        """
        pinned: dict[str, set[str]] = {}
        for line in self.requirements().splitlines():
            if found := re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line):
                pinned.setdefault(normalised(found[1]), set()).add(found[2])
        return pinned

    def requirements_sha256(self) -> str:
        """Return the digest of the pins."""
        return sha256(self.requirements().encode()).hexdigest()

    @property
    def version(self) -> str:
        """The version of the library itself."""
        return next(iter(self.pins()[self.name]))

    @property
    def called(self) -> str:
        """Title and version, for messages."""
        return f"{self.title} {self.version}"


def normalised(package: str) -> str:
    """Return a package's name as the index compares names.

    Examples
    --------
    >>> normalised("Scikit_learn")
    'scikit-learn'
    """
    return re.sub(r"[-_.]+", "-", package).lower()


LIBRARIES: Mapping[str, Library] = MappingProxyType(
    {
        "recbole": Library(
            "recbole",
            "RecBole",
            ("recbole", "torch"),
            ((3, 10), (3, 11)),
            "Ray 2.6.3, the newest that it accepts, cannot be installed with a newer one",
            "1.6 GB, with a CUDA build of PyTorch about 6 GB",
        ),
        "lenskit": Library(
            "lenskit",
            "LensKit",
            ("lenskit", "torch"),
            ((3, 11), (3, 13)),
            "the pinned packages are made for these",
            "1.5 GB, with a CUDA build of PyTorch about 6 GB",
        ),
        "rectools": Library(
            "rectools",
            "RecTools",
            ("rectools",),
            ((3, 11), (3, 13)),
            "the pinned packages are made for these",
            "0.4 GB",
        ),
    }
)


def library_of(name: str) -> Library:
    """Return the library of a name."""
    if name in LIBRARIES:
        return LIBRARIES[name]
    hint = did_you_mean(name, LIBRARIES)
    raise ConfigError(f"env: there is no library {name!r}. {hint}There are {', '.join(LIBRARIES)}.")
