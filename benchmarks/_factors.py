"""Factors to measure with: a seeded set of MovieLens' shape and popularity, and real sets where at hand.

The generator's popularity has the real set's largest count, median and total (a test of the same curve on
ML-1M's real counts: benchmarks/README.md), so that how much the engine may skip is not decided by a toy's
head.
"""

import io
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy import sparse

SHAPES = {  # users, items, interactions, largest and median count of an item
    "ml-1m": (6_040, 3_706, 1_000_209, 3_428, 123),
    "ml-20m": (138_493, 26_744, 20_000_263, 67_310, 18),
}
SEED = 20240501


def popularity(n_items, total, largest, median):
    """Draw counts by rank: logarithms fall by a power of the rank to the median, then straight to 1."""
    rank = (np.arange(n_items) + 0.5) / n_items
    low, high = 0.05, 4.0
    for _ in range(60):
        power = (low + high) / 2
        upper = np.log(largest) - (np.log(largest) - np.log(median)) * np.minimum(2 * rank, 1) ** power
        counts = np.exp(np.where(rank < 0.5, upper, np.log(median) * (2 - 2 * rank)))
        low, high = (power, high) if counts.sum() < total else (low, power)
    return counts


def activity(rng, n_users, total):
    """Interactions of each user: at least 20, log-normal above."""
    spread = np.exp(rng.normal(0, 1.15, n_users))
    return (20 + spread * (total - 20 * n_users) / spread.sum()).astype(np.int64)


def race_rates(counts, n_u, n_users):
    """Find rates of an exponential race that puts items among a user's first as often as ``counts`` says."""
    sample = np.quantile(n_u, (np.arange(48) + 0.5) / 48)
    share = np.minimum(counts / n_users, 0.95)
    rates = -np.log1p(-share)
    for _ in range(30):
        times = np.array([_stopping_time(rates, n) for n in sample])
        reached = -np.expm1(-np.outer(times, rates)).mean(axis=0)
        rates *= np.log1p(-share) / np.log1p(-reached)
    return rates


def _stopping_time(rates, n):
    low, high = 0.0, 1e4
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if -np.expm1(-middle * rates).sum() > n else (middle, high)
    return high


def generate(name, n_users=None, tastes=12, strength=1.0, *, exact=False):
    """Interactions, CSR of ones: popularity as calibrated, and tastes that a factor model can find.

    With `exact`, as many as the real set has; the first users get one more each.
    """
    shape_users, n_items, total, largest, median = SHAPES[name]
    rng = np.random.default_rng(SEED)
    n_u = np.minimum(activity(rng, shape_users, total), n_items // 3)
    if exact:
        n_u[: total - n_u.sum()] += 1
    rates = race_rates(popularity(n_items, total, largest, median), n_u, shape_users)
    log_rates = rng.permutation(np.log(rates)).astype(np.float32)
    spectrum = 0.75 ** np.arange(tastes)
    spectrum *= strength / np.sqrt((spectrum**2).sum())
    user = rng.standard_normal((shape_users, tastes), dtype=np.float32)
    item = (rng.standard_normal((n_items, tastes)) * spectrum).astype(np.float32)
    log_rates -= (item**2).sum(axis=1) / 2  # tastes move who takes an item, not how many do
    n_u, user = n_u[:n_users], user[:n_users]
    rows = [None] * len(n_u)

    def block(first):
        own = np.random.default_rng([SEED, first])
        keys = np.log(
            own.standard_exponential((min(128, len(n_u) - first), n_items), dtype=np.float32) + 1e-30
        )
        keys -= user[first : first + 128] @ item.T + log_rates
        for row, key in enumerate(keys):
            n = n_u[first + row]
            rows[first + row] = np.sort(np.argpartition(key, n - 1)[:n]).astype(np.int32)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(block, range(0, len(n_u), 128)))
    indptr = np.concatenate([[0], np.cumsum(n_u)])
    indices = np.concatenate(rows)
    return sparse.csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(len(n_u), n_items))


def truncated_svd(x, d, n_iter=3):
    """Factors (users, items) of a randomised truncated SVD, singular values on the users' side."""
    rng = np.random.default_rng(1)
    transposed = x.T.tocsr()
    y = x @ rng.standard_normal((x.shape[1], d + 10), dtype=np.float32)
    for _ in range(n_iter):
        z = np.linalg.qr(transposed @ np.linalg.qr(y)[0])[0]
        y = x @ z
    q = np.linalg.qr(y)[0]
    u, s, vt = np.linalg.svd((transposed @ q).T, full_matrices=False)
    user, item = (q @ u)[:, :d] * s[:d], vt[:d].T
    return np.ascontiguousarray(user, np.float32), np.ascontiguousarray(item, np.float32)


def real(name, folder):
    """Training matrix of a real set in a mirror folder, or None where the archive is absent."""
    path = Path(folder) / f"{name}.zip" if folder else None
    if path is None or not path.exists():
        return None
    with zipfile.ZipFile(path) as archive:
        if name == "gowalla":
            lines = archive.read("gowalla/train.txt").decode().splitlines()
            lists = [np.array(line.split()[1:], np.int32) for line in lines]
            user = np.repeat(np.arange(len(lists)), [len(items) for items in lists])
            item = np.concatenate(lists)
            shape = (29_858, 40_981)
        else:
            text = archive.read("ml-1m/ratings.dat").decode().replace("::", ",")
            table = np.loadtxt(io.StringIO(text), delimiter=",", dtype=np.int64, usecols=(0, 1))
            user, item = (np.unique(column, return_inverse=True)[1] for column in table.T)
            kept = np.random.default_rng(7).random(len(user)) < 0.8
            user, item, shape = user[kept], item[kept], (6_040, 3_706)
    rows = sparse.csr_array((np.ones(len(user), np.float32), (user, item)), shape=shape)
    rows.sum_duplicates()
    return rows
