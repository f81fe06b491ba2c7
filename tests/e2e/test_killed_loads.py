"""A run killed in the middle of a download or while it keeps what it read: the next run succeeds."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from conftest import REPOSITORY
from unit.datasets.faulty_server import FaultyServer, trickle

pytestmark = pytest.mark.e2e

RUN = ("tracking=off", "model=popularity", "cutoffs=[5]")
SLOW_DISK = """
import os, time
sync = os.fsync
os.fsync = lambda descriptor: (time.sleep(1), sync(descriptor))
"""


def kill_when(condition, workplace, *arguments, **environment):
    """Start a run and kill it as soon as the condition holds."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("RECGAUGE_", "MLFLOW_"))}
    command = [sys.executable, str(REPOSITORY / "run.py"), *RUN, *arguments]
    with subprocess.Popen(
        command, cwd=workplace.folder, env=inherited | environment, stderr=subprocess.PIPE
    ) as job:
        end = time.monotonic() + 120
        while not condition() and job.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        in_time = condition() and job.poll() is None
        job.kill()
        assert in_time, job.communicate()[1]


def test_a_run_killed_while_it_keeps_what_it_read(workplace):
    rng = np.random.default_rng(5)
    pairs = rng.permutation(400 * 300)[:90_000]
    lines = (f"{pair // 300},{pair % 300},{1 + pair % 5},{900_000_000 + pair}" for pair in pairs)
    path = workplace.folder / "ratings.csv"
    path.write_text("\n".join(["user,item,rating,time", *lines]))
    assert path.stat().st_size > 1 << 20
    (workplace.folder / "site").mkdir()
    (workplace.folder / "site" / "sitecustomize.py").write_text(SLOW_DISK)
    cache = workplace.folder / "cache"
    table = ("dataset=table", f"dataset.path={path}", "split=random_per_user")
    kill_when(
        lambda: list(cache.glob("prepared/.*.tmp")),
        workplace,
        *table,
        RECGAUGE_CACHE=str(cache),
        PYTHONPATH=os.pathsep.join([str(workplace.folder / "site"), os.environ.get("PYTHONPATH", "")]),
    )
    assert not list(cache.glob("prepared/*.npz"))
    first, second = (workplace.run(*RUN, *table, RECGAUGE_CACHE=str(cache)) for _ in range(2))
    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert len(list(cache.glob("prepared/*.npz"))) == 1
    assert not list(cache.glob("prepared/.*.tmp"))
    results = [line for line in first.out.splitlines() if "ndcg" in line.lower()]
    assert results == [line for line in second.out.splitlines() if "ndcg" in line.lower()] != []


@pytest.mark.data
def test_a_run_killed_while_it_downloads(workplace, mirror):
    content = (Path(mirror) / "ml-latest-small.zip").read_bytes()
    cache = workplace.folder / "cache"
    server = FaultyServer()
    server.files["/ml-latest-small.zip"] = content
    server.faults += [trickle(20_000, 0.05)]
    places = {"RECGAUGE_MIRROR": server.address, "RECGAUGE_CACHE": str(cache)}
    try:
        kill_when(
            lambda: sum(part.stat().st_size for part in cache.glob(".*.part")) > 100_000,
            workplace,
            "dataset=ml_latest_small",
            **places,
        )
        assert not (cache / "ml-latest-small.zip").exists()
        done = workplace.run(*RUN, "dataset=ml_latest_small", **places)
    finally:
        server.stop()
    assert done.code == 0, done.err
    assert (cache / "ml-latest-small.zip").read_bytes() == content
    assert server.requests[-1][1].startswith("bytes=")  # what had come was not fetched again
