"""Functions that numba compiles, with the machine code that it keeps for later processes. Imports numba.

numba compiles a function again when its own file has changed, but not when a helper in another file has. So
its cache is in a folder named after the sources of all kernels beside a function, which are the files whose
names begin with ``_``: a folder never holds code of other sources.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, TypeVar

import numba
from numba.core import event as numba_event

from recgauge.utils.files import is_private, is_writable, user_cache, user_temporary

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

config: Any = numba.config
njit: Any = numba.njit
event: Any = numba_event
Listener: Any = numba_event.Listener


def compiled(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a function as ``numba.njit`` does, and keep its machine code where a folder can be written.

    Examples
    --------
    >>> @compiled(nogil=True)
    ... def twice(number):
    ...     return 2 * number
    >>> twice(21)
    42
    """

    def decorate(function: Kernel) -> Kernel:
        source = Path(function.__code__.co_filename)
        folder = _kernel_folder(source.parent) if source.is_file() else None
        if folder is None:
            kernel: Kernel = njit(**options)(function)
        else:
            with _kept_in(folder):
                kernel = njit(cache=True, **options)(function)
        return kernel

    return decorate


@contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    """Let numba keep what is decorated now in a folder; what others decorate stays where it was."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@cache
def _kernel_folder(sources: Path) -> Path | None:
    """Return the folder for machine code of a package's kernels: NUMBA_CACHE_DIR, the package's, the user's.

    None where none can be written, or where others could put code into it, which would then be run.
    """
    digest = hashlib.sha256()
    for path in sorted(sources.glob("_*.py")):
        digest.update(path.read_bytes())
    bases = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    for base in (*bases, sources / "__pycache__", user_cache(), user_temporary()):
        if base is not None:
            folder = base / f"kernels-{digest.hexdigest()[:12]}"
            with suppress(OSError):
                folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            if is_private(folder) and is_writable(folder):
                return folder
    return None


class Compiling(Listener):  # type: ignore[misc] # numba is not typed
    """Measures how long this process compiles functions, or loads what was compiled earlier.

    Attributes
    ----------
    seconds : float
        Wall-clock seconds in which a thread did so, while others may have waited for it.
    """

    def __init__(self, on_compile: Callable[[], None]) -> None:
        self.seconds = 0.0
        self._on_compile: Callable[[], None] | None = on_compile
        self._lock = Lock()
        self._n_open, self._since = 0, 0.0  # functions are compiled inside others, and on several threads

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Measure while the context is open."""
        with ExitStack() as stack:
            for kind in ("numba:compiler_lock", "numba:compile"):  # loading takes only the lock
                stack.enter_context(event.install_listener(kind, self))
            yield

    def on_start(self, event: Any) -> None:
        """Take the time."""
        with self._lock:
            if self._n_open == 0:
                self._since = perf_counter()
            self._n_open += 1
            call = self._on_compile if event.kind == "numba:compile" else None
            self._on_compile = None if call else self._on_compile
        if call:
            call()

    def on_end(self, event: Any) -> None:  # noqa: ARG002 - contract
        """Add up the time if nothing is compiled any more."""
        with self._lock:
            self._n_open -= 1
            if self._n_open == 0:
                self.seconds += perf_counter() - self._since
