"""Is one run better than another, by how much, and how sure is that: from per-user values to claims.

Start with `compare`, or, with arrays at hand, with `UserValues` and `compare_values`. Finished runs
are found by `recgauge.tracking.find_runs` and compared by `compare_runs`, `segment_runs` and `stability_of`.
Results hold data, and show themselves as tables and figures.
"""

from typing import TYPE_CHECKING

from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.comparison.comparing import compare as compare
    from recgauge.comparison.comparing import compare_values as compare_values
    from recgauge.comparison.conditions import Condition as Condition
    from recgauge.comparison.conditions import LoggedRun as LoggedRun
    from recgauge.comparison.groups import activity as activity
    from recgauge.comparison.groups import cut_groups as cut_groups
    from recgauge.comparison.groups import days_in_data as days_in_data
    from recgauge.comparison.groups import held_popularity as held_popularity
    from recgauge.comparison.groups import item_counts as item_counts
    from recgauge.comparison.groups import taste as taste
    from recgauge.comparison.one_metric import PairDifference as PairDifference
    from recgauge.comparison.one_metric import Sums as Sums
    from recgauge.comparison.over_datasets import DatasetsResult as DatasetsResult
    from recgauge.comparison.over_datasets import compare_datasets as compare_datasets
    from recgauge.comparison.part_values import PartValues as PartValues
    from recgauge.comparison.reading import read_long as read_long
    from recgauge.comparison.reading import read_run as read_run
    from recgauge.comparison.resampling import Rounded as Rounded
    from recgauge.comparison.results import Comparison as Comparison
    from recgauge.comparison.results import Cost as Cost
    from recgauge.comparison.results import MetricComparison as MetricComparison
    from recgauge.comparison.results import Pair as Pair
    from recgauge.comparison.results import Procedure as Procedure
    from recgauge.comparison.results import Repeats as Repeats
    from recgauge.comparison.results import RunRow as RunRow
    from recgauge.comparison.run_groups import RunGroup as RunGroup
    from recgauge.comparison.run_groups import group as group
    from recgauge.comparison.run_segments import segment_runs as segment_runs
    from recgauge.comparison.runs import compare_runs as compare_runs
    from recgauge.comparison.segments import SegmentPair as SegmentPair
    from recgauge.comparison.segments import SegmentRow as SegmentRow
    from recgauge.comparison.segments import Segments as Segments
    from recgauge.comparison.segments import compare_item_groups as compare_item_groups
    from recgauge.comparison.segments import compare_segments as compare_segments
    from recgauge.comparison.stability import AxisOrders as AxisOrders
    from recgauge.comparison.stability import Stability as Stability
    from recgauge.comparison.stability_axes import stability_of as stability_of
    from recgauge.comparison.tests_of_pairs import UserSums as UserSums
    from recgauge.comparison.user_tables import UserGroups as UserGroups
    from recgauge.comparison.user_tables import UserTable as UserTable
    from recgauge.comparison.user_values import UserValues as UserValues
    from recgauge.runs.finished import RunValues as RunValues
else:
    __getattr__, __dir__ = lazy_names(__name__)
