"""Lists of candidates, and the vector code that narrows them: what may still enter a user's top k.

How kernels are compiled; dot products, comparisons as bit masks, tiles and sums, written for LLVM where
numba's own loops stay scalar or take twice the lanes: its vectoriser reaches neither a register-blocked
product nor the byte dot product (VNNI), which multiplies four times as many numbers an instruction.

A list is a row of three arrays: lower and upper bounds of float32 scores, positions of items. It is narrowed
by the bounds and settled by exact scores. Imports numba and llvmlite.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils as numba_cgutils
from numba.extending import intrinsic as numba_intrinsic

from recgauge.utils.compiled import F32s, F64s, I32s, I64s, Kernel, U64s, compiled, config, njit

Codes = npt.NDArray[Any]
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def _helper(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile helpers of kernels, which become part of the entry that calls them and are cached with it."""
    decorate: Callable[[Kernel], Kernel] = njit(no_cpython_wrapper=True, **_OPTIONS, **options)
    return decorate


kernel = _helper(_nrt=True)
borrower = _helper(_nrt=False)
"""For what makes no array and so need not count references to those it is lent.

Counting is atomic, twice for every array of every structure, at every call: a sixth of the search's time.
"""
reorderer = _helper(_nrt=False, fastmath={"reassoc", "contract", "arcp", "nnan", "nsz"})
"""For sums that may be taken in any order, and so many numbers at once.

Only for bounds, which leave room for rounding, and for finite numbers; never for scores.
"""
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


def _cpu_features() -> frozenset[str]:
    """Return what machine code may use, under LLVM's names.

    This processor's features, unless NUMBA_CPU_FEATURES or NUMBA_CPU_NAME=generic ask for fewer: numba then
    compiles for those, and an instruction that they lack ends the process.
    """
    if config.CPU_FEATURES is not None:
        names = config.CPU_FEATURES.split(",")
        return frozenset(name.removeprefix("+") for name in names if name.startswith("+"))
    names = [name for name, is_there in llvm.get_host_cpu_features().items() if is_there]
    return frozenset(name for name in names if config.ENABLE_AVX or not name.startswith("avx"))


_FEATURES = _cpu_features()
HAS_BYTE_DOT = {"avx512vnni", "avx512bw"} <= _FEATURES
"""Whether kernels may multiply bytes in 512-bit vectors."""
HAS_WIDE_VECTORS = "avx512f" in _FEATURES
"""Whether kernels may use vectors of 16 float32."""


def _splat(builder: ir.IRBuilder, scalar: ir.Value, vector_type: ir.VectorType) -> ir.Value:
    first = builder.insert_element(ir.Constant(vector_type, ir.Undefined), scalar, _I32(0))
    return builder.shuffle_vector(
        first, first, ir.Constant(ir.VectorType(_I32, vector_type.count), [0] * vector_type.count)
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


def _bits(builder: ir.IRBuilder, compared: Callable[[int], ir.Value]) -> ir.Value:
    """Return a word with the bits that comparisons of 16 lanes each give, the first lane's lowest."""
    bits = _I64(0)
    for lanes in range(_VECTORS):
        hit = builder.zext(builder.bitcast(compared(lanes), _I16), _I64)
        bits = builder.or_(bits, builder.shl(hit, _I64(_LANES * lanes)))
    return bits


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
        values = [builder.load(total) for total in totals]
        return context.make_tuple(builder, signature.return_type, values)

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

        def compared(lanes: int) -> ir.Value:
            part = _load(builder, array.data, builder.add(first, _I64(4 * _LANES * lanes)), _F32S)
            return builder.fcmp_ordered(">=", part, levels)

        return _bits(builder, compared)

    return types.uint64(values, types.int64, types.int64, types.float32), codegen


@intrinsic
def unsettled(_typing: Any, low: Any, high: Any, row: Any, start: Any) -> Any:
    """Bits of the 64 positions from ``start`` on where ``low[row]`` is below ``high[row]``."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = [context.make_array(signature.args[a])(context, builder, arguments[a]) for a in (0, 1)]
        width = cgutils.unpack_tuple(builder, arrays[0].shape)[1]
        first = builder.mul(builder.add(builder.mul(arguments[2], width), arguments[3]), _I64(4))

        def compared(lanes: int) -> ir.Value:
            at = builder.add(first, _I64(4 * _LANES * lanes))
            return builder.fcmp_ordered("<", *(_load(builder, array.data, at, _F32S) for array in arrays))

        return _bits(builder, compared)

    return types.uint64(low, high, types.int64, types.int64), codegen


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

_AT_ONCE = _VECTORS if HAS_WIDE_VECTORS else 1
"""Accumulators a user may hold: four of AVX-512, one (split in two or four) on smaller machines."""


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
    bits = [_I64(0)] * USERS
    levels = [_splat(builder, _load(builder, thresholds, _I64(4 * u), scalar), vector) for u in range(USERS)]
    for first in range(0, _VECTORS, _AT_ONCE):
        span = range(first, first + _AT_ONCE)
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


SLACK = 64
"""Entries kept free in a list: one tile of items may be appended without looking."""

_FEW = 256  # beyond, looking at every score for every score costs more than merging

ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
_CODES = np.uint64(0xFFFFFFFF)
LOWEST = np.float32(-np.inf)
_FEW_EXACT = 32  # exact scores that cost about as much as a pass over a list


def capacity_of(k: int) -> int:
    """Length of a candidate list: room for twice k between two cuts, in whole words of 64."""
    return (2 * k + 4 * SLACK + 63) & -64


@kernel
def first_bits(count: int) -> np.uint64:
    """Word whose lowest ``count`` bits are set; all 64 where count is larger."""
    return ALL_BITS if count >= 64 else (np.uint64(1) << np.uint64(count)) - np.uint64(1)


@borrower
def _count_at_least(values: F32s, row: int, count: int, level: np.floating) -> int:
    hits = 0
    for start in range(0, count, 64):
        hits += bit_count(at_least(values, row, start, level) & first_bits(count - start))
    return hits


@reorderer
def _largest(values: F32s, row: int, count: int) -> np.float32:
    top = values[row, 0]
    for i in range(count):
        top = max(top, values[row, i])
    return np.float32(top)


@borrower
def _pack(low: F32s, high: F32s, item: I32s, row: int, start: int, stay: np.uint64, at: int) -> None:
    """Move those of the 64 candidates from `start` on whose bits are set, in order, to ``at <= start``."""
    while stay != np.uint64(0):
        i = start + int(lowest_bit(stay))
        stay &= stay - np.uint64(1)
        low[row, at], high[row, at], item[row, at] = low[row, i], high[row, i], item[row, i]
        at += 1


@borrower
def level_of_best(values: F32s, row: int, count: int, k: int, reached: float | np.float32) -> np.float32:
    """Find a level that at least k of ``values[row, :count]`` reach, and few more, by bisection.

    ``reached`` is a level that k of them reach, or -inf. Each look is one vector pass, which beats
    a selection by exchange (quickselect) about five times at these lengths; that a few more than k reach the
    level does no harm.
    """
    low, high = reached, _largest(values, row, count)
    if low == -np.inf:
        low = values[row, 0]
        for i in range(count):
            low = min(low, values[row, i])
    enough = k + (k >> 4)
    for _ in range(24):
        middle = np.float32(0.5) * low + np.float32(0.5) * high
        if middle <= low or middle >= high:
            break
        hits = _count_at_least(values, row, count, middle)
        if hits < k:
            high = middle
        else:
            low = middle
            if hits <= enough:
                break
    return np.float32(low)


@borrower
def trim(
    low: F32s, high: F32s, item: I32s, row: int, count: int, k: int, reached: float | np.float32
) -> tuple[int, np.float32]:
    """Drop what cannot be among the k best; return how many stay and a level that k of them reach."""
    level = level_of_best(low, row, count, k, reached)
    kept = 0
    for start in range(0, count, 64):
        width = min(64, count - start)
        stay = at_least(high, row, start, level) & first_bits(width)
        if kept == start and stay == first_bits(width):
            kept += width
            continue
        _pack(low, high, item, row, start, stay, kept)
        kept += bit_count(stay)
    return kept, level


@kernel
def sort_key(score: np.float32, code: int) -> np.uint64:
    """One integer that orders by score, then by item code downwards. Minus zero counts as zero."""
    bits = int(np.float32(score + np.float32(0.0)).view(np.int32))
    if bits < 0:
        bits ^= 0x7FFFFFFF
    return (np.uint64(bits + np.int64(1 << 31)) << np.uint64(32)) | np.uint64(
        np.int64(0xFFFFFFFF) - np.int64(code)
    )


@kernel
def key_code(key: np.uint64) -> np.int32:
    """Item code of a sort key."""
    return np.int32(np.int64(0xFFFFFFFF) - np.int64(key & _CODES))


@kernel
def key_score(key: np.uint64) -> np.float32:
    """Score of a sort key."""
    bits = int(np.int64(key >> np.uint64(32)) - np.int64(1 << 31))
    if bits < 0:
        bits ^= 0x7FFFFFFF
    return np.float32(np.int32(bits).view(np.float32))


@borrower
def rank_scores(scores: F32s, row: int, count: int, keys: U64s, spare: U64s) -> bool:
    """Put every key where as many scores are larger; give up, keys untouched, where two scores are equal."""
    ranks = 0
    for i in range(count):
        rank = _count_at_least(scores, row, count, scores[row, i]) - 1
        ranks += rank
        spare[rank] = keys[i]
    if ranks != count * (count - 1) // 2:  # equal scores count each other
        return False
    for i in range(count):
        keys[i] = spare[i]
    return True


@kernel
def _sort_run(keys: U64s, spare: U64s) -> None:
    """Put every key where as many are larger: many comparisons, but eight an instruction and no branch."""
    for i in range(len(keys)):
        rank = 0
        for j in range(len(keys)):
            rank += int(keys[j] > keys[i])
        spare[rank] = keys[i]
    for i in range(len(keys)):
        keys[i] = spare[i]


@kernel
def _merge_runs(keys: U64s, spare: U64s, middle: int) -> None:
    a, b, count = 0, middle, len(keys)
    for i in range(count):
        if b >= count or (a < middle and keys[a] > keys[b]):
            spare[i] = keys[a]
            a += 1
        else:
            spare[i] = keys[b]
            b += 1
    for i in range(count):
        keys[i] = spare[i]


@kernel
def sort_list(low: F32s, item: I32s, row: int, count: int, code: I32s, keys: U64s, spare: U64s) -> None:
    """Keys of the row's entries, whose lower bounds are their scores, best first."""
    for i in range(count):
        keys[i] = sort_key(low[row, i], code[item[row, i]])
    if count <= _FEW and rank_scores(low, row, count, keys, spare):
        return
    run = 128
    for start in range(0, count, run):
        _sort_run(keys[start : min(start + run, count)], spare)
    while run < count:
        for start in range(0, count - run, 2 * run):
            _merge_runs(keys[start : min(start + 2 * run, count)], spare, run)
        run *= 2


@kernel
def keep_best(
    low: F32s, high: F32s, item: I32s, row: int, count: int, k: int, code: I32s, position: I32s
) -> np.float32:
    """Cut a list of exact scores with more ties than room to its k best; return the lowest score."""
    keys = np.empty(count, np.uint64)
    sort_list(low, item, row, count, code, keys, np.empty(count, np.uint64))
    for i in range(k):
        low[row, i] = high[row, i] = key_score(keys[i])
        item[row, i] = position[key_code(keys[i])]
    return np.float32(low[row, k - 1])


@kernel
def write_list(keys: U64s, count: int, items: I32s, scores: F32s, row: int) -> None:
    """Sorted keys to a row of the result, padded with -1 and -inf."""
    for i in range(items.shape[1]):
        items[row, i] = key_code(keys[i]) if i < count else np.int32(-1)
        scores[row, i] = key_score(keys[i]) if i < count else np.float32(-np.inf)


class Lists(NamedTuple):
    """Candidates of a block's users, one row each."""

    low: F32s
    high: F32s
    item: I32s
    counts: I64s
    full: I64s  # count at which the list is cut back
    sure: F32s  # level that k candidates reach for certain
    threshold: F64s  # what a true score must reach to round to that level
    reach: I64s  # panels that may still hold candidates


class Exact(NamedTuple):
    """The model's own factors, which decide."""

    user: F32s
    codes: I32s  # users of the block
    item: F32s


@borrower
def next_position(bits: np.uint64, start: int, last: int) -> tuple[np.uint64, int]:
    """Position of the lowest bit, which is cleared; the last one again where none is left."""
    if bits == np.uint64(0):
        return bits, last
    return bits & (bits - np.uint64(1)), start + int(lowest_bit(bits))


@borrower
def settle_four(row: int, a: int, b: int, c: int, d: int, exact: Exact, code: I32s, lists: Lists) -> None:
    """Exact scores of four candidates, which may be the same, instead of bounds."""
    low, high, item = lists.low, lists.high, lists.item
    codes = (code[item[row, a]], code[item[row, b]], code[item[row, c]], code[item[row, d]])
    dots = exact_dots(exact.user, exact.codes[row], exact.item, codes[0], codes[1], codes[2], codes[3])
    low[row, a] = high[row, a] = np.float32(dots[0])
    low[row, b] = high[row, b] = np.float32(dots[1])
    low[row, c] = high[row, c] = np.float32(dots[2])
    low[row, d] = high[row, d] = np.float32(dots[3])


@borrower
def settle(row: int, count: int, level: np.float32, exact: Exact, code: I32s, lists: Lists) -> None:
    """Exact scores instead of bounds that reach the level."""
    low, high = lists.low, lists.high
    for start in range(0, count, 64):
        bits = at_least(low, row, start, level) & unsettled(low, high, row, start) & first_bits(count - start)
        while bits != np.uint64(0):
            bits, a = next_position(bits, start, 0)
            bits, b = next_position(bits, start, a)
            bits, c = next_position(bits, start, b)
            bits, d = next_position(bits, start, c)
            settle_four(row, a, b, c, d, exact, code, lists)


@borrower
def narrow(row: int, k: int, exact: Exact, code: I32s, position: I32s, lists: Lists) -> int:
    """Cut a full list back; where bounds overlap too much decide by exact scores, and ties by item code."""
    low, high, item, sure = lists.low, lists.high, lists.item, lists.sure
    room = low.shape[1] - 2 * SLACK
    kept, level = trim(low, high, item, row, lists.counts[row], k, sure[row])
    if kept > room:
        settle(row, kept, LOWEST, exact, code, lists)
        kept, level = trim(low, high, item, row, kept, k, level)
    if kept > room:
        level = keep_best(low, high, item, row, kept, k, code, position)
        kept = k
    sure[row] = level
    return kept


@kernel
def fill_unordered(items: I32s, scores: F32s, row: int, position: I32s, blocked: U64s) -> None:
    """List of a user whose factors are all zero: every score is zero, so the lowest codes allowed."""
    count = 0
    for code in range(len(position)):
        at = position[code]
        if (
            count < items.shape[1]
            and at >= 0
            and not (blocked[row, at >> 6] >> np.uint64(at & 63)) & np.uint64(1)
        ):
            items[row, count] = code
            scores[row, count] = 0.0
            count += 1
    for i in range(count, items.shape[1]):
        items[row, i] = -1
        scores[row, i] = -np.inf


@kernel
def finish(k: int, exact: Exact, code: I32s, lists: Lists, out_items: I32s, out_scores: F32s) -> None:
    """Exact scores of what is left, and the best of it in order."""
    low, high, item, sure = lists.low, lists.high, lists.item, lists.sure
    keys, spare = np.empty(low.shape[1], np.uint64), np.empty(low.shape[1], np.uint64)
    for row in range(len(exact.codes)):
        count = lists.counts[row]
        if count > k + _FEW_EXACT:
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        if count > k + _FEW_EXACT:  # exact scores of the likely ones first: they rule out most of the others
            settle(row, count, sure[row], exact, code, lists)
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        settle(row, count, LOWEST, exact, code, lists)
        if count > k:
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        sort_list(low, item, row, count, code, keys, spare)
        write_list(keys, count, out_items, out_scores, row)


@kernel
def block_seen(indptr: I64s, indices: I32s, codes: I32s, position: I32s, base: U64s, blocked: U64s) -> None:
    """Bits of the positions each user of a block may not be given."""
    for row in range(len(codes)):
        for tile in range(len(base)):
            blocked[row, tile] = base[tile]
        for p in range(indptr[codes[row]], indptr[codes[row] + 1]):
            at = position[indices[p]]
            if at >= 0:
                blocked[row, at >> 6] |= np.uint64(1) << np.uint64(at & 63)
