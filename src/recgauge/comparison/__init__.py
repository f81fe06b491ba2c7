"""Is one run better than another, by how much, and how sure is that: from per-user values to claims.

Start with `compare`, or, with arrays at hand, with `UserValues` and `compare_values`.
"""

from typing import TYPE_CHECKING

from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.comparison.comparing import compare as compare
    from recgauge.comparison.comparing import compare_values as compare_values
    from recgauge.comparison.groups import activity as activity
    from recgauge.comparison.groups import cut_groups as cut_groups
    from recgauge.comparison.groups import days_in_data as days_in_data
    from recgauge.comparison.groups import extreme_users as extreme_users
    from recgauge.comparison.groups import held_popularity as held_popularity
    from recgauge.comparison.groups import item_counts as item_counts
    from recgauge.comparison.groups import taste as taste
    from recgauge.comparison.inputs import RunValues as RunValues
    from recgauge.comparison.inputs import read_run as read_run
    from recgauge.comparison.long_table import DatasetMeans as DatasetMeans
    from recgauge.comparison.long_table import read_long as read_long
    from recgauge.comparison.one_metric import Resamples as Resamples
    from recgauge.comparison.orders import AxisOrders as AxisOrders
    from recgauge.comparison.orders import Stability as Stability
    from recgauge.comparison.orders import Turn as Turn
    from recgauge.comparison.over_datasets import DatasetsResult as DatasetsResult
    from recgauge.comparison.over_datasets import compare_datasets as compare_datasets
    from recgauge.comparison.procedure import Procedure as Procedure
    from recgauge.comparison.ranks import bayesian_signed_rank as bayesian_signed_rank
    from recgauge.comparison.ranks import performance_profiles as performance_profiles
    from recgauge.comparison.resampling import Rounded as Rounded
    from recgauge.comparison.results import Comparison as Comparison
    from recgauge.comparison.results import MetricComparison as MetricComparison
    from recgauge.comparison.results import Pair as Pair
    from recgauge.comparison.results import Repeats as Repeats
    from recgauge.comparison.results import RunRow as RunRow
    from recgauge.comparison.segment_results import SegmentPair as SegmentPair
    from recgauge.comparison.segment_results import SegmentRow as SegmentRow
    from recgauge.comparison.segment_results import Segments as Segments
    from recgauge.comparison.segments import compare_item_groups as compare_item_groups
    from recgauge.comparison.segments import compare_segments as compare_segments
    from recgauge.comparison.stability import compare_orders as compare_orders
    from recgauge.comparison.user_values import UserValues as UserValues
else:
    __getattr__, __dir__ = lazy_names(__name__)
