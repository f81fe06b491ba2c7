"""Functions that numba compiles, and the time that this takes. Imports numba.

F32s and the like are the arrays of kernels.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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


class Notice(event.Listener):  # type: ignore[misc] # numba is not typed
    """Calls a function once, when the first kernel begins to be compiled."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._calls = [call]

    def on_start(self, event: Any) -> None:  # noqa: ARG002 - numba's contract
        """Call the function, unless it was called."""
        with suppress(IndexError):
            self._calls.pop()()

    def on_end(self, event: Any) -> None:
        """Do nothing."""


@contextmanager
def compile_timer(notice: Notice) -> Iterator[Any]:
    """Measure how long threads compile kernels, or load what was compiled, while the context is open.

    It gives a ``numba.core.event.TimingListener``. Of several threads, the time in which one of them does so
    counts once. `notice` hears of kernels that are compiled.
    """
    with (
        event.install_listener("numba:compile", notice),
        event.install_timer("numba:compiler_lock", lambda _seconds: None) as timer,  # loading takes the lock
    ):
        yield timer
