"""Comparing runs user by user: intervals, all pairs, correction; seconds and peak memory.

    python benchmarks/comparison.py [--quick]

Values like nDCG's, most of them zero. Each size has a process of its own, whose peak of memory is reported.
scipy's BCa interval of a single run's mean is timed beside them: it is one of the n_runs x n_metrics means
and n_pairs x n_metrics differences that a comparison has. Its jackknife grows with the square of the users,
so it is left out for the largest size.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from _measure import save

N_RESAMPLES = 10_000
LARGEST_OF_SCIPY = 10_000
SIZES = ((943, 10, 6), (6_040, 10, 6), (138_493, 10, 6))


def draw(n_users, n_runs, n_metrics, seed=5):
    """Per-user values (n_metrics, n_runs, n_users); about half of a run's are zero."""
    rng = np.random.default_rng(seed)
    taste = rng.random((n_metrics, 1, n_users), dtype=np.float32)
    own = rng.random((n_metrics, n_runs, n_users), dtype=np.float32)
    mixed = 0.6 * taste + 0.4 * own + 0.01 * np.arange(n_runs, dtype=np.float32)[:, None]
    return np.where(mixed > 0.5, (mixed - 0.5) ** 2, 0).astype(np.float64)


def compare_once(n_users, n_runs, n_metrics):
    """Time a comparison with default settings, and scipy's interval of one mean."""
    from scipy import stats

    from recgauge.comparison import UserValues, compare_values

    values = draw(n_users, n_runs, n_metrics)
    names = [f"run{i}" for i in range(n_runs)], [f"metric{i}" for i in range(n_metrics)]
    table = UserValues(np.arange(n_users), *map(tuple, names), values, (True,) * n_metrics)
    wall, cpu = time.perf_counter(), time.process_time()
    result = compare_values([table])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row = {
        "users": n_users,
        "runs": n_runs,
        "metrics": n_metrics,
        "pairs": len(result.results[0].pairs) * n_metrics,
        "resamples": N_RESAMPLES,
        "s": wall,
        "cpu s": cpu,
        "peak MiB": round(peak),
    }
    if n_users > LARGEST_OF_SCIPY:
        return row
    begun = time.process_time()
    theirs = stats.bootstrap((values[0, 0],), np.mean, n_resamples=N_RESAMPLES, batch=50, rng=0)
    scipy_cpu = time.process_time() - begun
    ours, interval = result.results[0].row("run0"), theirs.confidence_interval
    apart = max(abs(ours.low - interval.low), abs(ours.high - interval.high))
    return row | {
        "scipy cpu s, one mean": scipy_cpu,
        "ends differ by, of width": apart / (interval.high - interval.low),
    }


def measure(sizes):
    """Yield a row per size."""
    for size in sizes:
        one = [sys.executable, __file__, "--one", *map(str, size)]
        ran = subprocess.run(one, check=True, capture_output=True, text=True)
        yield json.loads(ran.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the largest size")
    parser.add_argument("--one", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(compare_once(*options.one)))
    else:
        save("comparison", measure(SIZES[:2] if options.quick else SIZES), options.quick)
