"""The innermost loop: scores of 4 users times 64 items in registers; what beats a threshold is a candidate.

Written as vector code for LLVM, since numba's loop vectoriser reaches neither a register-blocked product nor
the byte dot product (VNNI), which multiplies four times as many numbers an instruction as float32. Candidates
are moved and appended sixteen at a time where the processor can pack a vector by a mask (AVX-512), elsewhere
one by one. Imports numba and llvmlite.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from recgauge.engine._jit import Codes, borrower
from recgauge.engine._vectors import (
    _F32,
    _F32S,
    _F64,
    _I8,
    _I16,
    _I32,
    _I32S,
    _I64,
    _LANES,
    _VECTORS,
    ITEMS,
    _load,
    _pointer,
    _splat,
    cgutils,
    has_wide_vectors,
    intrinsic,
    lowest_bit,
)  # fmt: skip
from recgauge.utils.compiled import F32s, I32s

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
