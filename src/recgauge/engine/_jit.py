"""How the engine's kernels are compiled. Imports numba."""

from typing import Any

import numpy.typing as npt

from recgauge.utils.compiled import Kernel, compiled, njit

Codes = npt.NDArray[Any]
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


entry = compiled(**_OPTIONS)  # a kernel that Python calls: its machine code is kept
