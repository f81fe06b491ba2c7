"""What to make of a rank among sampled negatives: the corrections of Krichene and Rendle (KDD 2020)."""

from collections.abc import Callable, Mapping

import numpy as np

from recgauge.utils.checks import DoubleArray, LongArray

Corrections = Mapping[tuple[str, str], DoubleArray]
"""By metric and correction: what each sampled rank counts, shape (m + 1,)."""
CUTOFF = 10
METRICS: Mapping[str, Callable[[DoubleArray], DoubleArray]] = {
    "ndcg_at_10": lambda rank: np.where(rank <= CUTOFF, 1.0 / np.log2(rank + 1.0), 0.0),
    "recall_at_10": lambda rank: (rank <= CUTOFF).astype(np.float64),
    "ap": lambda rank: 1.0 / rank,
}
"""What the rank of a ranking's only relevant item counts."""
GAMMAS = {"BV 0.1": 0.1, "BV 0.01": 0.01}
CORRECTIONS = ("none", "rank", "CLS", *GAMMAS)


def sampled_rank_chances(n: int, m: int) -> DoubleArray:
    """Return the chance of each rank among `m` sampled negatives, given the rank among all `n` items.

    Parameters
    ----------
    n : int
        Items that are ranked: the relevant one and ``n - 1`` others, of which `m` distinct ones are drawn.
    m : int

    Returns
    -------
    ndarray of float64, shape (n, m + 1)
        Row r - 1: the distribution of the sampled rank of an item of rank r, which is hypergeometric.

    Examples
    --------
    >>> sampled_rank_chances(3, 1)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    from scipy.special import gammaln

    logs = gammaln(np.arange(n) + 1.0)
    above, sampled = np.arange(n)[:, None], np.arange(m + 1)[None, :]
    left, below = above - sampled, n - 1 - above - (m - sampled)
    possible = (left >= 0) & (below >= 0)
    left, below = np.where(possible, left, 0), np.where(possible, below, 0)
    chosen = logs[above] - logs[sampled] - logs[left]
    others = logs[n - 1 - above] - logs[m - sampled] - logs[below]
    every = logs[n - 1] - logs[m] - logs[n - 1 - m]
    chances: DoubleArray = np.where(possible, np.exp(np.where(possible, chosen + others - every, 0.0)), 0.0)
    return chances


def corrections(n: int, m: int) -> dict[tuple[str, str], DoubleArray]:
    """Return what a rank among `m` of `n` - 1 others counts under each metric and correction.

    ``none``: the metric of the sampled rank. ``rank``: the metric of the unbiased estimate of the rank,
    ``1 + (n - 1) (s - 1) / m`` for the sampled rank s. ``CLS``: what has the least squares of the bias, among
    values that are at least 0 and never rise with the rank. ``BV``: what has the least sum of squared bias
    and `gamma` times the variance. Both sums are over the ranks 1 to n, each as likely.

    Returns
    -------
    dict of (str, str) to ndarray, shape (m + 1,)
    """
    from scipy.optimize import nnls

    ranks, sampled = np.arange(1.0, n + 1), np.arange(1.0, m + 2)
    chances = sampled_rank_chances(n, m)
    falls = np.cumsum(chances, axis=1)  # a fall after a sampled rank adds to the value of all ranks before
    exact = np.column_stack([metric(ranks) for metric in METRICS.values()])
    gram, projected, mass = chances.T @ chances, chances.T @ exact, chances.sum(axis=0)
    of_metrics = {
        "none": [metric(sampled) for metric in METRICS.values()],
        "rank": [metric(1.0 + (n - 1) * (sampled - 1.0) / m) for metric in METRICS.values()],
        "CLS": [np.cumsum(nnls(falls, column)[0][::-1])[::-1] for column in exact.T],
    }
    for name, gamma in GAMMAS.items():
        of_metrics[name] = list(np.linalg.solve((1.0 - gamma) * gram + gamma * np.diag(mass), projected).T)
    return {
        (metric, correction): values
        for correction, every in of_metrics.items()
        for metric, values in zip(METRICS, every, strict=True)
    }


def draw(ranks: LongArray, others: LongArray, m: int, rng: np.random.Generator, n_draws: int) -> LongArray:
    """Return ranks among `m` distinct negatives, drawn anew for each item: shape (n_draws, items)."""
    above = rng.hypergeometric(ranks - 1, others - ranks + 1, m, size=(n_draws, len(ranks)))
    sampled: LongArray = above + 1
    return sampled
