"""Functions that numba compiles, and the time that this takes. Imports numba.

F32s and the like are the arrays of kernels.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from time import perf_counter
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from recgauge.utils.current_folder import refuse_numba_file

F32s = npt.NDArray[np.float32]
F64s = npt.NDArray[np.float64]
I32s = npt.NDArray[np.int32]
I64s = npt.NDArray[np.int64]
U64s = npt.NDArray[np.uint64]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

refuse_numba_file()  # which numba reads when it is imported
import numba  # noqa: E402
from numba.core import event as numba_event  # noqa: E402

config: Any = numba.config
njit: Any = numba.njit
event: Any = numba_event


def compiled(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a function as ``numba.njit`` does, and keep its machine code where numba can write a file.

    numba compiles it anew when its own file has changed, not when a helper in another file has.

    Examples
    --------
    >>> @compiled(nogil=True)
    ... def twice(number):
    ...     return 2 * number
    >>> twice(21)
    42
    """

    def decorate(function: Kernel) -> Kernel:
        refuse_numba_file()  # a component may have gone to another folder
        kernel: Any = njit(**options)(function)
        with suppress(RuntimeError):  # numba can write into no folder
            kernel.enable_caching()
        return cast("Kernel", kernel)

    return decorate


class Compiling(event.Listener):  # type: ignore[misc] # numba is not typed
    """Measures how long threads compile functions, or load what was compiled earlier, while it listens.

    `seconds` are those in which a thread did so, while others may have waited for it. `on_compile` is called
    once, when the first function begins to be compiled.
    """

    def __init__(self, on_compile: Callable[[], None]) -> None:
        self.seconds = self._begun = 0.0
        self._n_open, self._calls = 0, [on_compile]
        self._lock = Lock()  # functions are compiled inside others, and on several threads

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Measure while the context is open."""
        with (
            event.install_listener("numba:compiler_lock", self),  # what loads takes only the lock
            event.install_listener("numba:compile", self),
        ):
            yield

    def on_start(self, event: Any) -> None:
        """Take the time."""
        with self._lock:
            if not self._n_open:
                self._begun = perf_counter()
            self._n_open += 1
            calls = self._calls if event.kind == "numba:compile" else []
            call = calls.pop() if calls else None
        if call:
            call()

    def on_end(self, event: Any) -> None:  # noqa: ARG002 - numba's contract
        """Add up the time if nothing is compiled any more."""
        with self._lock:
            self._n_open -= 1
            if not self._n_open:
                self.seconds += perf_counter() - self._begun
