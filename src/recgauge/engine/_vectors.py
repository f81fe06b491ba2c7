"""How kernels are compiled, and their vector code: dot products, comparisons as bit masks, tiles, sums.

Written for LLVM where numba's own loops stay scalar or take twice the lanes: its vectoriser reaches neither a
register-blocked product nor the byte dot product (VNNI), which multiplies four times as many numbers an
instruction as float32. Candidates are moved and appended sixteen at a time where the processor can pack a
vector by a mask (AVX-512), elsewhere one by one. Imports numba and llvmlite.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils as numba_cgutils
from numba.extending import intrinsic as numba_intrinsic

from recgauge.utils.compiled import F32s, I32s, Kernel, compiled, config, njit

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


def has_byte_dot() -> bool:
    """Whether kernels may multiply bytes in 512-bit vectors (AVX-512 VNNI)."""
    return _cpu_features() >= {"avx512vnni", "avx512bw"}


def has_wide_vectors() -> bool:
    """Whether kernels may use vectors of 16 float32, and pack them by a mask (AVX-512)."""
    return "avx512f" in _cpu_features()


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


USERS = 4
ULP = 1.2e-7
"""A little over 2**-23, relative distance of neighbouring float32: twice what rounding may change."""

TINY = 1e-44
"""A few times the distance of the smallest float32: what rounding may change near zero."""

_MASK = ir.VectorType(ir.IntType(1), _LANES)
_EIGHT = _LANES // 2
_F64S = ir.VectorType(_F64, _EIGHT)


def _vectors_at_once() -> int:
    """Accumulators a user may hold: four of AVX-512, one (split in two or four) on smaller machines."""
    return _VECTORS if has_wide_vectors() else 1


def _byte_dot(builder: ir.IRBuilder, total: ir.Value, items: ir.Value, users: ir.Value) -> ir.Value:
    """Total + sum of four products of unsigned item bytes with signed user bytes, in each 32-bit lane."""
    kind = ir.FunctionType(_I32S, [_I32S, _I32S, _I32S])
    name = "llvm.x86.avx512.vpdpbusd.512"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [total, items, users])


def _float_dot(builder: ir.IRBuilder, total: ir.Value, items: ir.Value, users: ir.Value) -> ir.Value:
    kind = ir.FunctionType(_F32S, [_F32S, _F32S, _F32S])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.v16f32")
    return builder.call(function, [items, users, total])


def _emit(builder: ir.IRBuilder, parts: Any, steps: ir.Value, is_byte: bool) -> None:
    """Product of one tile: its scores to ``out``, the bits of those at or above the level to ``masks``."""
    users, rows, items, thresholds, out, masks = parts
    vector, scalar = (_I32S, _I32) if is_byte else (_F32S, _F32)
    zero = ir.Constant(vector, None)
    at_once = _vectors_at_once()
    bits = [_I64(0)] * USERS
    levels = [_splat(builder, _load(builder, thresholds, _I64(4 * u), scalar), vector) for u in range(USERS)]
    for first in range(0, _VECTORS, at_once):
        span = range(first, first + at_once)
        sums = {(u, v): cgutils.alloca_once_value(builder, zero) for u in range(USERS) for v in span}
        for slot in sums.values():
            builder.store(zero, slot)
        with cgutils.for_range(builder, steps) as loop:
            item_at = builder.mul(loop.index, _I64(4 * ITEMS))
            loaded = {
                v: _load(builder, items, builder.add(item_at, _I64(4 * _LANES * v)), vector) for v in span
            }
            user_at = builder.mul(loop.index, _I64(4))
            for u in range(USERS):
                spread = _splat(builder, _load(builder, users, builder.add(rows[u], user_at), scalar), vector)
                for v in span:
                    dot = _byte_dot if is_byte else _float_dot
                    total = dot(builder, builder.load(sums[u, v]), loaded[v], spread)
                    builder.store(total, sums[u, v])
        for (u, v), slot in sums.items():
            total = builder.load(slot)
            target = _pointer(builder, out, _I64(4 * (ITEMS * u + _LANES * v)), vector)
            builder.store(total, target, align=4)
            compare = builder.icmp_signed if is_byte else builder.fcmp_ordered
            hit = builder.bitcast(compare(">=", total, levels[u]), _I16)
            bits[u] = builder.or_(bits[u], builder.shl(builder.zext(hit, _I64), _I64(_LANES * v)))
    for u in range(USERS):
        builder.store(bits[u], _pointer(builder, masks, _I64(8 * u), _I64), align=8)


@intrinsic
def score_tile(
    _typing: Any, users: Any, rows: Any, items: Any, tile: Any, levels: Any, out: Any, masks: Any
) -> Any:
    """Scores of 4 users (``users[rows]``) with a tile's 64 items to ``out``, bits of those >= level to masks.

    ``users`` int8 or float32 (m, d); ``rows`` int64 (4,); ``items`` uint8 or float32 (n_tiles, d * 64), four
    bytes or one float of each item at a time; ``levels`` (4,) and ``out`` (4, 64) int32 or float32; ``masks``
    uint64 (4,).
    """
    is_byte = users.dtype == types.int8

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        user_array, row_array, item_array, *outputs = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, arguments, strict=True)
            if isinstance(kind, types.Array)
        )
        row_bytes = builder.mul(cgutils.unpack_tuple(builder, user_array.shape)[1], _I64(1 if is_byte else 4))
        offsets = [
            builder.mul(_load(builder, row_array.data, _I64(8 * u), _I64), row_bytes) for u in range(USERS)
        ]
        steps = builder.lshr(row_bytes, _I64(2))
        start = builder.mul(arguments[3], builder.mul(steps, _I64(4 * ITEMS)))
        tile_data = _pointer(builder, item_array.data, start, _I8)
        parts = (user_array.data, offsets, tile_data, *(array.data for array in outputs))
        _emit(builder, parts, steps, is_byte)
        return context.get_dummy_value()

    return types.void(users, rows, items, types.int64, levels, out, masks), codegen


def _intrinsic(builder: ir.IRBuilder, name: str, result: ir.Type, *arguments: ir.Value) -> ir.Value:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _store_packed(
    builder: ir.IRBuilder, part: ir.Value, bits: ir.Value, base: ir.Value, offset: ir.Value
) -> None:
    """Store the lanes whose bits are set, side by side; what follows them up to 16 lanes is overwritten."""
    if part.type != _F32S:
        part = builder.bitcast(part, _F32S)
    mask = builder.bitcast(bits, _MASK)
    zero = ir.Constant(_F32S, None)
    packed = _intrinsic(builder, "llvm.x86.avx512.mask.compress.v16f32", _F32S, part, zero, mask)
    builder.store(packed, _pointer(builder, base, offset, _F32S), align=4)


def _bits_of(builder: ir.IRBuilder, word: ir.Value, lanes: int) -> ir.Value:
    return builder.trunc(builder.lshr(word, _I64(_LANES * lanes)), _I16)


def _count(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    return builder.zext(builder.ctpop(bits), _I64)


@intrinsic
def _pack_vectors(
    _typing: Any, low: Any, high: Any, item: Any, row: Any, start: Any, stay: Any, at: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lists = [context.make_array(signature.args[a])(context, builder, arguments[a]) for a in range(3)]
        first = builder.mul(arguments[3], cgutils.unpack_tuple(builder, lists[0].shape)[1])
        source, target = (builder.add(first, arguments[a]) for a in (4, 6))
        for lanes in range(_VECTORS):
            offset = builder.mul(builder.add(source, _I64(_LANES * lanes)), _I64(4))
            bits = _bits_of(builder, arguments[5], lanes)
            parts = [_load(builder, array.data, offset, _F32S) for array in lists]
            for array, part in zip(lists, parts, strict=True):
                _store_packed(builder, part, bits, array.data, builder.mul(target, _I64(4)))
            target = builder.add(target, _count(builder, bits))
        return context.get_dummy_value()

    kinds = (low, high, item, types.int64, types.int64, types.uint64, types.int64)
    return types.void(*kinds), codegen


def _bounds(builder: ir.IRBuilder, product: ir.Value, numbers: Any) -> tuple[ir.Value, ir.Value]:
    """Lower and upper bounds, 16 float32 each, of the scores that rounded products represent."""
    scale, offset, error, ulp, tiny = numbers
    lows, highs = [], []
    for half in range(2):
        picked = ir.Constant(ir.VectorType(_I32, _EIGHT), list(range(_EIGHT * half, _EIGHT * half + _EIGHT)))
        part = builder.shuffle_vector(product, product, picked)
        wide = builder.sitofp(part, _F64S) if product.type == _I32S else builder.fpext(part, _F64S)
        score = builder.fmul(builder.fsub(wide, offset), scale)
        size = _intrinsic(builder, "llvm.fabs.v8f64", _F64S, score)
        margin = builder.fadd(builder.fadd(error, builder.fmul(size, ulp)), tiny)
        narrow = ir.VectorType(ir.FloatType(), _EIGHT)
        lows.append(builder.fptrunc(builder.fsub(score, margin), narrow))
        highs.append(builder.fptrunc(builder.fadd(score, margin), narrow))
    both = ir.Constant(ir.VectorType(_I32, _LANES), list(range(_LANES)))
    return builder.shuffle_vector(*lows, both), builder.shuffle_vector(*highs, both)


@intrinsic
def _append_vectors(
    _typing: Any, low: Any, high: Any, item: Any, row: Any, count: Any, hits: Any, base: Any, products: Any,
    g: Any, scale: Any, offset: Any, error: Any,
) -> Any:  # fmt: skip
    product_kind = _I32S if products.dtype == types.int32 else _F32S

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lists = [context.make_array(signature.args[a])(context, builder, arguments[a]) for a in (0, 1, 2)]
        room = context.make_array(signature.args[7])(context, builder, arguments[7])
        width = cgutils.unpack_tuple(builder, lists[0].shape)[1]
        at = cgutils.alloca_once_value(builder, builder.add(builder.mul(arguments[3], width), arguments[4]))
        numbers = [_splat(builder, arguments[a], _F64S) for a in (9, 10, 11)]
        numbers += [ir.Constant(_F64S, [number] * _EIGHT) for number in (ULP, TINY)]
        group = builder.mul(arguments[8], _I64(4 * _LANES * _VECTORS))
        for lanes in range(_VECTORS):
            bits = _bits_of(builder, arguments[5], lanes)
            with builder.if_then(builder.icmp_unsigned("!=", bits, _I16(0))):
                product = _load(
                    builder, room.data, builder.add(group, _I64(4 * _LANES * lanes)), product_kind
                )
                steps = ir.Constant(_I32S, [_LANES * lanes + lane for lane in range(_LANES)])
                places = builder.add(_splat(builder, builder.trunc(arguments[6], _I32), _I32S), steps)
                offset_bytes = builder.mul(builder.load(at), _I64(4))
                parts = (*_bounds(builder, product, numbers), places)
                for part, array in zip(parts, lists, strict=True):
                    _store_packed(builder, part, bits, array.data, offset_bytes)
                builder.store(builder.add(builder.load(at), _count(builder, bits)), at)
        return context.get_dummy_value()

    kinds = (low, high, item, types.int64, types.int64, types.uint64, types.int64, products, types.int64)
    return types.void(*kinds, types.float64, types.float64, types.float64), codegen


@borrower
def _pack_each(low: F32s, high: F32s, item: I32s, row: int, start: int, stay: np.uint64, at: int) -> None:
    while stay != np.uint64(0):
        i = start + int(lowest_bit(stay))
        stay &= stay - np.uint64(1)
        low[row, at], high[row, at], item[row, at] = low[row, i], high[row, i], item[row, i]
        at += 1


@borrower
def _append_each(
    low: F32s, high: F32s, item: I32s, row: int, count: int, hits: np.uint64, base: int, products: Codes,
    g: int, scale: float, offset: float, error: float,
) -> None:  # fmt: skip
    while hits != np.uint64(0):
        bit = lowest_bit(hits)
        hits &= hits - np.uint64(1)
        score = (np.float64(products[g, bit]) - offset) * scale
        margin = error + abs(score) * ULP + TINY
        low[row, count] = score - margin
        high[row, count] = score + margin
        item[row, count] = base + bit
        count += 1


pack = _pack_vectors if has_wide_vectors() else _pack_each
"""``pack(low, high, item, row, start, stay, at)``: move those of the 64 candidates from ``start`` on whose
bits are set in ``stay`` to ``at <= start`` and on, in their order; what follows them up to 64 is undefined.
``low`` and ``high`` may be the same array."""

append = _append_vectors if has_wide_vectors() else _append_each
"""``append(low, high, item, row, count, hits, base, products, g, scale, offset, error)``: put bounds and
positions (from ``base`` on) of the items of a tile whose bits are set in ``hits`` behind the first ``count``
candidates of a row, where 64 must be free."""
