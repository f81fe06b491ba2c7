"""Vector code of the kernels: exact dot products, comparisons as bit masks, the largest of many, sums.

Written for LLVM where numba's own loops stay scalar or take twice the lanes. Imports numba and llvmlite.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils as numba_cgutils
from numba.extending import intrinsic as numba_intrinsic

from recgauge.utils.compiled import config

cgutils: Any = numba_cgutils
intrinsic: Callable[[Any], Any] = numba_intrinsic

ITEMS = 64
_LANES = 16
_VECTORS = ITEMS // _LANES
_I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_F32 = ir.FloatType()
_I32S, _F32S = ir.VectorType(_I32, _LANES), ir.VectorType(_F32, _LANES)
_F64 = ir.DoubleType()
SUM_WIDTH = 256


@cache
def _cpu_features() -> frozenset[str]:
    """Return what machine code may use, under LLVM's names; asking LLVM takes milliseconds.

    This processor's features, unless NUMBA_CPU_FEATURES or NUMBA_CPU_NAME=generic ask for fewer: numba then
    compiles for those, and an instruction that they lack ends the process.
    """
    if config.CPU_FEATURES is not None:
        names = config.CPU_FEATURES.split(",")
        return frozenset(name.removeprefix("+") for name in names if name.startswith("+"))
    names = [name for name, is_there in llvm.get_host_cpu_features().items() if is_there]
    return frozenset(name for name in names if config.ENABLE_AVX or not name.startswith("avx"))


def _has(feature: str) -> bool:
    return feature in _cpu_features()


def has_byte_dot() -> bool:
    """Whether kernels may multiply bytes in 512-bit vectors (AVX-512 VNNI)."""
    return _has("avx512vnni") and _has("avx512bw")


def has_wide_vectors() -> bool:
    """Whether kernels may use vectors of 16 float32, and pack them by a mask (AVX-512)."""
    return _has("avx512f")


def _splat(builder: ir.IRBuilder, scalar: ir.Value, vector_type: ir.VectorType) -> ir.Value:
    one = builder.insert_element(ir.Constant(vector_type, ir.Undefined), scalar, _I32(0))
    return builder.shuffle_vector(
        one, one, ir.Constant(ir.VectorType(_I32, vector_type.count), [0] * vector_type.count)
    )


def _pointer(builder: ir.IRBuilder, base: ir.Value, byte_offset: ir.Value, kind: ir.Type) -> ir.Value:
    raw = builder.gep(builder.bitcast(base, _I8.as_pointer()), [byte_offset])
    return builder.bitcast(raw, kind.as_pointer())


def _load(builder: ir.IRBuilder, base: ir.Value, byte_offset: ir.Value, kind: ir.Type) -> ir.Value:
    return builder.load(_pointer(builder, base, byte_offset, kind), align=4)


def _fold(builder: ir.IRBuilder, sums: ir.Value) -> ir.Value:
    for half in (4, 2, 1):
        low, high = (ir.Constant(ir.VectorType(_I32, half), list(range(a, a + half))) for a in (0, half))
        sums = builder.fadd(builder.shuffle_vector(sums, sums, low), builder.shuffle_vector(sums, sums, high))
    return builder.extract_element(sums, _I32(0))


@intrinsic
def exact_dots(_typing: Any, left: Any, i: Any, right: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Dot products in float64 of float32 rows ``left[i]`` with ``right[a]`` to ``right[d]``.

    Products of two float32 are exact in float64. They are always summed in the same order: eight partial
    sums (by index modulo 8), joined as 4 + 4, 2 + 2, 1 + 1, then the last d modulo 8 products one by one.
    Four at a time, since each sum waits for the one before it.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        users, items = (context.make_array(signature.args[n])(context, builder, arguments[n]) for n in (0, 2))
        width = cgutils.unpack_tuple(builder, users.shape)[1]
        row_bytes = builder.mul(width, _I64(4))
        user = _pointer(builder, users.data, builder.mul(arguments[1], row_bytes), _I8)
        rows = [_pointer(builder, items.data, builder.mul(code, row_bytes), _I8) for code in arguments[3:]]

        def add_products(totals: list[ir.Value], at: ir.Value, kind: ir.Type, wide: ir.Type) -> None:
            byte = builder.mul(at, _I64(4))
            own = builder.fpext(_load(builder, user, byte, kind), wide)
            for row, total in zip(rows, totals, strict=True):
                product = builder.fmul(own, builder.fpext(_load(builder, row, byte, kind), wide))
                builder.store(builder.fadd(builder.load(total), product), total)

        eight = ir.VectorType(_F64, 8)
        sums = [cgutils.alloca_once(builder, eight) for _ in rows]
        for total in sums:
            builder.store(ir.Constant(eight, None), total)
        with cgutils.for_range(builder, builder.lshr(width, _I64(3))) as loop:
            add_products(sums, builder.shl(loop.index, _I64(3)), ir.VectorType(_F32, 8), eight)
        totals = [cgutils.alloca_once(builder, _F64) for _ in rows]
        for total, partial in zip(totals, sums, strict=True):
            builder.store(_fold(builder, builder.load(partial)), total)
        with cgutils.for_range(builder, width, start=builder.and_(width, _I64(-8))) as loop:
            add_products(totals, loop.index, _F32, _F64)
        found = [builder.load(total) for total in totals]
        return context.make_tuple(builder, signature.return_type, found)

    codes = (types.int64,) * 4
    several: Any = types.UniTuple
    return several(types.float64, 4)(left, types.int64, right, *codes), codegen


@intrinsic
def at_least(_typing: Any, values: Any, row: Any, start: Any, level: Any) -> Any:
    """Bits of the 64 float32 ``values[row, start:start + 64]`` that are >= ``level`` (all 64 must exist)."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        width = cgutils.unpack_tuple(builder, array.shape)[1]
        first = builder.mul(builder.add(builder.mul(arguments[1], width), arguments[2]), _I64(4))
        levels = _splat(builder, arguments[3], _F32S)
        bits = _I64(0)
        for lanes in range(_VECTORS):
            part = _load(builder, array.data, builder.add(first, _I64(4 * _LANES * lanes)), _F32S)
            hit = builder.bitcast(builder.fcmp_ordered(">=", part, levels), _I16)
            bits = builder.or_(bits, builder.shl(builder.zext(hit, _I64), _I64(_LANES * lanes)))
        return bits

    return types.uint64(values, types.int64, types.int64, types.float32), codegen


@intrinsic
def unsettled(_typing: Any, low: Any, high: Any, row: Any, start: Any) -> Any:
    """Bits of the 64 positions from ``start`` on where ``low[row]`` is below ``high[row]``."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = [context.make_array(signature.args[a])(context, builder, arguments[a]) for a in (0, 1)]
        width = cgutils.unpack_tuple(builder, arrays[0].shape)[1]
        first = builder.mul(builder.add(builder.mul(arguments[2], width), arguments[3]), _I64(4))
        bits = _I64(0)
        for lanes in range(_VECTORS):
            at = builder.add(first, _I64(4 * _LANES * lanes))
            parts = (_load(builder, array.data, at, _F32S) for array in arrays)
            hit = builder.bitcast(builder.fcmp_ordered("<", *parts), _I16)
            bits = builder.or_(bits, builder.shl(builder.zext(hit, _I64), _I64(_LANES * lanes)))
        return bits

    return types.uint64(low, high, types.int64, types.int64), codegen


@intrinsic
def largest(_typing: Any, values: Any, row: Any, count: Any) -> Any:
    """Largest of the float32 ``values[row, :count]``, count >= 1; up to 15 beyond are read and ignored."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        width = cgutils.unpack_tuple(builder, array.shape)[1]
        first = builder.mul(builder.mul(arguments[1], width), _I64(4))
        kind = ir.FunctionType(_F32S, [_F32S, _F32S])
        maximum = cgutils.get_or_insert_function(builder.module, kind, "llvm.maxnum.v16f32")
        lowest = ir.Constant(_F32S, [float("-inf")] * _LANES)
        best = cgutils.alloca_once_value(builder, lowest)
        builder.store(lowest, best)
        lane = ir.Constant(ir.VectorType(_I64, _LANES), list(range(_LANES)))
        stop = _splat(builder, arguments[2], ir.VectorType(_I64, _LANES))
        with cgutils.for_range(builder, builder.lshr(builder.add(arguments[2], _I64(15)), _I64(4))) as loop:
            at = builder.shl(loop.index, _I64(4))
            part = _load(builder, array.data, builder.add(first, builder.shl(at, _I64(2))), _F32S)
            here = builder.icmp_signed(
                "<", builder.add(_splat(builder, at, ir.VectorType(_I64, _LANES)), lane), stop
            )
            kept = builder.select(here, part, lowest)
            builder.store(builder.call(maximum, [builder.load(best), kept]), best)
        folded = builder.load(best)
        kind = ir.FunctionType(_F32, [_F32S])
        reduce = cgutils.get_or_insert_function(builder.module, kind, "llvm.vector.reduce.fmax.v16f32")
        return builder.call(reduce, [folded])

    return types.float32(values, types.int64, types.int64), codegen


@intrinsic
def lowest_bit(_typing: Any, _word: Any) -> Any:
    """Position of the lowest set bit of a uint64 that is not zero."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def bit_count(_typing: Any, _word: Any) -> Any:
    """How many bits of a uint64 are set."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), codegen


@intrinsic
def sum_rows(
    _typing: Any, table: Any, first: Any, indices: Any, values: Any, start: Any, stop: Any, out: Any
) -> Any:
    """Sum ``values[p] * table[indices[p], first:first + WIDTH]`` over start <= p < stop, in order, to out[0].

    The sums stay in registers, so that each number of the table costs one load, one product and one sum.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = {
            a: context.make_array(signature.args[a])(context, builder, arguments[a]) for a in (0, 2, 3, 6)
        }
        row_bytes = builder.mul(cgutils.unpack_tuple(builder, arrays[0].shape)[1], _I64(4))
        origin = _pointer(builder, arrays[0].data, builder.mul(arguments[1], _I64(4)), _I8)
        zero = ir.Constant(_F32S, None)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(SUM_WIDTH // _LANES)]
        for total in sums:
            builder.store(zero, total)
        with cgutils.for_range(builder, arguments[5], start=arguments[4]) as loop:
            at = builder.mul(loop.index, _I64(4))
            row = builder.mul(builder.zext(_load(builder, arrays[2].data, at, _I32), _I64), row_bytes)
            weight = _splat(builder, _load(builder, arrays[3].data, at, _F32), _F32S)
            for v, total in enumerate(sums):
                part = _load(builder, origin, builder.add(row, _I64(4 * _LANES * v)), _F32S)
                builder.store(builder.fadd(builder.load(total), builder.fmul(part, weight)), total)
        for v, total in enumerate(sums):
            target = _pointer(builder, arrays[6].data, _I64(4 * _LANES * v), _F32S)
            builder.store(builder.load(total), target, align=4)
        return context.get_dummy_value()

    kinds = (table, types.int64, indices, values, types.int64, types.int64, out)
    return types.void(*kinds), codegen
