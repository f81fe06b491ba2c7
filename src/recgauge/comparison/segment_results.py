"""What a comparison inside groups returns: means, differences and intervals; numbers only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
"""The group of everybody."""


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One run in one group.

    Parameters
    ----------
    segment : str
        The group; ``all`` is everybody.
    run : str
    mean : float
        Over the users of the group; of items, over their relevant test rows.
    low, high : float
        Interval of the mean, from the variation between users; NaN where nothing varies, as with one user.
    n_users : int
        Users behind the mean.
    n_rows : int
        What is averaged: users, or relevant test rows.
    """

    segment: str
    run: str
    mean: float
    low: float
    high: float
    n_users: int
    n_rows: int


@dataclass(frozen=True, slots=True)
class SegmentPair:
    """Two runs in one group, compared user by user; the difference is ``a - b``.

    Parameters
    ----------
    segment, a, b : str
        `b` is the baseline.
    difference, low, high : float
        Mean difference and its interval, not corrected.
    p_adjusted : float
        Two-sided p of a t-test over users, after Holm's correction over all groups and pairs.
    differs : bool
        ``p_adjusted <= 1 - confidence``.
    better, equal, worse : float
        Shares of the users for whom `a` is better than, equal to, worse than `b`.
    n_users : int
    """

    segment: str
    a: str
    b: str
    difference: float
    low: float
    high: float
    p_adjusted: float
    differs: bool
    better: float
    equal: float
    worse: float
    n_users: int


@dataclass(frozen=True, slots=True)
class Segments:
    """Runs compared by one metric inside the groups of one attribute.

    Parameters
    ----------
    by : str
        The attribute, such as ``activity``.
    metric : str
    rows : tuple of SegmentRow
        By group, ``all`` first, then by run.
    pairs : tuple of SegmentPair
        Every run against the baseline, by group.
    uneven : dict of str to float
        Run to the p-value that its difference from the baseline is the same in all groups (Alexander and
        Govern's test, Holm-corrected over runs); empty for groups of items, whose users are not distinct.
    confidence : float
    higher_is_better : bool
    n_without : int
        Users, or items, without a group.
    """

    by: str
    metric: str
    rows: tuple[SegmentRow, ...]
    pairs: tuple[SegmentPair, ...]
    uneven: Mapping[str, float]
    confidence: float
    higher_is_better: bool = True
    n_without: int = 0

    @property
    def segments(self) -> tuple[str, ...]:
        """The groups in their order, ``all`` first."""
        return tuple(dict.fromkeys(row.segment for row in self.rows))

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs, the baseline first."""
        return tuple(dict.fromkeys(row.run for row in self.rows))

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per group and run, with its difference from the baseline, not rounded."""
        import pandas as pd

        from recgauge.report.segment_tables import segment_rows

        return pd.DataFrame(segment_rows(self))

    def to_markdown(self) -> str:
        """Return the table in Markdown, with a sentence on who gains and who loses."""
        from recgauge.report.segment_tables import markdown

        return markdown(self)

    def _repr_html_(self) -> str:
        from recgauge.report.html_tables import html_table
        from recgauge.report.segment_tables import cells, claims, explanation, header

        return html_table(cells(self), header(self), [*claims(self), explanation(self)])
