"""Is one run better than another, by how much, and how sure is that: from per-user values to claims.

Start with `compare`, or, with arrays at hand, with `UserValues` and `compare_values`.
"""

from typing import TYPE_CHECKING

from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.comparison.comparing import compare as compare
    from recgauge.comparison.comparing import compare_values as compare_values
    from recgauge.comparison.inputs import RunValues as RunValues
    from recgauge.comparison.inputs import read_run as read_run
    from recgauge.comparison.over_datasets import DatasetsResult as DatasetsResult
    from recgauge.comparison.procedure import Procedure as Procedure
    from recgauge.comparison.results import Comparison as Comparison
    from recgauge.comparison.results import MetricComparison as MetricComparison
    from recgauge.comparison.results import Pair as Pair
    from recgauge.comparison.results import Repeats as Repeats
    from recgauge.comparison.results import RunRow as RunRow
    from recgauge.comparison.user_values import UserValues as UserValues
else:
    __getattr__, __dir__ = lazy_names(__name__)
