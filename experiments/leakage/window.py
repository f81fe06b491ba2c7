"""One span of time is tested; what follows it is kept out of training, or let in on purpose."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError
from recgauge.splits import Assignment
from recgauge.splits.by_date import TemporalDate
from recgauge.utils.checks import check_choice

Training = Literal["past", "others", "as_many", "everybody"]


@dataclass(frozen=True)
class Window(TemporalDate):
    """Test a span of time, of users who have earlier rows, with or without later rows in training.

    The test part is the same whatever `training` says.

    Parameters
    ----------
    test_from, test_until : str or int
        As of `TemporalDate`; both must be given.
    training : {"past", "others", "as_many", "everybody"}
        ``past``: rows before the window. ``others``: also rows after it, of users who are not tested.
        ``as_many``: those, without as many of the oldest rows of the same users, so that there are as many
        rows as in the past. ``everybody``: the past and all rows after the window, also of tested users.
    validation_from, cold_users, cold_items
        As of `TemporalDate`.

    Raises
    ------
    ConfigError
        If a setting is not valid.

    Examples
    --------
    >>> days = [0, 1, 2, 3, 0, 3]
    >>> ratings = Interactions.from_ids([1, 1, 1, 1, 2, 2], [1, 2, 3, 4, 1, 2], None, np.array(days) * 86400)
    >>> parts = {}
    >>> for training in get_args(Training):
    ...     window = Window("1970-01-02", test_until="1970-01-03", training=training)
    ...     split = window.split(ratings, rng=np.random.default_rng(0))
    ...     parts[training] = split.train.timestamp // 86400
    >>> parts
    {'past': array([0, 0]), 'others': array([0, 0, 3]),
     'as_many': array([0, 3]), 'everybody': array([0, 2, 3, 0, 3])}
    """

    training: Training = "past"

    name: ClassVar[str] = "window"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("Window: training", self.training, get_args(Training))
        if self.test_until is None:
            raise ConfigError("Window: test_until is not set. Set split.test_until=DATE.")

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return the window's rows of users with earlier ones, and what is unused; no chance is involved."""
        plain = super().assign(interactions, rng=rng)
        ((reason, after),) = plain.unused
        before = plain.train
        earlier = np.bincount(interactions.user[before], minlength=interactions.n_users) > 0
        test = plain.test & earlier[interactions.user]
        tested = np.bincount(interactions.user[test], minlength=interactions.n_users) > 0
        of_others = ~tested[interactions.user]
        let_in = {"past": after & False, "everybody": after}.get(self.training, after & of_others)
        oldest = np.zeros(len(after), np.bool_)
        if self.training == "as_many":
            assert interactions.timestamp is not None
            rows = np.flatnonzero(before & of_others)
            by_time = rows[np.argsort(interactions.timestamp[rows], kind="stable")]
            oldest[by_time[: np.count_nonzero(let_in)]] = True
        unused = (
            ("rows in the window of users without earlier rows", plain.test & ~test),
            (reason, after & ~let_in),
            ("as many of the oldest rows", oldest),
        )
        return Assignment(test, plain.validation, unused=unused)
