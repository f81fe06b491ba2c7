"""The innermost loop: scores of 4 users times 64 items in registers, and who beats a threshold.

Written as vector code for LLVM, since numba's loop vectoriser reaches neither a register-blocked product nor
the byte dot product (VNNI), which multiplies four times as many numbers an instruction as float32. Imports
numba and llvmlite.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils as numba_cgutils
from numba.extending import intrinsic as numba_intrinsic

from recgauge.utils.compiled import cpu_features

cgutils: Any = numba_cgutils
intrinsic: Callable[[Any], Any] = numba_intrinsic

USERS = 4
ITEMS = 64
_LANES = 16
_VECTORS = ITEMS // _LANES
_I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_F32 = ir.FloatType()
_I32S, _F32S = ir.VectorType(_I32, _LANES), ir.VectorType(_F32, _LANES)


def _has(feature: str) -> bool:
    return feature in cpu_features()


def has_byte_dot() -> bool:
    """Whether kernels may multiply bytes in 512-bit vectors (AVX-512 VNNI)."""
    return _has("avx512vnni") and _has("avx512bw")


def has_wide_vectors() -> bool:
    """Whether kernels may use vectors of 16 float32, and pack them by a mask (AVX-512)."""
    return _has("avx512f")


def _vectors_at_once() -> int:
    """Accumulators a user may hold: four of AVX-512, one (split in two or four) on smaller machines."""
    return _VECTORS if has_wide_vectors() else 1


def _splat(builder: ir.IRBuilder, scalar: ir.Value, vector_type: ir.VectorType) -> ir.Value:
    one = builder.insert_element(ir.Constant(vector_type, ir.Undefined), scalar, _I32(0))
    return builder.shuffle_vector(
        one, one, ir.Constant(ir.VectorType(_I32, vector_type.count), [0] * vector_type.count)
    )


def _byte_dot(builder: ir.IRBuilder, total: ir.Value, items: ir.Value, users: ir.Value) -> ir.Value:
    """Total + sum of four products of unsigned item bytes with signed user bytes, in each 32-bit lane."""
    kind = ir.FunctionType(_I32S, [_I32S, _I32S, _I32S])
    name = "llvm.x86.avx512.vpdpbusd.512"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [total, items, users])


def _float_dot(builder: ir.IRBuilder, total: ir.Value, items: ir.Value, users: ir.Value) -> ir.Value:
    kind = ir.FunctionType(_F32S, [_F32S, _F32S, _F32S])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.v16f32")
    return builder.call(function, [items, users, total])


def _pointer(builder: ir.IRBuilder, base: ir.Value, byte_offset: ir.Value, kind: ir.Type) -> ir.Value:
    raw = builder.gep(builder.bitcast(base, _I8.as_pointer()), [byte_offset])
    return builder.bitcast(raw, kind.as_pointer())


def _load(builder: ir.IRBuilder, base: ir.Value, byte_offset: ir.Value, kind: ir.Type) -> ir.Value:
    return builder.load(_pointer(builder, base, byte_offset, kind), align=4)


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
