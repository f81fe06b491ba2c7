"""Which users' lists a run's metrics stand on: those of the evaluated users, or of all test users."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from recgauge.conventions import Definition
from recgauge.data.top_k import TopK
from recgauge.evaluation.results import Evaluation, merge
from recgauge.utils.checks import IntArray


def needs_all_users(metrics: Mapping[str, Definition]) -> bool:
    """Return whether a metric needs the lists of all users of the test part."""
    return any(definition.metric.needs_all_users for definition in metrics.values())


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """Evaluates the lists of the users who count, and more lists for metrics that need all users.

    Parameters
    ----------
    evaluate : callable
        :func:`recgauge.evaluation.evaluate.evaluate_top_k` with all but metrics, lists and users.
    users : ndarray of int32, shape (m,)
        Rising codes of the users who count.
    only_relevant : bool
        Whether only users with relevant items count, as ``Policies(no_relevant="skip")`` has it.
    """

    evaluate: Callable[..., Evaluation]
    users: IntArray
    only_relevant: bool

    def __call__(self, metrics: Mapping[str, Definition], lists: TopK) -> Evaluation:
        """Return the values of all metrics; those of lists of more users have no per-user values.

        Parameters
        ----------
        metrics : mapping of str to Definition
        lists : TopK
            Of the users who count and perhaps of others, rising codes.
        """
        counted = self.evaluate(
            metrics, lists.of(self.users), users=None if self.only_relevant else self.users
        )
        if len(lists.users) == len(self.users) or not needs_all_users(metrics):
            return counted
        on_all = {name: chosen for name, chosen in metrics.items() if chosen.metric.needs_all_users}
        results = self.evaluate(on_all, lists, users=lists.users).results
        wide = replace(counted, results=tuple(replace(result, per_user=None) for result in results))
        return merge([counted, wide], [result.key for result in counted.results])
