"""A run that dies without warning at any rename harms nothing that was there before.

After each death nothing lies half-written under a final name, and the same command succeeds in the same
folder and store with the same numbers: it never reuses what the dead run left, unless that was complete on
disk. The store has each run once. Deaths inside a delivery: tests/unit/tracking.
"""

import json
import shutil
import sqlite3
from contextlib import closing

import pyarrow.parquet as pq
import pytest

from e2e.ratings_file import write_ratings
from recgauge.runs.folder import CHECKSUMS, file_digest, read_checksums

pytestmark = pytest.mark.e2e
RENAMES = 32  # at least as many as a run has
SHORTEST = 400  # items of a list: large enough a table that the store and the output folder share it
WORDS = ("model=popularity", "dataset=table", "split=random_per_user", "reuse=true")


class Workshop:
    """A folder with a store and one finished run."""

    def __init__(self, workplace):
        self.folder, self._kill = workplace.folder, workplace.run_killed_at
        write_ratings(self.folder / "ratings.csv")
        self.whole = self.run(0)
        assert self.whole.code == 0, self.whole.err
        again = self.run(1)  # as in each trial: the store is there
        assert again.code == 0, again.err
        self.renames = again.renames
        self.numbers = self.results()

    def run(self, number, rename=0):
        """Run what no other number has run, so that there is nothing to reuse, with data to read anew."""
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        self._folder = self.folder / f"out{number}"
        words = (f"cutoffs=[5,{SHORTEST + number}]", "dataset.path=ratings.csv", "data.cache=cache")
        words += (f"hydra.run.dir={self._folder.name}",)
        return self._kill(rename, *WORDS, *words)

    def results(self):
        entries = json.loads((self._folder / "record.json").read_text())["results"]
        return {entry["key"]: entry["value"] for entry in entries if entry["k"] == 5}


@pytest.fixture(scope="module")
def workshop(shared_workplace):
    return Workshop(shared_workplace)


def assert_nothing_is_half_written(folder):
    for path in folder.rglob("*.json"):
        if not path.name.startswith("."):
            json.loads(path.read_text())
    for path in folder.rglob("*.parquet"):
        if ".unfinished-" not in str(path):
            pq.read_table(path)
    for sums in folder.rglob(CHECKSUMS):
        for name, digest in read_checksums(sums).items():
            if (sums.parent / name).exists() and "mlruns" not in sums.parts:
                assert file_digest(sums.parent / name) == digest
    with closing(sqlite3.connect(folder / "mlflow.db")) as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_there_are_points_for_every_rename(workshop):
    assert 10 < workshop.renames <= RENAMES


QUICK = RENAMES // 2  # one in the default tests, since each takes two runs
POINTS = [pytest.param(n, marks=[] if n == QUICK else pytest.mark.slow) for n in range(1, RENAMES + 1)]


@pytest.mark.parametrize("point", POINTS)
def test_the_run_after_a_death(workshop, point):
    number = point + 100
    before = finished(workshop.folder)
    dead = workshop.run(number, point)
    if dead.code == 0:  # there were fewer, or the process that delivers died and another one took its place
        assert_nothing_is_half_written(workshop.folder)
        assert finished(workshop.folder) == before + 1
        return
    assert dead.code == -9
    assert_nothing_is_half_written(workshop.folder)
    again = workshop.run(number)
    assert again.code == 0, again.err
    assert "Traceback" not in again.err
    assert workshop.results() == workshop.numbers
    assert_nothing_is_half_written(workshop.folder)
    assert finished(workshop.folder) == before + 1


def finished(folder):
    with closing(sqlite3.connect(folder / "mlflow.db")) as store:
        return store.execute("SELECT count(*) FROM runs WHERE status = 'FINISHED'").fetchone()[0]


def test_the_run_after_a_death_in_the_first_run_of_a_store(workplace):
    words = ("model=popularity", "cutoffs=[5]")
    assert workplace.run_killed_at(1, *words).code == -9
    workplace.succeed(*words)
    assert finished(workplace.folder) == 1
