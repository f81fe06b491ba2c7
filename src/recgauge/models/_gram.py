"""What models of item weights share: the items' Gram matrix, and memory checked before work."""

import numpy as np
from scipy import sparse

from recgauge.errors import FitError
from recgauge.utils.checks import FloatArray
from recgauge.utils.memory import free_memory, in_units
from recgauge.utils.progress import Progress
from recgauge.utils.threads import over_blocks

_BLOCK = 128  # rows of the Gram matrix that a thread makes at a time; a multiple of the kernels' tiles


def check_memory(model: str, what: str, n_bytes: int, remedy: str) -> None:
    """Refuse work of a model if `what` takes more memory than there is; `remedy`: what to do."""
    free = free_memory()
    if free is not None and n_bytes > free:
        raise FitError(
            f"{model}: {what} need {n_bytes:,} bytes ({in_units(n_bytes)}) of memory, "
            f"{in_units(free)} can be had. {remedy}"
        )


def lower_gram(matrix: sparse.csr_array, progress: Progress) -> FloatArray:
    """Return the number of users whom two items share, exact, shape (n_items, n_items) float32.

    `matrix` holds ones, items ascending inside a row. Only the lower half and the diagonal are filled.
    """
    from recgauge.models._gram_kernel import count_pairs

    n_items = matrix.shape[1]
    by_item = matrix.tocsc()
    out = np.zeros((n_items, n_items), np.float32)
    lists = (by_item.indptr, by_item.indices, matrix.indptr, matrix.indices)
    with progress.step("count pairs", n_items, "items") as advance:
        over_blocks(lambda a, b: count_pairs(*lists, a, b, out), n_items, _BLOCK, advance=advance)
    return out


def mirrored(square: FloatArray, scale: FloatArray) -> FloatArray:
    """Fill `square` from its lower half, both times `scale`: entry (j, i) is multiplied by ``scale[i]``."""
    from recgauge.models._gram_kernel import mirror

    over_blocks(lambda a, b: mirror(square, scale, a, b), len(square), _BLOCK)
    return square
