"""The code that a run is made by: a digest of recgauge's sources, and one for each class outside of it.

A process reads sources once, when it first asks: it runs what it has imported, whatever is edited meanwhile.
"""

import inspect
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path

import recgauge
from recgauge.runs.folder import file_digest

_OWN = recgauge.__name__
_CODE = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)


def is_own(target: str) -> bool:
    """Whether a class is among recgauge's own sources; those of experiments lie beside them in a checkout.

    Examples
    --------
    >>> is_own("recgauge.models.SVD"), is_own("recgauge.experiments.leakage.window.Window")
    (True, False)
    """
    return target.startswith(f"{_OWN}.") and not target.startswith(f"{_OWN}.experiments.")


@cache
def own_sources() -> str:
    """Return the digest of recgauge's sources."""
    return _digest(_code_below(Path(recgauge.__file__).parent))


@cache
def sources_of(kind: type) -> str:
    """Return the digest of the code that a class may be made of.

    That is its package, or its module, with the modules and packages in the same folder, which it may import;
    of an installed package, the package alone. A class without a file, such as a compiled one, has the text
    "no source" for a digest.
    """
    try:
        source = inspect.getsourcefile(kind)
    except (TypeError, OSError):
        source = None
    if source is None:
        return "no source"
    name = kind.__module__.partition(".")[0]
    if name == _OWN:
        return _digest(Path(source).parent.glob("*.py"))
    tops = [Path(folder) for folder in getattr(sys.modules.get(name), "__path__", (source,))]
    installed = _installed()
    return _digest(
        path
        for top in tops
        for path in (
            [top]
            if top.is_file() and top.parent.resolve() in installed
            else _code_below(top if top.parent.resolve() in installed else top.parent)
        )
    )


@cache
def _installed() -> frozenset[Path]:
    """Return the folders of installed packages, which have nothing to do with each other."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = [*(sysconfig.get_path(name) for name in names)]
    folders += [path for path in sys.path if path.endswith("-packages")]
    return frozenset(Path(folder).resolve() for folder in folders)


def _code_below(folder: Path) -> Iterator[Path]:
    """Yield the modules of a folder and of the packages in it; other folders, such as outputs, are left."""
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name.isidentifier() and any(Path(here, name).glob("*.py"))]
        yield from (Path(here, name) for name in names if name.endswith(_CODE))


def _digest(files: Iterable[Path]) -> str:
    """Return the digest of files and of their names below their common folder."""
    paths = sorted(set(files))
    root = Path(os.path.commonpath([path.parent for path in paths]))
    lines = [f"{path.relative_to(root).as_posix()} {file_digest(path)}" for path in paths]
    return sha256("\n".join(lines).encode()).hexdigest()
