"""The compiled inner loops of Bayesian personalised ranking; imported when a model is fitted."""

import math
from typing import Any

import numpy as np

from recgauge.models._lanes import dot
from recgauge.utils.compiled import F32s, I32s, I64s, U64s, compiled

_GOLDEN, _FIRST, _SECOND = (
    np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_LN2, _LIMIT = math.log(2.0), 30.0
_PARTS = 1.0 / np.maximum(np.arange(8.0), 1.0)
_POWERS = 2.0 ** np.arange(-64, 65)


@compiled(nogil=True)
def _draw(state: U64s, n: int) -> Any:
    """Return the next number below `n` (less than 2**32) of SplitMix64."""
    state[0] += _GOLDEN
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return np.int64(((word ^ (word >> np.uint64(31))) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))


@compiled(nogil=True)
def _has(codes: I32s, begin: Any, end: Any, code: Any) -> bool:
    """Whether ``codes[begin:end]``, ascending and not empty, hold one; without branches to guess."""
    n = end - begin
    while n > 1:
        half = n >> 1
        begin += half * np.int64(codes[begin + half] <= code)
        n -= half
    return bool(codes[begin] == code)


@compiled(nogil=True)
def _exp(x: float) -> Any:
    """Return e to the power of a number of -30 to 30, alike on all processors, to 5e-9 of it."""
    n = math.floor(x / _LN2 + 0.5)
    r = x - n * _LN2
    series = 1.0
    for power in range(7, 0, -1):
        series = 1.0 + r * _PARTS[power] * series
    return series * _POWERS[int(n) + 64]


@compiled(nogil=True)
def draw_triples(
    state: U64s,
    owner: I32s,
    indptr: I64s,
    codes: I32s,
    n_items: int,
    popular: bool,
    n_negatives: int,
    n_tries: int,
    triples: I32s,
) -> None:
    """Fill `triples`, (n, 3), with users, items of theirs and others'; -1 where no other was found.

    Rows are drawn with replacement, each for `n_negatives` triples in a row; others up to `n_tries` times.
    """
    user = item = 0
    for t in range(len(triples)):
        if t % n_negatives == 0:
            row = _draw(state, len(codes))
            user, item = owner[row], codes[row]
        begin, end = indptr[user], indptr[user + 1]
        other = -1
        for _ in range(n_tries):
            other = codes[_draw(state, len(codes))] if popular else _draw(state, n_items)
            if not _has(codes, begin, end, other):
                break
            other = -1
        triples[t, 0], triples[t, 1], triples[t, 2] = user, item, other


@compiled(nogil=True, error_model="numpy")
def descend(triples: I32s, users: F32s, items: F32s, bias: F32s, rate: Any, pull: Any) -> float:
    """Take a step of gradient descent for each triple, in order; return the sum of -ln of the chances."""
    loss, chances, taken = 0.0, 1.0, 0
    width = users.shape[1]
    for t in range(len(triples)):
        u, i, j = triples[t]
        if j < 0:
            continue
        p, a, b = users[u], items[i], items[j]
        margin = np.float64(bias[i]) - bias[j] + dot(p, a) - dot(p, b)
        chance = 1.0 / (1.0 + _exp(-min(max(margin, -_LIMIT), _LIMIT)))
        chances *= chance
        taken += 1
        if taken & 15 == 0:
            loss -= math.log(chances)
            chances = 1.0
        if margin != margin:
            return math.nan
        wrong = np.float32(1.0 - chance)
        for f in range(width):
            own, good, bad = p[f], a[f], b[f]
            p[f] = own + rate * (wrong * (good - bad) - pull * own)
            a[f] = good + rate * (wrong * own - pull * good)
            b[f] = bad - rate * (wrong * own + pull * bad)
        bias[i] += rate * (wrong - pull * bias[i])
        bias[j] -= rate * (wrong + pull * bias[j])
    return loss - math.log(chances)
