"""Short names of array types, for signatures of kernels."""

from typing import Any

import numpy as np
import numpy.typing as npt

F32s = npt.NDArray[np.float32]
F64s = npt.NDArray[np.float64]
I32s = npt.NDArray[np.int32]
I64s = npt.NDArray[np.int64]
U64s = npt.NDArray[np.uint64]
Codes = npt.NDArray[Any]
"""Rounded factors: bytes where the processor multiplies bytes, else float32."""
