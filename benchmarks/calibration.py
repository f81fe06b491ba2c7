"""How often intervals and tests of comparisons are wrong, on real per-user values where the truth is known.

    RECGAUGE_MIRROR=FOLDER python benchmarks/calibration.py [--quick]

The population is MovieLens 1M's users with their nDCG@10 under ten models. Samples are drawn from it with
replacement, so that the true means are known. For a null in which all runs are equally good, every run's mean
is subtracted from its values (skewed differences stay skewed), or each user's ten values are permuted
(differences become symmetric). Samples share their resampling weights, which costs a little independence and
saves hours.
"""

import argparse
import os

import numpy as np
from _measure import save

from recgauge import SVD, MovieLens, Popularity, Random, RandomRows, Relevant, evaluate, recommend, stream
from recgauge.comparison import Procedure, Rounded, UserValues, compare_values
from recgauge.comparison.resampling import bootstrap_interval, bootstrap_means, normal_interval
from recgauge.comparison.tests_of_pairs import holm

TESTS = ("t", "permutation", "bootstrap", "wilcoxon", "sign")
ALPHA = 0.05


def population():
    """Per-user nDCG@10 (10, n_users) of ten models on one split of MovieLens 1M."""
    data = MovieLens("ml_1m", mirror=os.environ["RECGAUGE_MIRROR"]).load()
    split = RandomRows(test_size=0.2).split(data.interactions, rng=stream(0, "split"))
    relevant = Relevant.from_interactions(split.test, relevant_from=4)
    models = [Random(), Popularity(), *(SVD(n_factors=n) for n in (2, 4, 8, 16, 24, 32, 48, 64))]
    values = []
    for model in models:
        fitted = model.fit(split.train, rng=stream(0, "fit"))
        lists = recommend(fitted, relevant.users, k=10, excluded=split.train.to_csr())
        values.append(evaluate(lists, relevant, metrics=("ndcg",), cutoffs=(10,)).per_user("ndcg_at_10"))
    return np.array(values)


def coverage(values, n, n_samples, rng):
    """Share of samples of n users whose 95 % intervals hold the population's mean, by method."""
    samples = values[rng.integers(0, len(values), (n_samples, n))]
    means = bootstrap_means(Rounded.of(samples[None]), 10_000, seed=1)[:, 0]
    truth, held = values.mean(), {"normal": 0, "percentile": 0, "bca": 0}
    for i, sample in enumerate(samples):
        ends = {
            method: bootstrap_interval(means[:, i], sample, 0.95, method) for method in ("percentile", "bca")
        }
        ends["normal"] = normal_interval(sample, 0.95)
        for method, (low, high) in ends.items():
            held[method] += low <= truth <= high
    return {method: n_held / n_samples for method, n_held in held.items()}


def null_samples(values, kind, n, n_samples, rng):
    """Draw samples (n_samples, n_runs, n) from a population in which all runs are equally good."""
    if kind == "centred":
        values = values - values.mean(axis=1, keepdims=True)
        return np.moveaxis(values[:, rng.integers(0, values.shape[1], (n_samples, n))], 1, 0)
    drawn = np.moveaxis(values[:, rng.integers(0, values.shape[1], (n_samples, n))], 1, 0)
    return rng.permuted(drawn, axis=1)


def false_findings(values, kind, n, n_samples, rng, block=50):
    """Share of tests, and of families of all pairs, with a false finding."""
    alone, families = dict.fromkeys(TESTS, 0.0), dict.fromkeys([*TESTS, "max_t"], 0)
    for begin in range(0, n_samples, block):
        size = min(block, n_samples - begin)
        samples = null_samples(values, kind, n, size, rng)
        table = UserValues(
            np.arange(n),
            tuple(f"run{i}" for i in range(len(values))),
            tuple(f"sample{i}" for i in range(size)),
            samples,
            (True,) * size,
        )
        settings = Procedure(tests=TESTS, interval="normal", n_resamples=2000, seed=begin)
        for result in compare_values([table], settings).results:
            families["max_t"] += any(pair.differs for pair in result.pairs)
            for test in TESTS:
                p = np.array([pair.p[test] for pair in result.pairs])
                alone[test] += float((p <= ALPHA).mean())
                families[test] += bool((holm(p) <= ALPHA).any())
    return {
        **{f"{test}, one pair": alone[test] / n_samples for test in TESTS},
        **{f"{test}, Holm" if test != "max_t" else test: n / n_samples for test, n in families.items()},
    }


def all_coverage(values, n_samples):
    """Yield rows for a mean and for a difference."""
    rng = np.random.default_rng(11)
    for n in (50, 200, 1000):
        for name, run in (("popularity", values[1]), ("svd - popularity", values[7] - values[1])):
            shares = coverage(run, n, n_samples, rng)
            yield {"mean of": name, "users": n, "samples": n_samples, **shares}


def all_false_findings(values, n_samples):
    """Yield rows for both ways to make runs equally good."""
    rng = np.random.default_rng(12)
    for n in (200, 2000):
        for kind in ("centred", "permuted"):
            rates = false_findings(values, kind, n, n_samples, rng)
            yield {"values": kind, "users": n, "samples": n_samples, **rates}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    options = parser.parse_args()
    found = population()
    save("coverage", all_coverage(found, 200 if options.quick else 4000), options.quick)
    save("false-findings", all_false_findings(found, 40 if options.quick else 400), options.quick)
