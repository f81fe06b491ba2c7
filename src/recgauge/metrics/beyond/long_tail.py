"""Share of the list in the long tail."""

from dataclasses import dataclass
from typing import ClassVar

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics import UserMetric
from recgauge.metrics.beyond.catalogue_needs import train_rows
from recgauge.metrics.beyond.lists import mean_over_list
from recgauge.metrics.beyond.tail import least_popular, short_head
from recgauge.utils.checks import DoubleArray, check_choice, check_real


@dataclass(frozen=True)
class LongTailShare(UserMetric):
    r"""Share of the list outside the short head (average percentage of long tail items, APLT).

    .. math:: \mathrm{APLT@}k(u) = \frac{|L_k \setminus H|}{|L_k|}

    Parameters
    ----------
    head : float, default 0.8
        Share of all training interactions that the most popular items must reach to be the head.
    boundary : {"head", "tail"}, default "head"
        Where the item goes with which the share is crossed.
    untrained : {"tail", "neither"}, default "tail"
        Whether items without training interactions are in the tail.
    divisor : {"k", "list"}, default "list"
        What the number of tail items is divided by.

    Raises
    ------
    ConfigError
        If a parameter is out of range or unknown.

    Notes
    -----
    Range [0, 1]; higher is better where popularity bias is to be avoided. NaN for an empty
    list with ``divisor="list"``.

    Elliot APLT: ``untrained="neither"`` (source). recmetrics 0.1.5 long_tail_plot splits with ``head=0.5,
    boundary="tail"``.

    References
    ----------
    .. [1] H. Abdollahpouri, R. Burke, B. Mobasher, "Controlling popularity bias in learning-to-rank
       recommendation", RecSys 2017.

    Examples
    --------
    Items 0 and 1 hold five of six interactions; the lists' others are tail:

    >>> from recgauge.metrics.beyond.examples import beyond_example
    >>> LongTailShare().per_user(beyond_example(), 2)
    array([1. , 0.5])
    """

    name: ClassVar[str] = "long_tail_share"
    label: ClassVar[str] = "LongTailShare"
    needs_relevant: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    head: float = 0.8
    boundary: str = "head"
    untrained: str = "tail"
    divisor: str = "list"

    def __post_init__(self) -> None:
        check_real("LongTailShare: head", self.head, low=0, high=1, low_open=True)
        check_choice("LongTailShare: boundary", self.boundary, ("head", "tail"))
        check_choice("LongTailShare: untrained", self.untrained, ("tail", "neither"))
        check_choice("LongTailShare: divisor", self.divisor, ("k", "list"))

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the tail's share of each list, shape (m,)."""
        rows = train_rows(self, judged)
        tail = ~short_head(rows, self.head, self.boundary)
        if self.untrained == "neither":
            tail &= rows > 0
        return mean_over_list(tail, judged, k, self.divisor)


@dataclass(frozen=True)
class TailPercentage(UserMetric):
    r"""Share of the list among the least popular items.

    .. math:: \frac{|L_k \cap T|}{k}

    Parameters
    ----------
    tail : float, default 0.1
        Share of the items with training interactions that is the tail; their number is rounded down, but
        at least one.
    divisor : {"k", "list"}, default "k"
        What the number of tail items is divided by.

    Raises
    ------
    ConfigError
        If a parameter is out of range or unknown.

    Notes
    -----
    Range [0, 1]; higher is better: less popularity bias. Equal counts: lower item codes are in the tail
    first, so the value depends on the ids. Items without training interactions are never in the tail.

    RecBole 1.2.1 TailPercentage: defaults.

    References
    ----------
    .. [1] W. X. Zhao et al., "RecBole 2.0: towards a more up-to-date recommendation library", CIKM 2022.

    Examples
    --------
    Of the items 0, 1, 2 the least popular third is item 2:

    >>> from recgauge.metrics.beyond.examples import beyond_example
    >>> TailPercentage(tail=0.34).per_user(beyond_example(), 2)
    array([0.5, 0. ])
    """

    name: ClassVar[str] = "tail_percentage"
    label: ClassVar[str] = "TailPercentage"
    needs_relevant: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"train"})

    tail: float = 0.1
    divisor: str = "k"

    def __post_init__(self) -> None:
        check_real("TailPercentage: tail", self.tail, low=0, high=1, low_open=True)
        check_choice("TailPercentage: divisor", self.divisor, ("k", "list"))

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the tail's share of each list, shape (m,)."""
        return mean_over_list(least_popular(train_rows(self, judged), self.tail), judged, k, self.divisor)
