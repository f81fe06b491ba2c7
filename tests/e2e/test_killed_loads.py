"""A run killed in the middle of a download or while it keeps what it read: the next run succeeds."""

from pathlib import Path

import numpy as np
import pytest

from e2e.program import wait_until
from unit.datasets.faulty_server import FaultyServer, trickle

pytestmark = pytest.mark.e2e

RUN = ("tracking=off", "model=popularity", "cutoffs=[5]")
SLOW_DISK = """
import numpy, time
save = numpy.save
numpy.save = lambda *given, **more: (time.sleep(1), save(*given, **more))
"""


def kill_when(condition, job):
    wait_until(lambda: condition() or job.poll() is not None)
    in_time = job.poll() is None
    job.kill()
    printed = job.communicate(timeout=60)
    assert in_time, printed


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
    places = {"RECGAUGE_CACHE": str(cache), "PYTHONPATH": str(workplace.folder / "site")}
    job = workplace.start_fresh(*RUN, *table, **places)
    kill_when(lambda: list(cache.glob("prepared/.*.tmp")), job)
    assert not list(cache.glob("prepared/[!.]*/about.npy"))
    first, second = (workplace.run(*RUN, *table, RECGAUGE_CACHE=str(cache)) for _ in range(2))
    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert len(list(cache.glob("prepared/[!.]*/about.npy"))) == 1
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
        job = workplace.start(*RUN, "dataset=ml_latest_small", **places)
        kill_when(lambda: sum(part.stat().st_size for part in cache.glob(".*.part")) > 100_000, job)
        assert not (cache / "ml-latest-small.zip").exists()
        done = workplace.run(*RUN, "dataset=ml_latest_small", **places)
    finally:
        server.stop()
    assert done.code == 0, done.err
    assert (cache / "ml-latest-small.zip").read_bytes() == content
    assert not list(cache.glob(".*.part"))
