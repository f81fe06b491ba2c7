"""Candidates moved and appended sixteen at a time, where the processor can pack a vector by a mask (AVX-512).

Elsewhere the same is done one by one. Imports numba and llvmlite.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from recgauge.engine._jit import borrower
from recgauge.engine._tiles import (
    _F32S,
    _I16,
    _I32,
    _I32S,
    _I64,
    _LANES,
    _VECTORS,
    _load,
    _pointer,
    _splat,
    cgutils,
    has_wide_vectors,
    intrinsic,
)
from recgauge.engine._types import Codes, F32s, I32s
from recgauge.engine._vectors import _F64, lowest_bit

ULP = 1.2e-7
"""A little over 2**-23, relative distance of neighbouring float32: twice what rounding may change."""

TINY = 1e-44
"""A few times the distance of the smallest float32: what rounding may change near zero."""

_MASK = ir.VectorType(ir.IntType(1), _LANES)
_EIGHT = _LANES // 2
_F64S = ir.VectorType(_F64, _EIGHT)


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
    """Lower and upper bounds, 16 float32 each, of the scores that rounded products stand for."""
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
