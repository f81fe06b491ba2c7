"""Which of a user's rows of one time counts as the latest, for strategies that order each user's rows."""

from dataclasses import dataclass, field

from recgauge.splits import Splitter
from recgauge.splits._order import TIES
from recgauge.utils.checks import check_choice


@dataclass(frozen=True)
class ByTime(Splitter):
    """A strategy that orders each user's rows by time, with a rule for rows of one user and time.

    Parameters
    ----------
    ties : {"fixed_random", "random", "row_order", "row_order_reversed", "item_id", "item_id_reversed"}
        Which of several rows of one user and time counts as later, and so is held out first.
        ``fixed_random``: a random order made from the codes of user and item, the same for every seed.
        ``random``: a random order drawn from the run's seed. ``row_order``: the later row of the table;
        ``row_order_reversed``: the earlier one. ``item_id``: the item with the higher id (ids that are text
        are compared as text); ``item_id_reversed``: the one with the lower id.

    Raises
    ------
    ConfigError
        If there is no such rule.
    """

    ties: str = field(default="fixed_random", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"{type(self).__name__}: ties", self.ties, TIES)

    @property
    def tie_rule(self) -> str | None:
        """The rule for rows of one user and time."""
        return self.ties
