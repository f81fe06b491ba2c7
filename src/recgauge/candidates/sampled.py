"""Sampled negatives, as many articles rank."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from recgauge.candidates import CandidateItems, Candidates
from recgauge.data.interactions import distinct, pairs_matrix
from recgauge.data.split import Split
from recgauge.errors import quantity
from recgauge.utils.checks import BoolArray, Count, DoubleArray, IntArray, LongArray

By = Literal["uniform", "popularity"]
_ROUNDS = 8


@dataclass(frozen=True)
class SampledNegatives(Candidates):
    """Rank each user's test items among items drawn at random.

    All test items of the user are candidates, relevant or not; the negatives are items that the user has in
    no part of the split. They depend on the seed and the split alone, so every model gets the same. Sampled
    numbers can order models otherwise than the whole catalogue does [1]_, and mark the run.

    Parameters
    ----------
    n : int
        Negatives of each user; a user with fewer items left gets all of them, and the run says so.
    by : {"uniform", "popularity"}
        Every item alike, or in proportion to its training rows (an item without any is never drawn);
        without repetition either way.

    Raises
    ------
    ConfigError
        If `n` or `by` cannot be used.

    References
    ----------
    .. [1] W. Krichene, S. Rendle, "On sampled metrics for item recommendation", KDD 2020.

    Examples
    --------
    >>> from recgauge import Demo, RandomRows, stream
    >>> split = RandomRows().split(Demo().load().interactions, rng=stream(0, "split"))
    >>> chosen = SampledNegatives(n=50).choose(split, rng=stream(0, "candidates"))
    >>> chosen.per_user.nnz == len(split.test) + 50 * len(split.test_users)
    True
    """

    n: Count = 100
    by: By = "uniform"

    def choose(self, split: Split, *, rng: np.random.Generator) -> CandidateItems:
        """Return each user's test items and negatives."""
        test, shape = split.test, (split.test.n_users, split.test.n_items)
        before = split.before if split.has_cut else None
        parts = [part for part in (split.history, split.validation, test, before) if part is not None]
        excluded = pairs_matrix(
            np.concatenate([part.user for part in parts]),
            np.concatenate([part.item for part in parts]),
            shape,
        )
        popularity = self.by == "popularity"
        weight = split.train.item_counts().astype(np.float64) if popularity else np.ones(shape[1])
        user, item = draw_negatives(split.test_users, self.n, excluded, weight, rng)
        n_short = int((np.bincount(user, minlength=shape[0])[split.test_users] < self.n).sum())
        notes = (
            (f"{quantity(n_short, 'user')} had fewer than {self.n} items left to draw and got all of them",)
            if n_short
            else ()
        )
        how = "in proportion to popularity" if popularity else "uniformly"
        return CandidateItems(
            per_user=pairs_matrix(
                np.concatenate((test.user, user)), np.concatenate((test.item, item)), shape
            ),
            incomparable=f"each user's test items were ranked among {self.n} negatives drawn {how}, "
            "not in the catalogue",
            notes=notes,
        )


def draw_negatives(
    users: IntArray, n: int, excluded: sparse.csr_array, weight: DoubleArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw `n` distinct items for each user from those that the user's row of `excluded` does not store.

    Parameters
    ----------
    users : ndarray of int32, shape (m,)
        Distinct codes; the result does not depend on their order.
    n : int
        Fewer are drawn where fewer are left.
    excluded : scipy.sparse.csr_array, shape (n_users, n_items)
    weight : ndarray of float64, shape (n_items,)
        Chance of each item to be the next one drawn, up to scale; 0: never.
    rng : numpy.random.Generator

    Returns
    -------
    user, item : ndarray of int32, shape (d,)
        In order of user.

    Notes
    -----
    Drawing with repetition and dropping what a user has or was given already is drawing one by one without
    repetition. After some rounds, users who still need items (nearly everything is excluded, or the
    excluded items weigh nearly everything) get the rest from an explicit list of what is left, which
    continues the same process.
    """
    n_items = len(weight)
    users = np.sort(users)
    excluded_codes = _codes(excluded, users, n_items)
    open_to_all = np.flatnonzero(weight > 0)
    chance = weight[open_to_all] / weight.sum()
    uniform = bool((weight[open_to_all] == weight[open_to_all][0]).all())
    taken: LongArray = np.empty(0, np.int64)
    missing = np.full(len(users), n)
    for _ in range(_ROUNDS):
        row = np.repeat(np.arange(len(users)), missing)
        if len(row) == 0:
            break
        if uniform:
            at = rng.integers(len(open_to_all), size=len(row))
        else:
            at = np.searchsorted(np.cumsum(chance), rng.random(len(row)) * chance.sum(), side="right")
        item = open_to_all[np.minimum(at, len(open_to_all) - 1)]
        code = distinct(row * np.int64(n_items) + item)
        code = code[~(_among(code, excluded_codes) | _among(code, taken))]
        taken = np.sort(np.concatenate((taken, code)), kind="stable")
        missing = n - np.bincount(taken // n_items, minlength=len(users))
    rest = [
        _rest(int(position), int(missing[position]), (taken, excluded_codes), weight, rng)
        for position in np.flatnonzero(missing)
    ]
    taken = np.sort(np.concatenate((taken, *rest)))
    return users[taken // n_items], (taken % n_items).astype(np.int32)


def _codes(pairs: sparse.csr_array, users: IntArray, n_items: int) -> LongArray:
    """Row of each user among `users` and item as one rising number."""
    rows = sparse.csr_array(pairs[users])
    row = np.repeat(np.arange(len(users), dtype=np.int64), np.diff(rows.indptr))
    return np.sort(row * n_items + rows.indices)


def _among(code: LongArray, excluded: LongArray) -> BoolArray:
    """Whether each code is one of the rising `excluded`."""
    if len(excluded) == 0:
        return np.zeros(len(code), np.bool_)
    at = np.minimum(np.searchsorted(excluded, code), len(excluded) - 1)
    is_excluded: BoolArray = excluded[at] == code
    return is_excluded


def _rest(
    position: int,
    missing: int,
    gone: tuple[LongArray, LongArray],
    weight: DoubleArray,
    rng: np.random.Generator,
) -> LongArray:
    """Draw what one user still needs from the items that are neither taken nor excluded."""
    n_items = len(weight)
    free = weight.copy()
    for codes in gone:
        start, stop = np.searchsorted(codes, (position * n_items, (position + 1) * n_items))
        free[codes[start:stop] % n_items] = 0.0
    left = np.flatnonzero(free)
    if len(left) > missing:
        left = rng.choice(left, missing, replace=False, p=free[left] / free[left].sum())
    drawn: LongArray = np.int64(position) * n_items + left
    return drawn
