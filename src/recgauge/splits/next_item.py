"""One cut in time for everybody, and the items that come next after it."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.data.sequences import Average
from recgauge.data.split import NO_VALIDATION_TARGET
from recgauge.errors import ConfigError, EmptySplitError
from recgauge.splits import Assignment, ColdRows, session_rows
from recgauge.splits._order import ByTime, latest_first, times_of
from recgauge.splits.by_date import Date, span
from recgauge.utils.checks import BoolArray, LongArray, Share, check_time

Target = Literal["first", "last", "random", "successive", "all"]


@dataclass(frozen=True)
class NextItem(ByTime):
    """Train on all rows up to a moment, ask for items that users took after it: global temporal split [1]_.

    Parameters
    ----------
    quantile : float
        The cut: the quantile of all rows' times, in (0, 1); rows of that moment are training rows.
    date : str or int, optional
        The cut in place of `quantile`: the first moment after the training rows, ISO 8601 (UTC unless it says
        otherwise) or seconds since 1970.
    target : {"first", "last", "random", "successive", "all"}
        Which rows after the cut a user is asked for: the first, the last, a random one (by the run's seed),
        each in its turn, or all of them at once, after the rows up to the cut. Each row of ``successive`` is
        a query with the rows before it as history; its id is ``u#17`` for the 17th row of user u.
    average : {"query", "user"}
        What ``successive`` averages: queries alike, or users by the mean of their queries. Either way, users
        are what standard errors, intervals and tests take as drawn.
    history : {"grows", "train"}
        What models that take histories (`recgauge.models.TakesHistories`) see when they are asked: all rows
        before the target, or no more than they were fitted on, as other models. All rows before the target
        count as seen either way (``candidates.seen=both``).
    validation_size : float
        Share in the validation part, in [0, 1]; 0 makes none.
    validation_by : {"time", "last_item", "users"}
        Validation rows are targets as those of the test part, after a second cut that leaves this share of
        the rows up to the first one; or the last row up to the cut of this share of the users; or targets in
        the rows up to the cut of this share of the users, who have no training rows. With
        ``fit_on=train_validation`` all rows up to the cut are training rows.
    ties : str
        How a user's rows of one time are ordered, see `ByTime`; default ``fixed_random``.
    cold_users : {"keep", "drop"}
        Users without a training row: their first row is the history, and targets are chosen from those after
        it; or they are dropped, and counted.
    cold_items : {"drop", "keep"}
        See `Splitter`.
    whole : str or None
        A column of the table whose rows stay on one side of the cut, such as ``session_id``: a session is
        where its last row is. If sessions are asked, name that column as the user's (``dataset.user=``).

    Raises
    ------
    ConfigError
        If a setting is not valid.
    SchemaError
        If the data have no timestamps.
    EmptySplitError
        If there is nothing before the cut or after it.

    Notes
    -----
    Rows after the cut that are no target are in no part, and counted. Does not depend on the order of the
    rows if no (user, item) pair repeats, except with ``ties="row_order"`` and its reverse.

    References
    ----------
    .. [1] D. Gusak et al., "Time to Split: exploring data splitting strategies for offline evaluation of
       sequential recommenders", RecSys 2025.

    Examples
    --------
    >>> rows = Interactions.from_ids([1, 1, 1, 1, 2, 2], [1, 2, 3, 4, 1, 2], None, [0, 10, 20, 30, 5, 10])
    >>> for target in ("first", "last", "successive"):
    ...     split = NextItem(quantile=0.6, target=target).split(rows, rng=np.random.default_rng(0))
    ...     test = split.test
    ...     print(test.user_ids[test.user], test.item_ids[test.item], split.before.item)
    [1] [3] [0 1 0 1]
    [1] [4] [0 1 2 0 1]
    ['1#3' '1#4'] [3 4] [0 1 0 1 2]
    """

    quantile: float = 0.9
    date: Date | None = None
    target: Target = "last"
    average: Average = "query"
    history: Literal["grows", "train"] = "grows"
    validation_size: Share = 0.0
    validation_by: Literal["time", "last_item", "users"] = "time"
    cold_users: ColdRows = field(default="keep", kw_only=True)

    name: ClassVar[str] = "next_item"
    temporal: ClassVar[bool] = True
    parts_sessions: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.quantile, float) and 0.0 < self.quantile < 1.0):
            raise ConfigError(
                f"NextItem: quantile must be a share of the rows above 0 and below 1, got {self.quantile!r}."
            )
        if self.date is not None:
            check_time("NextItem: date", self.date)

    @property
    def grows(self) -> bool:
        """Whether histories have the rows between the cut and the target, too."""
        return self.history == "grows"

    @property
    def queries(self) -> Average | None:
        """What is averaged if each held-out row is a query."""
        return self.average if self.target == "successive" else None

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out; chance is in random ties, targets and validation users."""
        rank = latest_first(interactions, "NextItem", self.ties, rng)
        times = times_of(interactions, "NextItem")
        if self.whole is not None:
            sessions, session_of_row = session_rows(interactions, self.whole)
            times = times_of(sessions, "NextItem")[session_of_row]
        earlier = self._earlier(times)
        test = self._targets(interactions, rank, ~earlier, earlier, rng)
        unused = [("rows after the cut that are no target", ~earlier & ~test)]
        validation = None
        if self.validation_size:
            train, eligible = self._validation(interactions, times, rank, earlier, rng)
            validation = eligible
            if self.validation_by != "last_item":
                validation = self._targets(interactions, rank, eligible, train, rng)
            between = earlier & ~train & ~validation
            unused.append((NO_VALIDATION_TARGET, between))
        return Assignment(test, validation, unused=tuple(unused), rank=rank, until_cut=earlier)

    def _earlier(self, times: LongArray) -> BoolArray:
        """Return the rows up to the cut."""
        if not len(times):
            raise EmptySplitError("NextItem: there are no rows. Use more data.")
        if self.date is None:
            earlier: BoolArray = np.asarray(times <= np.quantile(times, self.quantile))
        else:
            earlier = np.asarray(times < check_time("NextItem: date", self.date))
        if earlier.all() or not earlier.any():
            side = "after" if earlier.any() else "before"
            raise EmptySplitError(
                f"NextItem: no row is {side} the cut; {span(times)}. Set split.date to a moment inside, or "
                "another split.quantile; if all rows have one time, name the column that orders them "
                "(dataset.time=COLUMN)."
            )
        return earlier

    def _targets(
        self,
        rows: Interactions,
        rank: LongArray,
        eligible: BoolArray,
        train: BoolArray,
        rng: np.random.Generator,
    ) -> BoolArray:
        """Return the targets among eligible rows; users without a training row give up their first row."""
        counts = rows.user_counts()
        is_trained = np.bincount(rows.user[train], minlength=rows.n_users) > 0
        chosen = eligible & (is_trained[rows.user] | (rank < counts[rows.user] - 1))
        if self.target in ("successive", "all"):
            return chosen
        positions = np.flatnonzero(chosen)
        positions = positions[np.lexsort((-rank[positions], rows.user[positions]))]  # the oldest first
        counts = np.bincount(rows.user[positions], minlength=rows.n_users)
        place = {"first": np.zeros(len(counts), np.int64), "last": counts - 1}.get(self.target)
        if place is None:
            place = (rng.random(len(counts)) * counts).astype(np.int64)
        start = np.cumsum(counts) - counts
        targets = np.zeros(len(rows), np.bool_)
        targets[positions[(start + place)[counts > 0]]] = True
        return targets

    def _validation(
        self,
        rows: Interactions,
        times: LongArray,
        rank: LongArray,
        earlier: BoolArray,
        rng: np.random.Generator,
    ) -> tuple[BoolArray, BoolArray]:
        """Return the training rows, and those that validation targets are chosen from."""
        if self.validation_by == "time":
            eligible = earlier & (times > np.quantile(times[earlier], 1.0 - self.validation_size))
            return earlier & ~eligible, eligible
        counts = np.bincount(rows.user[earlier], minlength=rows.n_users)
        users = np.flatnonzero(counts > 1)
        drawn = np.zeros(rows.n_users, np.bool_)
        drawn[rng.permutation(users)[: round(len(users) * self.validation_size)]] = True
        eligible = earlier & drawn[rows.user]
        if self.validation_by == "last_item":
            latest = np.full(rows.n_users, len(rows))
            np.minimum.at(latest, rows.user[eligible], rank[eligible])
            eligible &= rank == latest[rows.user]
        return earlier & ~eligible, eligible
