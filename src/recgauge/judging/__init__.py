"""Which items of a list are relevant, at which ranks: lists joined with held-out items, once for all metrics.

`Policies` say what an evaluation does where a formula is silent.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal

import numpy as np

from recgauge.data.catalogue import Catalogue
from recgauge.data.ids import IdArray
from recgauge.data.lists import Relevant, TopK
from recgauge.errors import ConfigError, MetricError, SchemaError
from recgauge.judging import _lookup
from recgauge.judging.ineligible import drop_ineligible, seen_codes
from recgauge.judging.ties import TiedGains, order_ties, shared_ranks, shuffled
from recgauge.utils.checks import (
    BoolArray,
    Checked,
    Count,
    DoubleArray,
    IntArray,
    LongArray,
    Natural,
    Real,
    read_only,
    shown,
)

NoRelevant = Literal["skip", "zero", "nan", "raise"]
NoPositiveGrade = Literal["same", NoRelevant]
NoList = Literal["zero", "skip", "nan", "raise"]
TieOrder = Literal["stable", "item_code", "id_descending", "average", "random", "expected"]
Unknown = Literal["miss", "drop"]
Seen = Literal["miss", "drop", "hit"]
Repeats = Literal["refuse", "miss", "drop", "every", "distinct"]
ListsOf = Literal["all", "relevant", "evaluated"]
Rounding = Literal["numpy", "printf"]
ScorePrecision = Literal["double", "single"]

QUIET = ("no_positive_grade", "rounding", "score_precision", "unknown", "seen")
"""Shown only where they are not at their default."""
_STORED = {"refuse": "duplicates=error", "miss": "duplicates=first"}
"""Texts of `repeats` in definitions, which stay those of stored runs."""


@dataclass(frozen=True)
class Policies(Checked):
    """Decisions that hold for a whole evaluation and change every number.

    Parameters
    ----------
    no_relevant : {"skip", "zero", "nan", "raise"}, default "skip"
        A user without relevant items: left out and counted; counts as a user whose list hits nothing;
        undefined, so NaN for the user and left out of the mean; or an error that names the user.
    no_positive_grade : {"same", "skip", "zero", "nan", "raise"}, default "same"
        A user who has judged rows, all with grades below `threshold`. ``same``: as `no_relevant` says;
        other words: this, and `no_relevant` is for users without any judged row. In a run every test row
        is judged, and those below ``dataset.relevant_from`` have grade 0.
    no_list : {"zero", "skip", "nan", "raise"}, default "zero"
        A user with relevant items and no list. ``zero``: counts with an empty list.
    ties : {"stable", "item_code", "id_descending", "average", "random", "expected"}, default "stable"
        The order of items with equal scores. ``stable``: as given, which in a run is ``item_code``, the
        lower code first; ``id_descending``: the higher first; ``average``: they share their ranks (DCG
        and nDCG average over the ranks, average precision takes the last one, other metrics keep the
        order as given); ``random``: shuffled with the seed; ``expected``: each metric's expected value
        over all orders of equal scores, exact where a formula is known, else the mean over `draws` random
        orders. The last two count what ties with the end of a list and did not fit in, which lists from
        outside do not tell. Only acts where scores are known.
    unknown : {"miss", "drop"}, default "miss"
        An item of a list that is in no training row and in no row of the truth, such as one that a language
        model made up ("hallucinated", "out of catalogue"). ``miss``: its place counts and hits nothing;
        ``drop``: later items move up. This and `seen` act on lists from outside with training rows; lists
        of models hold candidates only.
    seen : {"miss", "drop", "hit"}, default "miss"
        An item that the user has in the training rows; ``hit``: as any other item, where people return to
        items.
    repeats : {"refuse", "miss", "drop", "every", "distinct"}, default "refuse"
        A repeated item in a list: refused; a hit only at its first rank; left out, so that later items move
        up; a hit at every rank, so that values above 1 appear; or each rank is another item, so that a user
        has one more relevant item for every repeat of one. `recgauge.evaluate`, `recgauge evaluate` and
        `model=recorded` take ``miss`` where nothing else is set. Texts of definitions call it ``duplicates``
        (``error`` is ``refuse``, ``first`` is ``miss``), as those of stored runs do.
    longest : int or None, default None
        Items of a list that are looked at, before any is dropped.
    lists_of : {"all", "relevant", "evaluated"}, default "all"
        Whose lists count for metrics that look at lists only, such as coverage or novelty: everybody's, those
        of users with relevant items, or those of users whom no policy leaves out.
    threshold : float, default 1.0
        Lowest grade that is relevant; lower grades count as irrelevant. 0: every grade above 0 is relevant.
        Where ``relevant_from`` is set, that is the threshold instead.
    round : int or None, default None
        Decimals of each user's value.
    rounding : {"numpy", "printf"}, default "numpy"
        How a user's value is rounded: as ``numpy.round``, which multiplies first, so that 0.003125 gives
        0.00312; or to the nearest decimal of the binary number itself, as C prints it: 0.00313.
    round_mean : int or None, default None
        Decimals of the mean, which is rounded from a plain sum over users, as an article's code makes it.
    draws : int, default 32
        Random orders where ties are ``expected``, for metrics without a formula.
    score_precision : {"double", "single"}, default "double"
        What counts as equal scores: ``single``, those that are equal as 32-bit numbers.

    Raises
    ------
    ConfigError
        If a value is unknown; the message lists the valid ones.

    Examples
    --------
    >>> Policies(no_relevant="zero").definition()
    'no_relevant=zero, no_list=zero, ties=stable, duplicates=error, lists_of=all, threshold=1'
    """

    no_relevant: NoRelevant = "skip"
    no_positive_grade: NoPositiveGrade = "same"
    no_list: NoList = "zero"
    ties: TieOrder = "stable"
    unknown: Unknown = "miss"
    seen: Seen = "miss"
    repeats: Repeats = "refuse"
    longest: Count | None = None
    lists_of: ListsOf = "all"
    threshold: Real = 1.0
    round: Natural | None = None
    rounding: Rounding = "numpy"
    round_mean: Natural | None = None
    draws: Count = 32
    score_precision: ScorePrecision = "double"

    def definition(self) -> str:
        """Return the canonical text; what few conventions set appears only where it is set."""
        hidden = {f.name for f in fields(self) if f.name in QUIET and getattr(self, f.name) == f.default}
        if self.ties != "expected":
            hidden.add("draws")
        return ", ".join(self._texts(f.name for f in fields(self) if f.name not in hidden))

    def note_beside(self, base: "Policies") -> str:
        """Return what a definition's text says about policies: what differs from `base`, and random ties."""
        changes = self.differences(base)
        if self.ties in ("random", "expected") and self.ties == base.ties:
            changes = f"ties={self.ties}" + (f", {changes}" if changes else "")
        return f" [{changes}]" if changes else ""

    def differences(self, other: "Policies") -> str:
        """Return the text of what differs from `other`, empty if nothing does.

        Examples
        --------
        >>> Policies(no_list="skip").differences(Policies())
        'no_list=skip'
        """
        names = (f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name))
        return ", ".join(self._texts(names))

    def _texts(self, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            value = getattr(self, name)
            if name == "repeats":
                yield _STORED.get(value, f"duplicates={value}")
            elif value is not None:
                yield f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"


@dataclass(frozen=True, slots=True, eq=False)
class RankedGains:
    """Gains at ranks of users' lists, sparse: one entry a relevant item, in order of user, then rank.

    Parameters
    ----------
    owner : ndarray of int64, shape (h,)
        Row of the user, ascending.
    rank : ndarray of int32, shape (h,)
        From 1, ascending inside a user.
    gain : ndarray of float64, shape (h,)
        Above 0.
    ordinal : ndarray of int32, shape (h,)
        Position of each entry among its user's entries, from 1.
    n_users : int
        Number of rows, with or without entries.
    tie_first, tie_last : ndarray of int64, shape (h,), optional
        First and last rank of the items with the same score, where ties share their ranks.
    """

    owner: LongArray
    rank: IntArray
    gain: DoubleArray
    ordinal: IntArray
    n_users: int
    tie_first: LongArray | None = None
    tie_last: LongArray | None = None
    # every metric cuts at the same few ranks: the cuts and counts are kept
    _cuts: "dict[int, RankedGains]" = field(default_factory=dict, init=False, repr=False)
    _counts: "list[DoubleArray]" = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("owner", "rank", "gain", "ordinal"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def cut(self, k: int | None) -> "RankedGains":
        """Return the entries down to rank `k` (all if None)."""
        if k is None:
            return self
        if k not in self._cuts:
            self._cuts[k] = self._take(np.flatnonzero(self.rank <= k))
        return self._cuts[k]

    def within(self, limit: LongArray) -> "RankedGains":
        """Return the entries down to a rank of each user's own, `limit` of shape (n_users,)."""
        return self._take(np.flatnonzero(self.rank <= limit[self.owner]))

    def _take(self, kept: LongArray) -> "RankedGains":
        if len(kept) == len(self.owner):
            return self
        return RankedGains(
            self.owner[kept],
            self.rank[kept],
            self.gain[kept],
            self.ordinal[kept],
            self.n_users,
            None if self.tie_first is None else self.tie_first[kept],
            None if self.tie_last is None else self.tie_last[kept],
        )

    def total(self, weight: DoubleArray) -> DoubleArray:
        """Sum `weight` (h,) over each user's entries, shape (n_users,) float64."""
        total: DoubleArray = np.bincount(self.owner, weight, minlength=self.n_users).astype(
            np.float64, copy=False
        )
        return total

    def counts(self) -> DoubleArray:
        """Return the number of each user's entries, shape (n_users,) float64."""
        if not self._counts:
            counts = np.bincount(self.owner, minlength=self.n_users).astype(np.float64)
            self._counts.append(read_only(counts))
        return self._counts[0]


@dataclass(frozen=True, eq=False)
class JudgedTopK:
    """Ranked lists and relevant items: all that a metric of one user's list needs.

    Every user with a list or with relevant items has a row; a user may be without either.

    Parameters
    ----------
    users : ndarray of int32, shape (m,)
        User codes; rows of everything below.
    items : ndarray of int32, shape (m, k)
        The lists, padded with -1, which also stands for an item outside the catalogue.
    list_length : ndarray of int32, shape (m,)
        0: no list.
    hits : RankedGains
        The relevant items in the lists, at their ranks.
    n_relevant : ndarray of int64, shape (m,)
        0: no relevant items.
    relevant_gains : ndarray of float64, shape (r,)
        Gains of all relevant items, users back to back, falling inside each user.
    none_relevant : ndarray of bool, shape (m,)
        Users with judged rows none of which is relevant; False for those without any judged row.
    catalogue : Catalogue or None
        For metrics beyond accuracy.
    tied : TiedGains or None
        Groups of equal scores, where values are to be those expected of a random order.
    relevant_items : ndarray of int32, shape (r,), or None
        Item codes of all relevant items, users back to back, rising inside each user, so in another order
        than their gains; None where repeats of one item are other items.
    emptied : ndarray of bool, shape (m,), or None
        Users with a list of which nothing is left after dropping.
    """

    users: IntArray
    items: IntArray
    list_length: IntArray
    hits: RankedGains
    n_relevant: LongArray
    relevant_gains: DoubleArray
    none_relevant: BoolArray
    catalogue: Catalogue | None = None
    tied: TiedGains | None = None
    relevant_items: IntArray | None = None
    emptied: BoolArray | None = None

    def __post_init__(self) -> None:
        for name in ("users", "items", "list_length", "n_relevant", "none_relevant"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_users(self) -> int:
        """Number of judged users."""
        return len(self.users)

    @cached_property
    def flat_gain(self) -> float | None:
        """The gain that all relevant items share, None if they differ."""
        lowest = float(self.relevant_gains.min()) if len(self.relevant_gains) else 1.0
        return lowest if (self.relevant_gains == lowest).all() else None

    def take(self, rows: LongArray | BoolArray) -> "JudgedTopK":
        """Return the chosen rows (ascending positions or a mask), to evaluate a part of the users.

        Without `tied`.
        """
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else np.asarray(rows, np.int64)
        new_row = np.full(self.n_users, -1)
        new_row[chosen] = np.arange(len(chosen))
        hits = self.hits._take(np.flatnonzero(new_row[self.hits.owner] >= 0))
        owner, ties = new_row[hits.owner], (hits.tie_first, hits.tie_last)
        moved = RankedGains(owner, hits.rank, hits.gain, hits.ordinal, len(chosen), *ties)
        owned = np.repeat(new_row >= 0, self.n_relevant)
        return JudgedTopK(
            self.users[chosen],
            self.items[chosen],
            self.list_length[chosen],
            moved,
            self.n_relevant[chosen],
            self.relevant_gains[owned],
            self.none_relevant[chosen],
            self.catalogue,
            relevant_items=None if self.relevant_items is None else self.relevant_items[owned],
            emptied=None if self.emptied is None else self.emptied[chosen],
        )


def judge(
    top_k: TopK,
    relevant: Relevant,
    catalogue: Catalogue | None = None,
    *,
    policies: Policies | None = None,
    users: IntArray | None = None,
    user_ids: IdArray | None = None,
    order: tuple[int, int] = (0, 0),
) -> JudgedTopK:
    """Look up the gain of every item in every list.

    Parameters
    ----------
    top_k : TopK
        Lists; a user without relevant items may have one.
    relevant : Relevant
        A user without a list may have relevant items.
    catalogue : Catalogue, optional
        For metrics beyond accuracy.
    policies : Policies, optional
        Ties, repeats, unknown and seen items act here; the defaults if left out.
    users : ndarray of int32, shape (m,), optional
        Distinct codes of everybody who counts, in the order of the result; by default everybody who has
        a list or relevant items.
    user_ids : ndarray, optional
        Ids of all user codes, for messages.
    order : tuple of int, default (0, 0)
        Seed and number of the random order, where ties are put in one.

    Returns
    -------
    JudgedTopK

    Raises
    ------
    SchemaError
        If `users` leaves out somebody who has a list or relevant items, or a list repeats an item and
        repeats are refused.

    Examples
    --------
    >>> lists = TopK(np.array([0]), np.array([[5, 3, 9]]), np.array([[3.0, 2.0, 1.0]]))
    >>> relevant = Relevant(
    ...     np.array([0]), np.array([0, 2]), np.array([3, 7]), np.array([1.0, 2.0]), n_without=0
    ... )
    >>> judged = judge(lists, relevant)
    >>> judged.hits.rank.tolist(), judged.relevant_gains.tolist()
    ([2], [2.0, 1.0])
    """
    chosen = policies or Policies()
    is_distinct = top_k.distinct
    if chosen.ties == "random":
        top_k = shuffled(top_k, *order)
    users, top_k, relevant = _align(top_k, relevant, users)
    items, scores = top_k.items, top_k.scores
    if chosen.repeats == "refuse" and not is_distinct:
        _refuse_repeats(items, users, user_ids)
    if chosen.score_precision == "single":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32)
    if chosen.ties in ("item_code", "id_descending"):
        sign = -1 if chosen.ties == "id_descending" else 1
        items = order_ties(items, scores, lambda _, tied: sign * tied)
    emptied, lengths = None, top_k.lengths
    if chosen.longest is not None or "drop" in (chosen.unknown, chosen.seen, chosen.repeats):
        items, scores = drop_ineligible(items, scores, users, catalogue, chosen)
        left = (items >= 0).sum(axis=1, dtype=np.int32)
        emptied, lengths = (left == 0) & (lengths > 0), left
    start, gains = relevant.start, np.asarray(relevant.gains, np.float64)
    relevant_items: IntArray | None = relevant.items
    every = is_distinct or chosen.repeats in ("every", "distinct")  # without repeats it is the same
    hit = _lookup.look_up(items, start, relevant.items, gains, every=every)
    owner, rank, ordinal, gain = _without_seen(hit, items, users, catalogue, chosen)
    if chosen.repeats == "distinct" and not is_distinct and _lookup.first_repeat(items) is not None:
        start, gains = _with_repeats(items, owner, rank, gain, start, gains)
        relevant_items = None
    shared = shared_ranks(scores, owner, rank) if chosen.ties == "average" else (None, None)
    tied = None
    if chosen.ties == "expected":
        tied = TiedGains.of(items, scores, lengths, (owner, rank, gain), top_k.beyond)
    hits = RankedGains(owner, rank, gain, ordinal, len(users), *shared)
    return JudgedTopK(
        users,
        _of_catalogue(items, catalogue),
        lengths,
        hits,
        np.diff(start),
        _lookup.best_first(start, gains),
        np.isin(users, relevant.none_relevant),
        catalogue,
        tied,
        relevant_items,
        emptied,
    )


def _of_catalogue(items: IntArray, catalogue: Catalogue | None) -> IntArray:
    """Return lists (m, k) with -1 in the place of items outside the catalogue."""
    if catalogue is None or catalogue.outside is None:
        return items
    return np.where((items >= 0) & ~catalogue.outside[items], items, np.int32(-1))


def _refuse_repeats(items: IntArray, users: IntArray, user_ids: IdArray | None) -> None:
    row = _lookup.first_repeat(items)
    if row is not None:
        user = users[row] if user_ids is None else user_ids[users[row]]
        raise SchemaError(
            f"recommendations: the list of user {shown(user)} holds an item twice. Remove it, or say "
            "what it counts: repeats='miss', 'drop', 'every' or 'distinct'."
        )


Hits = tuple[LongArray, IntArray, IntArray, DoubleArray]
"""Owners, ranks, ordinals and gains, as `look_up` returns them."""


def _without_seen(
    hits: Hits, items: IntArray, users: IntArray, catalogue: Catalogue | None, policies: Policies
) -> Hits:
    """Return the hits without items of the user's training rows, where these are misses."""
    owner, rank, _, gain = hits
    if policies.seen != "miss":
        return hits
    start = np.searchsorted(owner, np.arange(len(users) + 1))
    seen = seen_codes(start, items[owner, rank - 1], users, catalogue)
    if seen is None or not seen.any():
        return hits
    owner, rank, gain = owner[~seen], rank[~seen], gain[~seen]
    ordinal = np.arange(len(owner)) - np.searchsorted(owner, owner) + 1
    return owner, rank, ordinal.astype(np.int32), gain


def _with_repeats(
    items: IntArray,
    owner: LongArray,
    rank: IntArray,
    gain: DoubleArray,
    start: LongArray,
    gains: DoubleArray,
) -> tuple[LongArray, DoubleArray]:
    """Give each user one more relevant item for every repeat of one; return starts and gains."""
    item = items[owner, rank - 1]
    order = np.lexsort((rank, item, owner))
    repeated = (np.diff(owner[order]) == 0) & (np.diff(item[order]) == 0)
    repeats = order[1:][repeated]
    owners = np.concatenate((np.repeat(np.arange(len(items)), np.diff(start)), owner[repeats]))
    by_owner = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=len(items))
    return np.concatenate(([0], np.cumsum(counts))), np.concatenate((gains, gain[repeats]))[by_owner]


def check_longest(policies: Policies, cutoffs: Iterable[int | None]) -> None:
    """Refuse a cutoff below which nobody looks."""
    largest = max((k for k in cutoffs if k is not None), default=0)
    if policies.longest is not None and policies.longest < largest:
        raise ConfigError(
            f"longest={policies.longest} looks at fewer items than the cutoff {largest} counts; choose "
            "smaller cutoffs or a greater longest."
        )


def _align(top_k: TopK, relevant: Relevant, users: IntArray | None) -> tuple[IntArray, TopK, Relevant]:
    """Bring lists and relevant items to the same users, rows empty where a user is without one of them."""
    if users is None:
        if np.array_equal(top_k.users, relevant.users):
            return relevant.users, top_k, relevant
        users = np.union1d(top_k.users, relevant.users).astype(np.int32)
    list_rows = _rows_of(users, top_k.users, "top_k")
    relevant_rows = _rows_of(users, relevant.users, "relevant")
    items = np.full((len(users), top_k.items.shape[1]), -1, np.int32)
    scores = np.full(items.shape, -np.inf, top_k.scores.dtype)
    items[list_rows] = top_k.items
    scores[list_rows] = top_k.scores
    beyond = None if top_k.beyond is None else top_k.beyond.spread(list_rows, len(users))
    return users, TopK(users, items, scores, beyond, top_k.distinct), relevant.spread(relevant_rows, users)


def _rows_of(users: IntArray, chosen: IntArray, name: str) -> LongArray:
    order = np.argsort(users, kind="stable")
    at = np.searchsorted(users, chosen, sorter=order)
    rows: LongArray = order[np.minimum(at, len(users) - 1)] if len(users) else at
    if len(chosen) and (len(users) == 0 or not np.array_equal(users[rows], chosen)):
        raise MetricError(f"judge: {name} has users that are not among `users`.")
    return rows
