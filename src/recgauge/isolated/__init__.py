"""Libraries that cannot be installed beside recgauge, and their environments in the cache folder.

An environment is made whole or not at all, found, and removed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from importlib.metadata import distributions
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from recgauge.errors import ConfigError, MissingDataError, MissingLibraryError, did_you_mean, printable
from recgauge.utils.files import cache_folder, exclusive, user_path
from recgauge.utils.progress import Progress

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """A library that is run in an environment of its own."""

    name: str  # as in `recgauge env make NAME` and on the package index
    title: str  # as its authors write it
    install: tuple[str, ...]  # what is asked for; all others come along, in the pinned versions
    pythons: tuple[Version, Version]  # first and last that it can be installed with
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
            "1.6 GB, with a CUDA build of PyTorch about 6 GB",
        ),
        "lenskit": Library(
            "lenskit",
            "LensKit",
            ("lenskit", "torch"),
            ((3, 11), (3, 13)),
            "1.5 GB, with a CUDA build of PyTorch about 6 GB",
        ),
        "rectools": Library(
            "rectools",
            "RecTools",
            ("rectools",),
            ((3, 11), (3, 13)),
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


PINS = "requirements.txt"
"""In an environment: the versions that it was made from; the last file of it that is written."""
_TOLD = ("torch", "numpy")
"""Packages whose versions stand beside the library's own."""
_INSTALLERS = ("pip", "setuptools", "wheel")
"""What Python itself may put into an environment; it counts only where it is pinned."""
_ON_WINDOWS = sys.platform == "win32"


@dataclass(frozen=True)
class Environment:
    """An environment that can be used."""

    library: Library
    folder: Path

    @property
    def interpreter(self) -> Path:
        """Its Python."""
        return self.folder / ("Scripts/python.exe" if _ON_WINDOWS else "bin/python")

    @cached_property
    def python(self) -> str:
        """Its version of Python."""
        found = re.search(r"^version = (\S+)", (self.folder / "pyvenv.cfg").read_text("utf-8"), re.MULTILINE)
        return found[1] if found else "?"

    @cached_property
    def packages(self) -> dict[str, str]:
        """The versions of its packages by name, as the package index compares names."""
        sites = self.folder.glob("Lib/site-packages" if _ON_WINDOWS else "lib/python*/site-packages")
        found = {
            re.sub(r"[-_.]+", "-", each.metadata["Name"]).lower(): each.version
            for each in distributions(path=[str(site) for site in sites])
        }
        return {
            name: found[name]
            for name in sorted(found)
            if name not in _INSTALLERS or self.library.pins(name) is not None
        }

    def versions(self) -> dict[str, str]:
        """Return the versions of the library, of what its numbers hang on, and of Python."""
        names = (self.library.name, *_TOLD)
        return {name: self.packages[name] for name in names if name in self.packages} | {
            "python": self.python
        }

    def identity(self) -> str:
        """Return one line that differs between environments that may give other numbers."""
        digest = sha256(json.dumps([self.python, self.packages], sort_keys=True).encode()).hexdigest()
        return f"{', '.join(f'{name} {one}' for name, one in self.versions().items())}; packages {digest}"


def environments_folder() -> Path:
    """Return the folder of all environments, below ``RECGAUGE_CACHE`` or the user's own cache folder.

    What lies there is run as a program, so no setting says where it is: settings can come from a stranger.
    """
    return cache_folder(os.environ.get("RECGAUGE_CACHE") or None).absolute() / "environments"


def look_for(name: str) -> Environment | None:
    """Return the environment of a library; None if it is not there, or was made from other versions."""
    library = library_of(name)
    found = Environment(library, environments_folder() / name)
    try:
        pins = (found.folder / PINS).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return found if found.interpreter.exists() and pins == library.requirements() else None


def find_environment(name: str) -> Environment:
    """Return the environment of a library, which must be there."""
    if found := look_for(name):
        return found
    raise MissingLibraryError(
        f"{library_of(name).called} needs an environment of its own, and there is none in "
        f"{environments_folder() / name}, or one of other versions. Make it once: recgauge env make {name}"
    )


def make_environment(
    name: str, progress: Progress, *, python: str | None = None, again: bool = False
) -> tuple[Environment, bool]:
    """Make the environment of a library; leave alone one that is there and as it should be."""
    library, root = library_of(name), environments_folder()
    interpreter = _checked_interpreter(library, python)
    with _locked(root, name, progress):
        if not again and (found := look_for(name)):
            return found, False
        progress.note(f"{library.called} goes to {root / name} ({library.space}); this takes some minutes.")
        try:
            _remove(root / name)
            fill(library, root / name, interpreter)
        except BaseException:  # Ctrl-C, too
            _remove(root / name)
            raise
    return find_environment(name), True


def remove_environment(name: str, progress: Progress) -> Path:
    """Remove the environment of a library, whatever state it is in; return where it was."""
    library_of(name)
    root = environments_folder()
    if not (root / name).exists():
        raise ConfigError(f"env: there is no environment of {name} in {root}; nothing was removed.")
    with _locked(root, name, progress):
        _remove(root / name)
    return root / name


def _checked_interpreter(library: Library, python: str | None) -> str:
    """Return the interpreter, by default the one that runs, if the library can be installed with it."""
    path = sys.executable if python is None else str(user_path(python))
    command = [path, "-I", "-c", "import sys; print(*sys.version_info[:2])"]
    first, last = (".".join(map(str, version)) for version in library.pythons)
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        version = tuple(map(int, told.split()))
    except (OSError, ValueError, subprocess.SubprocessError):
        version = ()
    if not library.pythons[0] <= version <= library.pythons[1]:
        found = f"Python {'.'.join(map(str, version))}" if version else "no Python that runs"
        raise ConfigError(
            f"env: {library.called} needs Python {first} to {last}; {printable(path)} is {found}. "
            f"Name one that is: recgauge env make {library.name} --python python{last}"
        )
    return path


def fill(library: Library, folder: Path, interpreter: str) -> None:
    """Install a library into a folder, in the versions that are pinned; venv and pip tell what they do."""
    pins = folder / "pins.txt"
    own = [str(Environment(library, folder).interpreter), "-I"]
    pip = ["-m", "pip", "install", "--no-input", "--disable-pip-version-check", "-c", str(pins)]
    _run(library, [interpreter, "-I", "-m", "venv", str(folder)])
    pins.write_text(library.requirements(), encoding="utf-8")
    _run(library, [*own, *pip, *library.install])
    _run(library, [*own, "-c", f"import {library.name}"])
    pins.rename(folder / PINS)


def _run(library: Library, command: Sequence[str]) -> None:
    code = subprocess.run(command, stdout=2, check=False).returncode  # results alone go to standard output
    if code:
        raise MissingDataError(
            f"env: {library.called} could not be installed (exit code {code}; see above); nothing was kept."
        )


@contextmanager
def _locked(root: Path, name: str, progress: Progress) -> Iterator[None]:
    """Hold the environment of a library; an error of files names the folder."""
    waiting = partial(progress.note, f"another process makes or removes the environment of {name}; waiting")
    try:
        root.mkdir(parents=True, exist_ok=True)
        with exclusive(root / f"{name}.lock", waiting):
            yield
    except OSError as error:
        raise MissingDataError(
            f"env: the environment of {name} cannot be kept in {root}: {error.strerror or error}. Let "
            "RECGAUGE_CACHE name another cache folder."
        ) from error


def _remove(folder: Path) -> None:
    """Remove an environment; what makes it one goes first."""
    (folder / PINS).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
