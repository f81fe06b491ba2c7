"""How the kernels are compiled and where the machine code is kept.

The machine code lies in a folder named after the engine's sources, since numba by itself looks only at
the file of the function called and would go on using kernels whose helpers have changed. Imports numba;
nothing of recgauge.
"""

import hashlib
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding as llvm
from numba import __version__ as numba_version
from numba import config as numba_config
from numba import njit as numba_njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

config: Any = numba_config
njit: Any = numba_njit
_HERE = Path(__file__).parent
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Kernel) -> Kernel:
    """Compile a helper; it becomes part of the entry that calls it and is cached with it."""
    compiled: Kernel = njit(no_cpython_wrapper=True, _nrt=True, **_OPTIONS)(function)
    return compiled


def borrower(function: Kernel) -> Kernel:
    """Compile a helper that makes no array and so need not count references to those it is lent.

    Counting is atomic, twice for every array of every structure, at every call: a sixth of the search's time.
    """
    compiled: Kernel = njit(no_cpython_wrapper=True, _nrt=False, **_OPTIONS)(function)
    return compiled


def reorderer(function: Kernel) -> Kernel:
    """Compile a helper whose sums may be taken in any order, and so many numbers at once.

    Only for bounds, which leave room for rounding, and for finite numbers; never for scores.
    """
    fast = {"reassoc", "contract", "arcp", "nnan", "nsz"}
    compiled: Kernel = njit(no_cpython_wrapper=True, _nrt=False, fastmath=fast, **_OPTIONS)(function)
    return compiled


def entry(function: Kernel) -> Kernel:
    """Compile a kernel that Python calls, and keep its machine code where a folder can be written."""
    dispatcher = njit(**_OPTIONS)(function)
    folder = cache_folder()
    if folder is not None:
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            dispatcher.enable_caching()
        finally:
            config.CACHE_DIR = before
    compiled: Kernel = dispatcher
    return compiled


def sources_digest() -> str:
    """Short hash of what machine code is made from: the engine's sources, numba's version, the processor."""
    target = (numba_version, config.CPU_NAME or llvm.get_host_cpu_name(), sorted(cpu_features()))
    digest = hashlib.sha256(repr(target).encode())
    for path in sorted(_HERE.glob("_*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def cpu_features() -> frozenset[str]:
    """Return what machine code may use, under LLVM's names; asking LLVM takes milliseconds.

    This processor's features, unless NUMBA_CPU_FEATURES or NUMBA_CPU_NAME=generic ask for fewer: numba then
    compiles for those, and an instruction that they lack ends the process.
    """
    asked = config.CPU_FEATURES
    if asked is not None:
        return frozenset(name.removeprefix("+") for name in asked.split(",") if name.startswith("+"))
    found = (name for name, is_there in llvm.get_host_cpu_features().items() if is_there)
    return frozenset(name for name in found if config.ENABLE_AVX or not name.startswith("avx"))


def cache_folder() -> Path | None:
    """Find the first writable of numba's own cache setting, the package's folder and the user's cache.

    None means to compile every time. Never the shared temporary folder: numba unpickles what it finds, and
    anybody may write there.
    """
    name = f"kernels-{sources_digest()}"
    bases = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    bases.append(_HERE / "__pycache__")
    with suppress(RuntimeError):  # a user without a home folder
        bases.append(Path.home() / ".cache" / "recgauge")
    return next((base / name for base in bases if _is_writable(base / name)), None)


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def is_cached(name: str) -> bool:
    """Whether machine code of the entry ``name`` is in the cache folder."""
    folder = cache_folder()
    return folder is not None and any(folder.rglob(f"*.{name}-*.nbc"))
