"""Sums of float32 products in 16 lanes, always in one order, however wide a processor's vectors are.

Written for LLVM, since numba's own loops keep one sum, or as many as the processor has lanes. Lane j sums the
products whose position is j modulo 16; lanes are joined as 8 + 8, 4 + 4, 2 + 2, 1 + 1. Rows are a multiple of
16 long. Imports numba and llvmlite.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as numba_cgutils
from numba.extending import intrinsic as numba_intrinsic
from scipy import sparse

from recgauge.utils.checks import DoubleArray
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled
from recgauge.utils.progress import Advance
from recgauge.utils.resources import over_blocks

cgutils: Any = numba_cgutils
intrinsic: Callable[[Any], Any] = numba_intrinsic

LANES = 16
TOGETHER = 4  # rows that share what is loaded of the vector they meet
_AHEAD = 2 * TOGETHER  # rows are asked of memory so long before they are needed
_I32, _I64 = ir.IntType(32), ir.IntType(64)
_F32, _F64 = ir.FloatType(), ir.DoubleType()
_F32S = ir.VectorType(_F32, LANES)


def padded(n: int) -> int:
    """Return the next multiple of 16.

    Examples
    --------
    >>> padded(16), padded(17)
    (16, 32)
    """
    return -(-n // LANES) * LANES


def _at(builder: ir.IRBuilder, base: ir.Value, index: ir.Value, kind: ir.Type) -> ir.Value:
    """Pointer to what begins at float32 or int32 number `index`."""
    return builder.bitcast(builder.gep(base, [index]), kind.as_pointer())


def _load(builder: ir.IRBuilder, base: ir.Value, index: ir.Value) -> ir.Value:
    return builder.load(_at(builder, base, index, _F32S), align=4)


def _splat(builder: ir.IRBuilder, scalar: ir.Value) -> ir.Value:
    single = builder.insert_element(ir.Constant(_F32S, ir.Undefined), scalar, _I32(0))
    return builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))


def _fold(builder: ir.IRBuilder, sums: ir.Value) -> ir.Value:
    for half in (8, 4, 2, 1):
        low, high = (ir.Constant(ir.VectorType(_I32, half), list(range(a, a + half))) for a in (0, half))
        sums = builder.fadd(builder.shuffle_vector(sums, sums, low), builder.shuffle_vector(sums, sums, high))
    return builder.extract_element(sums, _I32(0))


def _dots(builder: ir.IRBuilder, rows: list[ir.Value], x: ir.Value, width: ir.Value) -> list[ir.Value]:
    """Products of rows, which are pointers, with the vector `x`."""
    sums = [cgutils.alloca_once(builder, _F32S) for _ in rows]
    for total in sums:
        builder.store(ir.Constant(_F32S, None), total)
    with cgutils.for_range_slice(builder, _I64(0), width, _I64(LANES), intp=_I64) as (at, _):
        own = _load(builder, x, at)
        for row, total in zip(rows, sums, strict=True):
            product = builder.fmul(own, _load(builder, row, at))
            builder.store(builder.fadd(builder.load(total), product), total)
    return [_fold(builder, builder.load(total)) for total in sums]


def _arrays(context: Any, builder: Any, signature: Any, arguments: Any, positions: tuple[int, ...]) -> Any:
    return [context.make_array(signature.args[a])(context, builder, arguments[a]) for a in positions]


def _fetch(builder: ir.IRBuilder, place: ir.Value, *, to_write: bool = False) -> None:
    """Ask memory for what is needed soon."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    builder.call(prefetch, [builder.bitcast(place, byte), _I32(int(to_write)), _I32(3), _I32(1)])


@intrinsic
def dot(_typing: Any, left: Any, right: Any) -> Any:
    """Product of two float32 vectors."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, second = _arrays(context, builder, signature, arguments, (0, 1))
        width = cgutils.unpack_tuple(builder, first.shape)[0]
        return _dots(builder, [first.data], second.data, width)[0]

    return types.float32(left, right), codegen


@intrinsic
def add_errors(
    _typing: Any, table: Any, codes: Any, weights: Any, start: Any, stop: Any, x: Any, target: Any, out: Any
) -> Any:
    """Add ``weights[p] * e * table[codes[p]]`` with ``e = target - table[codes[p]] . x`` to ``out``.

    For start <= p < stop, in order, four at a time; returns the sum of ``weights[p] * e * e`` in float64.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _arrays(context, builder, signature, arguments, (0, 1, 2, 5, 7))
        table, codes, weights, x, out = (array.data for array in arrays)
        width = cgutils.unpack_tuple(builder, arrays[0].shape)[1]
        start, stop, target = arguments[3], arguments[4], arguments[6]
        loss = cgutils.alloca_once_value(builder, ir.Constant(_F64, 0.0))
        builder.store(ir.Constant(_F64, 0.0), loss)

        def row_of(place: ir.Value) -> ir.Value:
            code = builder.zext(builder.load(_at(builder, codes, place, _I32)), _I64)
            return builder.gep(table, [builder.mul(code, width)])

        def meet(p: ir.Value, n_rows: int) -> None:
            positions = [builder.add(p, _I64(k)) for k in range(n_rows)]
            rows = [row_of(place) for place in positions]
            for place in positions if n_rows > 1 else ():
                later = builder.add(place, _I64(_AHEAD))
                row = row_of(builder.select(builder.icmp_signed("<", later, stop), later, place))
                with cgutils.for_range_slice(builder, _I64(0), width, _I64(LANES), intp=_I64) as (at, _):
                    _fetch(builder, builder.gep(row, [at]))
            factors = []
            for place, product in zip(positions, _dots(builder, rows, x, width), strict=True):
                error = builder.fsub(target, product)
                factor = builder.fmul(builder.load(_at(builder, weights, place, _F32)), error)
                square = builder.fmul(builder.fpext(factor, _F64), builder.fpext(error, _F64))
                builder.store(builder.fadd(builder.load(loss), square), loss)
                factors.append(_splat(builder, factor))
            with cgutils.for_range_slice(builder, _I64(0), width, _I64(LANES), intp=_I64) as (at, _):
                total = _load(builder, out, at)
                for row, factor in zip(rows, factors, strict=True):
                    total = builder.fadd(total, builder.fmul(factor, _load(builder, row, at)))
                builder.store(total, _at(builder, out, at, _F32S), align=4)

        fours = builder.add(start, builder.and_(builder.sub(stop, start), _I64(-TOGETHER)))
        with cgutils.for_range_slice(builder, start, fours, _I64(TOGETHER), intp=_I64) as (p, _):
            meet(p, TOGETHER)
        with cgutils.for_range_slice(builder, fours, stop, _I64(1), intp=_I64) as (p, _):
            meet(p, 1)
        return builder.load(loss)

    kinds = (table, codes, weights, types.int64, types.int64, x, types.float32, out)
    return types.float64(*kinds), codegen


@intrinsic
def add_square(_typing: Any, table: Any, codes: Any, values: Any, start: Any, stop: Any, out: Any) -> Any:
    """Add ``values[p] * y`` to ``out[codes[p]]``, with y the sum of ``values[p] * table[codes[p]]``.

    For start <= p < stop, in order, two sums of every other p; rows are 8 float64.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, codes, values, out = (
            array.data for array in _arrays(context, builder, signature, arguments, (0, 1, 2, 5))
        )
        start, stop = arguments[3], arguments[4]
        eight = ir.VectorType(_F64, 8)
        sums = [cgutils.alloca_once(builder, eight) for _ in range(2)]
        for total in sums:
            builder.store(ir.Constant(eight, None), total)

        def row_of(base: ir.Value, place: ir.Value) -> ir.Value:
            code = builder.zext(builder.load(_at(builder, codes, place, _I32)), _I64)
            return builder.bitcast(builder.gep(base, [builder.shl(code, _I64(3))]), eight.as_pointer())

        def weight(place: ir.Value) -> ir.Value:
            number = builder.fpext(builder.load(_at(builder, values, place, _F32)), _F64)
            single = builder.insert_element(ir.Constant(eight, ir.Undefined), number, _I32(0))
            return builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(_I32, 8), [0] * 8))

        def take(place: ir.Value, total: ir.Value) -> None:
            product = builder.fmul(weight(place), builder.load(row_of(table, place), align=8))
            builder.store(builder.fadd(builder.load(total), product), total)
            _fetch(builder, row_of(out, place), to_write=True)

        pairs = builder.add(start, builder.and_(builder.sub(stop, start), _I64(-2)))
        with cgutils.for_range_slice(builder, start, pairs, _I64(2), intp=_I64) as (p, _):
            take(p, sums[0])
            take(builder.add(p, _I64(1)), sums[1])
        with cgutils.for_range_slice(builder, pairs, stop, _I64(1), intp=_I64) as (p, _):
            take(p, sums[0])
        product = builder.fadd(*(builder.load(total) for total in sums))
        with cgutils.for_range_slice(builder, start, stop, _I64(1), intp=_I64) as (p, _):
            row = row_of(out, p)
            more = builder.fmul(weight(p), product)
            builder.store(builder.fadd(builder.load(row, align=8), more), row, align=8)
        return context.get_dummy_value()

    return types.void(table, codes, values, types.int64, types.int64, out), codegen


_PARTS = 4  # of the rows, each with sums of its own: the same for any number of threads
_LINE = 64  # bytes


@compiled(nogil=True)
def add_squared(
    indptr: I64s,
    codes: I32s,
    values: F32s,
    first: int,
    stop: int,
    x: F64s,
    out: F64s,
) -> None:
    """Add ``A.T @ (A @ x)`` to `out`, (n, 8) like `x`; A is the rows ``first:stop`` of a CSR matrix."""
    for u in range(first, stop):
        add_square(x, codes, values, indptr[u], indptr[u + 1], out)


def squared_product(matrix: sparse.csr_array, advance: Advance) -> Callable[[DoubleArray], DoubleArray]:
    """Return the function that multiplies (n_items, 8) float64 by ``matrix.T @ matrix``."""
    indptr, codes = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    values = matrix.data.astype(np.float32)
    cuts = np.searchsorted(indptr, np.linspace(0, indptr[-1], _PARTS + 1)[1:-1])
    bounds = [0, *cuts.tolist(), matrix.shape[0]]
    n_items = matrix.shape[1]
    here, sums = _aligned(n_items), [_aligned(n_items) for _ in range(_PARTS)]

    def part(number: int, _stop: int) -> None:
        sums[number][:] = 0.0
        add_squared(indptr, codes, values, bounds[number], bounds[number + 1], here, sums[number])

    def multiply(x: DoubleArray) -> DoubleArray:
        here[:] = x
        over_blocks(part, _PARTS, 1)
        advance(1)
        return np.asarray(sum(sums[1:], start=sums[0]))

    return multiply


def _aligned(n: int) -> DoubleArray:
    """Return zeros of shape (n, 8), each row in one line of memory: 0.6 of the time."""
    numbers = np.zeros(n * 8 + 8)
    skipped = (-numbers.ctypes.data % _LINE) // numbers.itemsize
    return numbers[skipped : skipped + n * 8].reshape(n, 8)
