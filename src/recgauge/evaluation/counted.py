"""Who counts in an evaluation under which policies, found once for all metrics."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.errors import MetricError
from recgauge.judging.judge import JudgedTopK
from recgauge.judging.policies import Policies
from recgauge.metrics import Metric, UserMetric
from recgauge.utils.checks import BoolArray, DoubleArray, shown


class Counted:
    """Who counts under which policies, found once for all metrics."""

    def __init__(self, judged: JudgedTopK, ids: npt.NDArray[Any]) -> None:
        self.judged = judged
        self.ids = ids
        self.without_relevant = judged.n_relevant == 0
        self.none_relevant = judged.none_relevant & self.without_relevant
        self.listless = judged.list_length == 0
        self._of_tied: JudgedTopK | None = None

    def values(self, metric: UserMetric, k: int | None) -> DoubleArray:
        """Return one value a user (m,), expected ones where equal scores are to be in a random order."""
        values, tied = metric.per_user(self.judged, k), self.judged.tied
        if tied is None or not len(tied.rows):
            return values
        if self._of_tied is None:
            self._of_tied = self.judged.take(tied.rows)
        values = values.copy()
        values[tied.rows] = metric.expected(self._of_tied, tied, k)
        return values

    def left_out(self, metric: Metric, policies: Policies) -> BoolArray | None:
        """Return who has no value (m,), None for nobody."""
        if not metric.needs_relevant:
            # such a metric says itself what an empty list is worth: 0 for coverage, no value for a mean
            out = self.without_relevant
            return out if policies.lists_of == "relevant" and out.any() else None
        left_out = np.zeros(len(self.ids), bool)
        for who, policy, lack in self._lacking(policies):
            if policy == "raise" and who.any():
                raise MetricError(
                    f"{metric.label} refuses user {shown(self.ids[who][0])}, one of {int(who.sum())} without "
                    f"{lack}; leave such users out or choose another policy."
                )
            if policy in ("skip", "nan"):
                left_out |= who
        return left_out if left_out.any() else None

    def _lacking(self, policies: Policies) -> Iterator[tuple[BoolArray, str, str]]:
        """Yield who lacks something (m,), what their policy is, and what they lack; nobody comes twice."""
        judged = self.none_relevant & (policies.no_positive_grade != "same")
        without = self.without_relevant & ~judged
        yield without, policies.no_relevant, "relevant items"
        yield judged, policies.no_positive_grade, "relevant items"
        yield self.listless & ~without, policies.no_list, "a list"

    def counts(self, policies: Policies, n_more: int) -> dict[str, int]:
        """Count users; `n_more` users without relevant items are not among the judged."""
        out = np.zeros(len(self.ids), bool)
        for who, policy, _ in self._lacking(policies):
            if policy in ("skip", "nan"):
                out |= who
        return {
            "users_evaluated": int((~out).sum()),
            "users_evaluated_without_relevant_items": int((self.without_relevant & ~out).sum()),
            "users_left_out": int(out.sum()) + n_more,
            "users_without_relevant_items": int(self.without_relevant.sum()) + n_more,
            "users_without_list": int(self.listless.sum()),
        }

    def refuse_undefined(self, metric: UserMetric, per_user: DoubleArray, left_out: BoolArray | None) -> None:
        """Raise where a definition refuses users without a value and one of those who count has none."""
        if not metric.refuses_undefined:
            return
        undefined = np.isnan(per_user) if left_out is None else np.isnan(per_user) & ~left_out
        if undefined.any():
            raise MetricError(
                f"{metric.definition()} refuses user {shown(self.ids[undefined][0])}, one of "
                f"{int(undefined.sum())} without a value. Choose a definition that gives one."
            )
