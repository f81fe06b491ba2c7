"""Libraries that cannot be installed beside recgauge: which there are, and what their environments hold."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from recgauge.errors import ConfigError, did_you_mean

Version = tuple[int, ...]


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

    def pins(self, package: str) -> str | None:
        """Return the version that a package must have, None if it is not pinned.

        Examples
        --------
        >>> LIBRARIES["recbole"].pins("recbole")
        '1.2.1'
        """
        found = re.search(rf"^{re.escape(package)}==([^\s;]+)", self.requirements(), re.MULTILINE)
        return found[1] if found else None

    @property
    def called(self) -> str:
        """Title and version, for messages."""
        return f"{self.title} {self.pins(self.name)}"


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
