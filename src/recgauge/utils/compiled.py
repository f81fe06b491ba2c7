"""Compiles functions and keeps their machine code for later processes: one way for all kernels.

numba's own store looks only at the file of the function called, and so goes on using kernels whose helpers
have changed; it raises where no folder can be written; and it takes damaged files for whole ones, which may
abort the process. Here every file is in a folder named after the sources, and begins with a digest of its
content. Imports numba.
"""

import hashlib
import os
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import llvmlite.binding as llvm
from numba import __version__ as numba_version
from numba import config as numba_config
from numba import njit as numba_njit
from numba.core import serialize as numba_serialize
from numba.core.compiler import CompileResult as NumbaCompileResult

from recgauge.utils.files import is_private, user_cache, user_temporary

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

config: Any = numba_config
njit: Any = numba_njit
serialize: Any = numba_serialize
CompileResult: Any = NumbaCompileResult
_DIGEST = 32  # bytes at the begin of a file


def compiled(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a function as ``numba.njit`` does with these options, and keep its machine code.

    Parameters
    ----------
    **options
        Of `numba.njit`, without ``cache``.

    Examples
    --------
    >>> @compiled(nogil=True)
    ... def twice(number):
    ...     return 2 * number
    >>> twice(21)
    42
    """

    def decorate(function: Kernel) -> Kernel:
        made: Any = njit(**options)(function)
        if _can_keep(function, made):
            made._cache = _Kept(function)
        kernel: Kernel = made
        return kernel

    return decorate


def is_kept(source: Path, name: str) -> bool:
    """Whether machine code of the function `name` of a file (or one next to it) can be loaded."""
    files = (path for folder in _folders(source) for path in folder.glob(f"{name}-*.kernel"))
    return any(_read(path) is not None for path in files)


@cache
def sources_digest(source: Path) -> str:
    """Return a short hash of what machine code is made from: sources, versions, the processor.

    Parameters
    ----------
    source : Path
        A file; the modules next to it whose names begin with ``_`` count, too, since kernels call each other.
    """
    python = (sys.implementation.cache_tag, getattr(sys, "abiflags", ""))
    target = (config.CPU_NAME or llvm.get_host_cpu_name(), sorted(cpu_features()))
    digest = hashlib.sha256(repr((python, numba_version, llvmlite.__version__, target)).encode())
    for path in sorted({source, *source.parent.glob("_*.py")}):
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


def _can_keep(function: Callable[..., Any], made: Any) -> bool:
    """Whether machine code can be kept: for functions of a file, with a numba that exposes its code."""
    if config.DISABLE_JIT or function.__closure__ or not Path(function.__code__.co_filename).is_file():
        return False
    if hasattr(made, "_cache") and all(hasattr(CompileResult, name) for name in ("_reduce", "_rebuild")):
        return True
    warnings.warn(
        f"numba {numba_version} keeps machine code in another way than recgauge knows: kernels are compiled "
        "in every process. Install the version that constraints.txt names.",
        RuntimeWarning,
        stacklevel=4,
    )
    return False


def _folders(source: Path) -> Iterator[Path]:
    """Yield the folders that may hold machine code: the one set for numba, else the package's, the user's."""
    name = f"kernels-{sources_digest(source)}"
    if config.CACHE_DIR and _is_ready(Path(config.CACHE_DIR) / name):
        yield Path(config.CACHE_DIR) / name
        return
    yield source.parent / "__pycache__" / name
    for base in (user_cache, user_temporary):
        found = base()
        if found is not None:
            yield found / name


def _is_ready(folder: Path) -> bool:
    """Make a folder if it is missing; return whether code in it can be trusted."""
    with suppress(OSError):
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    return is_private(folder)


class _Kept:
    """The kept machine code of one function; has what numba's dispatchers ask of a cache."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._source = Path(function.__code__.co_filename)
        self._name = function.__name__.strip("<>")
        self._identity = (function.__module__, function.__qualname__, function.__code__.co_firstlineno)

    @property
    def cache_path(self) -> str:
        """The folder that numba's statistics name."""
        return str(next(_folders(self._source)))

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled function for a signature, None if it must be compiled."""
        target_context.refresh()
        name = self._file(signature, target_context.codegen())
        for folder in _folders(self._source):
            content = _read(folder / name)
            if content is not None:
                return CompileResult._rebuild(target_context, *serialize.loads(content))
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Write the compiled function into the first folder that can be written; nowhere if none can."""
        if result.lifted or result.library.has_dynamic_globals:
            return
        name = self._file(signature, result.codegen)
        content = serialize.dumps(result._reduce())
        any(_write(folder / name, content) for folder in _folders(self._source))

    def flush(self) -> None:
        """Do nothing: what is compiled again is written over."""

    def _file(self, signature: Any, codegen: Any) -> str:
        key = repr((self._identity, signature, codegen.magic_tuple()))
        return f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.kernel"


def _read(path: Path) -> bytes | None:
    """Return the content of a file, None if it is absent or damaged, or if others could have written it."""
    if not is_private(path.parent):
        return None
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    content = stored[_DIGEST:]
    return content if stored[:_DIGEST] == _digest(path, content) else None


def _write(path: Path, content: bytes) -> bool:
    """Write a file, whole or not at all, even if others write it, too; return whether that worked."""
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    if not _is_ready(path.parent):
        return False
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(_digest(path, content) + content)
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        return False
    return True


def _digest(path: Path, content: bytes) -> bytes:
    """Return the digest of a content under its name: a whole file of another kernel is refused, too."""
    return hashlib.sha256(path.name.encode() + content).digest()
