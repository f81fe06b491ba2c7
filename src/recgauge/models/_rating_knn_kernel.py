"""The compiled inner loops of neighbour models that predict ratings; imported when something is predicted."""

from typing import NamedTuple

import numpy as np

from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled

MSD, COSINE, PEARSON, PEARSON_BASELINE = range(4)

helper = compiled(nogil=True, error_model="numpy")


class Ratings(NamedTuple):
    """Ratings by the side whose neighbours are asked for (own), and by the other side.

    ``own_value`` and ``other_value`` are compared; ``other_deviation`` is what neighbours vote with.
    """

    own_ptr: I64s
    own_other: I32s
    own_value: F64s
    other_ptr: I64s
    other_own: I32s
    other_value: F64s
    other_deviation: F64s


class Pairs(NamedTuple):
    """What to predict: own codes with ``others[first:stop]`` each; results go to `out`, `out + step`, ..."""

    own: I32s
    first: I64s
    stop: I64s
    others: I32s
    out: I64s
    step: int


class Rule(NamedTuple):
    """Settings of the model; `kind` is one of the similarities above."""

    kind: int
    k: int
    min_k: int
    min_support: int
    shrinkage: float
    needs_neighbours: bool


@helper
def sum_common(x: int, ratings: Ratings, kind: int, sums: F64s) -> None:
    """Sum what x has in common with everybody: count, then what the similarity needs; columns of `sums`."""
    sums[:] = 0.0
    other_ptr, other_own, other_value = ratings.other_ptr, ratings.other_own, ratings.other_value
    for p in range(ratings.own_ptr[x], ratings.own_ptr[x + 1]):
        y, a = ratings.own_other[p], ratings.own_value[p]
        for q in range(other_ptr[y], other_ptr[y + 1]):
            b = other_value[q]
            row = sums[other_own[q]]
            if kind == MSD:
                row[0] += 1.0
                row[1] += (a - b) * (a - b)
                continue
            row[0] += 1.0
            row[1] += a * b
            row[2] += a * a
            row[3] += b * b
            if kind == PEARSON:
                row[4] += a
                row[5] += b


@helper
def from_sums(row: F64s, rule: Rule) -> float:
    """Return the similarity, 0 where it is undefined."""
    n = float(row[0])
    if n < rule.min_support or n == 0.0:
        return 0.0
    if rule.kind == MSD:
        return float(1.0 / (row[1] / n + 1.0))
    if rule.kind == PEARSON:
        product = n * row[1] - row[4] * row[5]
        spread = (n * row[2] - row[4] * row[4]) * (n * row[3] - row[5] * row[5])
    else:
        product, spread = row[1], row[2] * row[3]
    if not spread > 0.0:
        return 0.0
    found: float = product / np.sqrt(spread)
    if rule.kind == PEARSON_BASELINE:
        found *= (n - 1.0) / (n - 1.0 + rule.shrinkage) if n > 1.0 else 0.0
    return found


@helper
def sink(near: F64s, who: I64s, at: int, count: int) -> None:
    """Restore the heap below `at`: the farthest neighbour first, of equals the one that came last."""
    while True:
        worst = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < count and (
                near[child] < near[worst] or (near[child] == near[worst] and who[child] > who[worst])
            ):
                worst = child
        if worst == at:
            return
        near[at], near[worst] = near[worst], near[at]
        who[at], who[worst] = who[worst], who[at]
        at = worst


@helper
def find_nearest(y: int, similar: F64s, ratings: Ratings, k: int, near: F64s, who: I64s) -> int:
    """Fill the heap with the k nearest who rated y, in no order; return how many there are."""
    count = 0
    for q in range(ratings.other_ptr[y], ratings.other_ptr[y + 1]):
        s = similar[ratings.other_own[q]]
        if s <= 0.0:
            continue
        if count < k:
            near[count], who[count] = s, q
            count += 1
            if count == k:
                for at in range(k // 2 - 1, -1, -1):
                    sink(near, who, at, k)
        elif s > near[0]:  # who only equals the farthest comes after it
            near[0], who[0] = s, q
            sink(near, who, 0, k)
    return count


@helper
def vote(y: int, similar: F64s, ratings: Ratings, rule: Rule, near: F64s, who: I64s) -> float:
    """Return the mean deviation of the k nearest who rated y, weighted by similarity; nan if too few did."""
    count = find_nearest(y, similar, ratings, rule.k, near, who)
    if count < rule.min_k:
        return np.nan
    total = weight = 0.0
    for at in range(count):
        total += near[at] * ratings.other_deviation[who[at]]
        weight += near[at]
    return float(total / weight)


@compiled(nogil=True, error_model="numpy")
def predict(
    pairs: Pairs, begin: int, end: int, ratings: Ratings, centre: F64s, other_centre: F64s, scale: F64s,
    rule: Rule, out: F32s,
) -> None:  # fmt: skip
    """Predict the pairs of own codes number `begin` to `end`.

    Votes are multiplied with `scale`, by own code, and added to `centre` and `other_centre`.
    """
    n_own = len(ratings.own_ptr) - 1
    width = 2 if rule.kind == MSD else 6 if rule.kind == PEARSON else 4
    sums, similar = np.empty((n_own, width)), np.empty(n_own)
    near, who = np.empty(rule.k), np.empty(rule.k, np.int64)
    for t in range(begin, end):
        x = pairs.own[t]
        sum_common(x, ratings, rule.kind, sums)
        for x2 in range(n_own):
            similar[x2] = from_sums(sums[x2], rule)
        similar[x] = 0.0  # nobody is a neighbour of themselves
        for p in range(pairs.first[t], pairs.stop[t]):
            y = pairs.others[p]
            found = vote(y, similar, ratings, rule, near, who)
            if np.isnan(found) and not rule.needs_neighbours:
                found = 0.0
            at = pairs.out[t] + (p - pairs.first[t]) * pairs.step
            out[at] = centre[x] + other_centre[y] + scale[x] * found
