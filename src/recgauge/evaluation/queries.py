"""Several queries of one user: their values brought together, so that users stay what is drawn."""

from dataclasses import replace

import numpy as np

from recgauge.data.ids import IdArray
from recgauge.data.sequences import Average
from recgauge.evaluation import Evaluation, MetricResult, mean_and_stderr
from recgauge.metrics.rating import Pooled
from recgauge.utils.checks import IntArray, LongArray, read_only


def of_users(
    evaluation: Evaluation, query_of: IntArray, user_ids: IdArray, average: Average, n_users: int
) -> Evaluation:
    """Return an evaluation of queries as one of their users.

    Parameters
    ----------
    evaluation : Evaluation
        Whose `users` are queries.
    query_of : ndarray of int32, shape (m,)
        The user code of each of them.
    user_ids : ndarray
        Ids of all user codes.
    average : {"query", "user"}
        ``query``: numbers are means over queries, with the standard error of a ratio of sums over users
        [1]_; what each user adds to them is in `MetricResult.pooled`. ``user``: means over users of their
        queries' mean. Users' own values are that mean either way. A number that is no mean stays as it is.
    n_users : int
        Users with a query, evaluated or not.

    References
    ----------
    .. [1] W. G. Cochran, "Sampling Techniques", 1977, section 2.11 (ratio estimator).

    Examples
    --------
    >>> values = np.array([1.0, 0.0, 0.0])
    >>> entry = MetricResult("hit_rate_at_1", "hit_rate", 1, 1 / 3, None, values, "HitRate()@1", True, 3)
    >>> queries = Evaluation(np.array(["a#2", "b#2", "b#3"]), (entry,), {"users_evaluated": 3})
    >>> owner, ids = np.array([0, 1, 1], np.int32), np.array(["a", "b"])
    >>> for average in ("query", "user"):
    ...     (result,) = of_users(queries, owner, ids, average, 2).results
    ...     print(round(result.value, 4), round(result.stderr, 4), result.per_user.tolist())
    0.3333 0.4444 [1.0, 0.0]
    0.5 0.5 [1.0, 0.0]
    """
    codes, owner = np.unique(query_of, return_inverse=True)
    results = tuple(_result(entry, owner, len(codes), average) for entry in evaluation.results)
    counts = {name.replace("users_", "queries_"): n for name, n in evaluation.counts.items()}
    counts |= {"users_evaluated": len(codes), "users_left_out": n_users - len(codes)}
    counts["users_without_relevant_items"] = counts["users_left_out"]
    return replace(evaluation, users=user_ids[codes], results=results, counts=counts)


def _result(entry: MetricResult, owner: LongArray, n_users: int, average: Average) -> MetricResult:
    """Return the result of queries as one of their users; `owner` (m,) counts users from 0."""
    if entry.per_user is None:
        return entry
    has_value = ~np.isnan(entry.per_user)
    counts = np.bincount(owner[has_value], minlength=n_users).astype(np.float64)
    sums = np.bincount(owner[has_value], entry.per_user[has_value], n_users).astype(np.float64)
    parts = Pooled(sums, counts)
    means, n_valued = parts.per_user(), int((counts > 0).sum())
    over = "queries" if average == "query" else "users of the mean of their queries"
    text = f"{entry.definition} (mean over {over})"
    if average == "user":
        value, stderr = mean_and_stderr(means[counts > 0])
        return replace(
            entry, value=value, stderr=stderr, per_user=read_only(means), definition=text, n_users=n_valued
        )
    has_gaps = (counts > 0) & (counts < np.bincount(owner, minlength=n_users))
    if has_gaps.any():  # users' shares would need own counts
        return replace(entry, stderr=None, per_user=None, definition=text)
    residuals = sums - entry.value * counts
    stderr = None
    if n_valued > 1:
        stderr = float(np.sqrt(n_valued / (n_valued - 1) * (residuals @ residuals)) / counts.sum())
    return replace(
        entry, stderr=stderr, per_user=read_only(means), definition=text, n_users=n_valued, pooled=parts
    )
