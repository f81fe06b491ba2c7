"""Session neighbours: what sessions hold that share the newest items of the user's own (VSKNN)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from recgauge.data.histories import newer_rows, newest_of_pairs, oldest_first
from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import ItemWeightModel, check_memory, matrix_of
from recgauge.models.sequential_rules import StepWeight, step_weights
from recgauge.models.weight_lists import joined_lists, largest, with_room
from recgauge.utils.checks import Count, FloatArray, IntArray, NotNegative
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled
from recgauge.utils.progress import Progress
from recgauge.utils.resources import over_blocks

_BLOCK = 64  # users whose neighbours a thread finds at a time
_BYTES = 16  # of a neighbour: in the blocks and in the matrix


@dataclass(eq=False)
class SessionKNN(ItemWeightModel):
    r"""Score an item by the similarity of the sessions that hold it to the user's history.

    .. math::
        \hat x_{ui} = \Bigl(1 + \lambda \log \frac{S}{n_i}\Bigr)
        \sum_{s \in N_k(u),\, i \in s} \mathrm{sim}(u, s) \, w(g_{us}), \qquad
        \mathrm{sim}(u, s) = \frac{1}{m_u} \sum_{a \in u \cap s} p(a)

    A session is the training rows of a user: S sessions, :math:`n_i` rows of item i. A history of :math:`L_u`
    rows has :math:`m_u` distinct items; :math:`p(a) = (r_a / L_u)^2`, where :math:`r_a` is the place of a's
    newest row, 1 for the oldest one; :math:`w(g) = 1/g`, where :math:`g_{us}` is 1 if the session holds the
    item of the newest row, 2 if only that of the row before, and so on.

    Parameters
    ----------
    k : int
        Neighbours of a user, >= 1: the sessions of the highest similarity; of equal ones the newest.
    sample_size : int, optional
        Sessions that are compared, >= 1: the newest of those that share an item with the history; None: all.
    weighting : {"quadratic", "div", "linear", "log", "same"}
        p(a): as above, :math:`r_a / L_u`, :math:`\max(0, 1 - g/10)`, :math:`1/\log_{10}(g + 1.7)` with
        :math:`g = L_u - r_a`, or 1.
    weighting_score : {"div", "quadratic", "linear", "log", "same"}
        w(g): as above, :math:`1/g^2`, :math:`\max(0, 1 - g/10)`, :math:`1/\log_{10}(g + 1.7)`, or 1.
    idf_weighting : float
        :math:`\lambda`, >= 0: how much rare items gain.
    last_n : int, optional
        How many rows of the history count, the newest, >= 1; None: all.

    Notes
    -----
    With ``last_n=None`` these are names and settings of VSKNN in the code of [1]_ (``VMContextKNN``, with
    ``last_n_clicks``), which takes equal similarities and times in no fixed order, divides scores by the
    user's largest, and has other weights for ``linear``. Histories of MovieLens are longer than sessions:
    with the last item held out, the hit rates at 10 are .152 on 1M, .170 on 100K and .108 on latest-small
    with 10 rows, and .095, .136 and .092 with all.

    A session is as new as its newest row; of equal times the lower code is the newer one. Rows are ordered by
    time, those of one time, and sessions without times, as the table has them. A user's own training session
    is one of all: it only names items that the user has.

    Exact; similarities are compared as float32. Time: one addition for each item of a history and each
    session with it. Memory: 16 bytes for each neighbour of each user, and 16 for each session and thread.
    No chance is involved, and the number of threads changes nothing. Users can be folded in.

    References
    ----------
    .. [1] M. Ludewig, D. Jannach, "Evaluation of session-based recommendation algorithms", UMUAI 28, 2018:
       rn5l/session-rec.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2, 2], ["x", "y", "x", "z", "y", "z"])
    >>> model = SessionKNN(idf_weighting=0.0).fit(train, rng=np.random.default_rng(0))
    >>> model.score(np.array([0], np.int32)).tolist()  # its own session, x as item before, y as newest
    [[0.6875, 1.125, 0.5625]]
    """

    k: Count = 500
    sample_size: Count | None = 5000
    weighting: StepWeight = "quadratic"
    weighting_score: StepWeight = "div"
    idf_weighting: NotNegative = 5.0
    last_n: Count | None = 10

    @property
    def uses_order(self) -> bool:
        """Whether the order of rows can change a score: always."""
        return True

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Keep the sessions, the newest first, and find the neighbours of all users."""
        users = np.flatnonzero(train.user_counts())
        newest = oldest_first(train)[np.cumsum(train.user_counts())[users] - 1]
        age = -newest if train.timestamp is None else -train.timestamp[newest]
        sessions = matrix_of(train, "binary")[users[np.argsort(age, kind="stable")]]
        rarity = np.log(max(1, len(users)) / np.maximum(1, train.item_counts()))
        sessions.data = (1.0 + self.idf_weighting * rarity)[sessions.indices].astype(np.float32)
        neighbours = self._neighbours(train, sessions, progress or Progress())
        self._item_weights = ItemWeights(neighbours, sessions)
        return self

    def user_rows(self, rows: Interactions) -> sparse.csr_array:
        """Return what each session counts for each user, shape (n_users, n_sessions) float32."""
        return self._neighbours(rows, sparse.csr_array(self.learned_weights().weights), Progress())

    def _neighbours(
        self, rows: Interactions, sessions: sparse.csr_array, progress: Progress
    ) -> sparse.csr_array:
        """Return what the nearest sessions count for each user, shape (n_users, n_sessions) float32."""
        n_users, n_sessions = rows.n_users, sessions.shape[0]
        newer = newer_rows(rows)
        lengths = np.minimum(rows.user_counts(), self.last_n or len(rows))
        kept = newest_of_pairs(rows, newer)
        kept = kept[newer[kept] < lengths[rows.user[kept]]]
        kept = kept[np.lexsort((newer[kept], rows.user[kept]))]
        user, steps = rows.user[kept], newer[kept] + 1
        if self.weighting in ("div", "quadratic"):
            shares = 1.0 - newer[kept] / lengths[user]
            weights = shares if self.weighting == "div" else shares * shares
        else:
            weights = step_weights(self.weighting, newer[kept])
        distinct = np.bincount(user, minlength=n_users)
        most = min(self.k, n_sessions) * int(np.count_nonzero(distinct))
        check_memory("SessionKNN", f"neighbours of {n_users:,} users", _BYTES * most, "Set a lower model.k.")
        ends, by_item = np.concatenate([[0], np.cumsum(distinct)]), sessions.tocsc()
        history = ends, rows.item[kept], weights, step_weights(self.weighting_score, steps)
        lists = by_item.indptr.astype(np.int64), by_item.indices.astype(np.int32)
        sizes = n_sessions, self.sample_size or max(1, n_sessions), self.k

        def block(start: int, stop: int) -> tuple[IntArray, IntArray, FloatArray]:
            return nearest(*history, *lists, *sizes, start, stop)

        with progress.step("neighbours", n_users, "users") as advance:
            parts = over_blocks(block, n_users, _BLOCK, advance=advance)
        neighbours = joined_lists(parts, n_sessions)
        neighbours.sort_indices()
        return neighbours


@compiled(nogil=True)
def add_shares(
    items: I32s, weights: F64s, item_starts: I64s, item_sessions: I32s, sums: F64s, reached: I32s, first: I32s
) -> int:
    """Add weights of items to the sums of their sessions; list and count the sessions whose sums were 0.

    `first` gets the place of the first item that a session holds.
    """
    count = 0
    for place, item in enumerate(items):
        if weights[place] > 0.0:
            for session in item_sessions[item_starts[item] : item_starts[item + 1]]:
                if sums[session] == 0.0:
                    reached[count], first[session] = session, place
                    count += 1
                sums[session] += weights[place]
    return count


@compiled(nogil=True)
def nearest(
    user_starts: I64s,
    items: I32s,
    weights: F64s,
    score_weights: F64s,
    item_starts: I64s,
    item_sessions: I32s,
    n_sessions: int,
    most: int,
    k: int,
    start: int,
    stop: int,
) -> tuple[I32s, I32s, F32s]:
    """Return, for each user from `start` to `stop`, the nearest sessions and what each counts.

    Users' items come one user after the other, the newest first, each once, with weights >= 0 in the
    similarity and in the score. Sessions of each item come one item after the other; lower codes are newer,
    and of those with an item at most `most` are compared, and `k` kept. Returns how many are kept of each
    user; their codes, one list after the other; and what they count.
    """
    sums, first = np.zeros(n_sessions), np.empty(n_sessions, np.int32)
    reached, near = np.empty(n_sessions, np.int32), np.empty(n_sessions, np.int32)
    similarity, counts = np.empty(n_sessions, np.float32), np.empty(stop - start, np.int32)
    codes, votes, filled = np.empty(1024, np.int32), np.empty(1024, np.float32), 0
    for user in range(start, stop):
        own = slice(user_starts[user], user_starts[user + 1])
        n_items, by_place = own.stop - own.start, score_weights[own]
        n_reached = add_shares(items[own], weights[own], item_starts, item_sessions, sums, reached, first)
        sessions = reached[:n_reached]
        if n_reached > most:
            sessions = np.partition(sessions, most - 1)[:most]
        count = len(sessions)
        near[:count] = sessions
        similarity[:count] = sums[sessions] / n_items
        if count > k:
            count = largest(similarity, near, count, k)
        codes, votes = with_room(codes, votes, filled, count)
        for session in near[:count]:
            codes[filled], votes[filled] = session, sums[session] * by_place[first[session]] / n_items
            filled += 1
        counts[user - start] = count
        sums[reached[:n_reached]] = 0.0
    return counts, codes[:filled].copy(), votes[:filled].copy()
