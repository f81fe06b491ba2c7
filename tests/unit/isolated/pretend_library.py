"""Stands in for a library's worker: scores are random small numbers, and settings ask for trouble."""

import os
import sys
import time
from pathlib import Path

import numpy as np

try:
    from workers import serving
except ImportError:  # when tests are collected
    from recgauge.isolated.workers import serving


def main():
    serving.serve(fit)


def fit(job):
    print("the library says hello")  # noqa: T201 - as libraries do
    if job.name != "Dot":
        raise serving.SettingsError(f"name: it has Dot; got {job.name!r}")
    trouble = job.settings.get("trouble", "")
    if trouble in AT_ONCE:
        AT_ONCE[trouble]()
    job.tell(1, 1)
    table = np.random.default_rng(job.seed).integers(0, 5, (job.n_users, job.n_items)).astype(np.float64)
    # known users and items alone have scores, as in the real libraries
    table[np.setdiff1d(np.arange(job.n_users), job.user)] = np.nan
    table[:, np.setdiff1d(np.arange(job.n_items), job.item)] = np.nan
    if "table" in job.settings:
        np.save(job.settings["table"], table)

    def score(users):
        if trouble == "die in lists":
            os._exit(4)
        if trouble == "infinite":
            return np.full((len(users), job.n_items), np.inf)
        return table[users]

    if trouble in WRONG:
        serving._write_lists = WRONG[trouble]
    return serving.from_scores(score, job.n_items), 0.125


def die():
    print("something terrible", file=sys.stderr, flush=True)  # noqa: T201 - as libraries do
    os._exit(3)


def fail():
    raise ValueError("no such luck")


AT_ONCE = {"die in fit": die, "hang": lambda: time.sleep(600), "raise": fail}


def wrong(change):
    """Return a writer of lists that changes what the right one wrote."""

    def write(answer, asked, lists, k, n_items, right=serving._write_lists):
        right(answer, asked, lists, k, n_items)
        with np.load(lists) as made:
            arrays = dict(made)
        change(arrays)
        np.savez(lists, **arrays)

    return write


def nan(arrays):
    arrays["scores"][0, 0] = np.nan


def unknown(arrays):
    arrays["items"][0, 0] = 10_000


def twice(arrays):
    arrays["items"][1, 1] = arrays["items"][1, 0]


def rise(arrays):
    arrays["scores"][1, 1] = 100.0


def gap(arrays):
    arrays["items"][0, 0] = -1


def narrow(arrays):
    arrays["items"] = arrays["items"][:, :1]


def seen(arrays):
    arrays["items"][0, 0] = 0  # the first user has the first item


def half(answer, asked, lists, k, n_items, right=serving._write_lists):
    right(answer, asked, lists, k, n_items)
    content = Path(lists).read_bytes()
    Path(lists).write_bytes(content[: len(content) // 2])


WRONG = {
    **{change.__name__: wrong(change) for change in (nan, unknown, twice, rise, gap, narrow, seen)},
    "half": half,
}
