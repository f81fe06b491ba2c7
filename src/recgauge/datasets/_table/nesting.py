"""JSON that is nested too deeply is refused before Arrow reads it: Arrow's parser would end the process."""

import io
from typing import IO

import numpy as np

from recgauge.datasets._table.limits import BLOCK

MOST = 500
"""Brackets that may be open at once in a line; Arrow's parser ends the process somewhere above 10,000."""


class _Shallow(io.RawIOBase):
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._depth = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block = self._stream.read(len(buffer))
        buffer[: len(block)] = block
        if block:
            self._check(np.frombuffer(block, np.uint8))
        return len(block)

    def _check(self, signs: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> None:
        import pyarrow as pa

        folded = signs | 32  # makes { of [ and } of ]
        steps = (folded == ord("{")).view(np.int8) - (folded == ord("}")).view(np.int8)
        depth = np.cumsum(steps, dtype=np.int32) + self._depth
        ends = np.flatnonzero(signs == ord("\n"))
        before = np.concatenate(([0], depth[ends]))  # what is open where a line begins, in text perhaps
        highest = np.maximum.reduceat(depth, np.concatenate(([0], ends)))
        if (highest - before).max() > MOST:
            raise pa.ArrowInvalid("nested too deeply")
        self._depth = int(depth[-1] - before[-1])


def shallow(stream: IO[bytes]) -> IO[bytes]:
    """Return the stream of JSON lines, which raises a pyarrow.ArrowInvalid at a line that is too deep.

    Brackets in texts count, too: such a file may be refused here and must then be read in another way.
    """
    return io.BufferedReader(_Shallow(stream), BLOCK)
