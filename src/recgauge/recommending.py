"""From a fitted model to ranked lists: candidates, mask, rank, ties; once, for all models."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from recgauge._checks import DoubleArray, FloatArray, IntArray, LongArray, check_int, read_only
from recgauge.candidates import CandidateItems
from recgauge.engine import Source, is_compiled, kind_of, rank_candidates, top_k, warm_up
from recgauge.errors import ConfigError, ScoreError
from recgauge.models import Recommender
from recgauge.progress import NoProgress, Progress
from recgauge.timing import Timings


@dataclass(frozen=True, slots=True, eq=False)
class Beyond:
    """What scores as the last item of a full list and is not in the list.

    Parameters
    ----------
    size : ndarray of int64, shape (m,)
        How many candidates of each user; 0: the list does not end inside a group of equal scores.
    start : ndarray of int64, shape (m + 1,)
        User j's part of `gains` is ``start[j]:start[j + 1]``.
    gains : ndarray of float64, shape (g,)
        Grades of the relevant ones among them.
    drawn : ndarray of int32, shape (n_draws, t, k)
        For the t users with a `size` above 0: the first items of random orders of the whole group.
    """

    size: LongArray
    start: LongArray
    gains: DoubleArray
    drawn: IntArray

    def spread(self, rows: LongArray, n_users: int) -> "Beyond":
        """Return the same over more users: this one's user j moves to row ``rows[j]``."""
        size, counts = np.zeros(n_users, np.int64), np.zeros(n_users, np.int64)
        size[rows], counts[rows] = self.size, np.diff(self.start)
        by_row = np.argsort(np.repeat(rows, np.diff(self.start)), kind="stable")
        drawn = self.drawn[:, np.argsort(rows[self.size > 0])]
        return Beyond(size, np.concatenate(([0], np.cumsum(counts))), self.gains[by_row], drawn)

    def take(self, rows: LongArray) -> "Beyond":
        """Return the same of some users, given by rising rows."""
        counts = np.diff(self.start)
        kept = np.zeros(len(self.size), np.bool_)
        kept[rows] = True
        drawn = self.drawn[:, kept[self.size > 0]]
        start = np.concatenate(([0], np.cumsum(counts[rows])))
        return Beyond(self.size[rows], start, self.gains[np.repeat(kept, counts)], drawn)


@dataclass(frozen=True, slots=True, eq=False)
class TopK:
    """Ranked lists, best item first.

    Parameters
    ----------
    users : ndarray of int32, shape (m,)
        User codes, distinct.
    items : ndarray of int32, shape (m, k)
        Item codes, distinct in a row; -1 pads lists that are shorter than k.
    scores : ndarray of float32, shape (m, k)
        Falling in a row, equal scores by rising item code unless ties are shuffled; -inf where padded.
    beyond : Beyond or None
        What ties with the last items of the lists; None: not known.
    """

    users: IntArray
    items: IntArray
    scores: FloatArray
    beyond: Beyond | None = None

    def __post_init__(self) -> None:
        if self.items.shape != self.scores.shape or len(self.items) != len(self.users):
            raise ScoreError(
                "TopK: items and scores must have shape (n_users, k), got "
                f"{self.items.shape} and {self.scores.shape} for {len(self.users)} users."
            )
        for name in ("users", "items", "scores"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def lengths(self) -> IntArray:
        """Number of items in each list, shape (m,)."""
        lengths: IntArray = (self.items >= 0).sum(axis=1, dtype=np.int32)
        return lengths

    def of(self, users: IntArray) -> "TopK":
        """Return the lists of some of the users; both are rising codes."""
        if len(users) == len(self.users):
            return self
        rows = np.searchsorted(self.users, users)
        beyond = None if self.beyond is None else self.beyond.take(rows)
        return TopK(users, self.items[rows], self.scores[rows], beyond)


def recommend(  # noqa: PLR0913
    model: Recommender,
    users: IntArray,
    k: int,
    *,
    excluded: sparse.csr_array | None = None,
    candidates: CandidateItems | None = None,
    memory_mib: int = 256,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> TopK:
    """Return each user's `k` best items among the candidates.

    Parameters
    ----------
    model : Recommender
        Fitted.
    users : ndarray of int32, shape (m,)
        User codes.
    k : int
        Length of the lists, >= 1; lists are shorter where fewer items are left.
    excluded : scipy.sparse.csr_array, shape (n_users, n_items), optional
        Stored entries are barred, such as the training rows; short for candidates that only bar.
    candidates : CandidateItems, optional
        What a candidate rule gives; everything if neither is given.
    memory_mib : int
        Memory for blocks of users, MiB; never changes a list.
    n_threads : int, optional
        As many as this process may use if not given; never changes a list.
    progress : Progress, optional

    Returns
    -------
    TopK

    Raises
    ------
    ConfigError
        If both `excluded` and `candidates` are given.
    ScoreError
        If the model's scores have a wrong shape or type, or are not finite.
    """
    check_int("recommend: k", k, minimum=1)
    check_int("recommend: memory_mib", memory_mib, minimum=1)
    if candidates is not None and excluded is not None:
        raise ConfigError("recommend: give either excluded or candidates, which can hold the excluded.")
    chosen = candidates or CandidateItems(excluded=excluded)
    with (progress or NoProgress()).step("recommend", len(users), "users") as advance:
        source, name = source_of(model), type(model).__name__
        settings: Any = {"memory_mib": memory_mib, "n_threads": n_threads, "on_progress": advance}
        if chosen.per_user is not None:
            items, scores = rank_candidates(source, users, k, chosen.per_user, name=name, **settings)
        else:
            seen, only = chosen.excluded, chosen.items
            items, scores = top_k(source, users, k, seen=seen, items=only, name=name, **settings)
    return TopK(users, items, scores)


def compile_kernels(model: Recommender, timings: Timings, *, given: bool = False) -> None:
    """Compile what `recommend` needs for this model, as a stage of its own, unless it is there already.

    `given`: users come with candidates of their own.
    """
    kind = kind_of(source_of(model), given=given)
    if not is_compiled(kind):
        with timings.stage("compile") as reporter:
            reporter.note("compiling kernels (once on this machine)")
            warm_up(kind)


def source_of(model: Recommender) -> Source:
    """Return what the engine makes a model's lists from: factors, item weights, or else its scores."""
    return model.factors() or model.item_weights() or model
