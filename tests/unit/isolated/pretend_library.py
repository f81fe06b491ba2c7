"""Stands in for a library's worker: scores are random small numbers, and settings ask for trouble."""

import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3] / "src/recgauge/isolated/workers"))
import serving


def fit(job):
    print("the library says hello")  # noqa: T201 - as libraries do
    if job.name != "Dot":
        raise serving.SettingsError(f"name: it has Dot; got {job.name!r}")
    trouble = job.settings.get("trouble", "")
    if trouble in AT_ONCE:
        AT_ONCE[trouble]()
    table = np.random.default_rng(job.seed).integers(0, 5, (job.n_users, job.n_items)).astype(np.float64)
    # users and items with rows alone have scores
    table[np.setdiff1d(np.arange(job.n_users), job.user)] = np.nan
    table[:, np.setdiff1d(np.arange(job.n_items), job.item)] = np.nan
    if "table" in job.settings:
        np.save(job.settings["table"], table)

    def score(users, _n):
        if trouble == "die in lists":
            os._exit(4)
        return np.full((len(users), job.n_items), np.inf) if trouble == "infinite" else table[users]

    return score


def die():
    print("something terrible", file=sys.stderr, flush=True)  # noqa: T201 - as libraries do
    os._exit(3)


def fail():
    raise ValueError("no such luck")


AT_ONCE = {"die in fit": die, "hang": lambda: time.sleep(600), "raise": fail}

if __name__ == "__main__":
    serving.serve(fit, "pandas")
