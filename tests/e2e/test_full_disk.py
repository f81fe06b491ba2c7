"""A full or write-protected disk: one message, no finished result lost, and the next run works.

Each place is a small file system of its own in turn: the output folder, the store, the cache.
"""

import os
import sqlite3
import subprocess
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from e2e.ratings_file import write_ratings

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
PLACES = ("outputs", "store", "cache")


@dataclass
class SmallDisk:
    """A file system in memory that a test can fill or protect."""

    folder: Path

    @contextmanager
    def full(self, left: int):
        ballast = self.folder / "ballast"
        free = os.statvfs(self.folder)
        with ballast.open("wb") as file:
            file.write(b"\0" * (free.f_bavail * free.f_frsize - left))
        yield
        ballast.unlink()

    @contextmanager
    def protected(self):
        self._remount("ro")
        yield
        self._remount("rw")

    def _remount(self, how):
        subprocess.run(["mount", "-o", f"remount,{how}", str(self.folder)], check=True)


@pytest.fixture
def disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield SmallDisk(folder)
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def words(place, disk, tmp_path, number):
    """Return the arguments of a run that has one place on the small disk; the number makes it a new run."""
    where = {name: tmp_path / name for name in PLACES} | {place: disk.folder / place}
    for folder in where.values():
        folder.mkdir(exist_ok=True)
    return (
        "model=popularity",
        f"cutoffs=[5,{10 + number}]",
        "dataset=table",
        f"dataset.path={tmp_path / 'ratings.csv'}",
        "split=random_per_user",
        f"hydra.run.dir={where['outputs'] / str(number)}",
        f"tracking.uri=sqlite:///{where['store'] / 'mlflow.db'}",
        f"data.cache={where['cache']}",
        "reuse=true",
    ), where


def finished(where):
    store = where["store"] / "mlflow.db"
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as opened:
        return {run for (run,) in opened.execute("SELECT run_uuid FROM runs WHERE status = 'FINISHED'")}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("harm", ["full at once", "full later", "protected"])
def test_a_place_that_takes_nothing_more(workplace, disk, tmp_path, place, harm):
    write_ratings(tmp_path / "ratings.csv")
    first, where = words(place, disk, tmp_path, 0)
    workplace.succeed(*first)
    before = finished(where)
    if place == "cache":  # what is kept there is found again, unless it is gone
        for path in (where["cache"] / "prepared").rglob("*.arrays"):
            path.unlink()
    broken = (
        disk.protected() if harm == "protected" else disk.full(left=0 if harm == "full at once" else 8_000)
    )
    with broken:
        harmed = workplace.run(*words(place, disk, tmp_path, 1)[0])
    assert "Traceback" not in harmed.err, harmed.err
    assert "bug of recgauge" not in harmed.err
    if place == "cache":  # a cache is a convenience: the run has its numbers, and says what it could not keep
        assert harmed.code == 0, harmed.err
    else:
        assert harmed.code == 1
        assert sum(line.startswith("error: ") for line in harmed.err.splitlines()) == 1, harmed.err
    assert before <= finished(where)
    for path in tmp_path.rglob("*.parquet"):
        pq.read_table(path)
    assert not list(tmp_path.rglob(".unfinished-*"))
    workplace.succeed(*words(place, disk, tmp_path, 1)[0])
    assert len(finished(where)) > len(before)
