"""A run that dies without warning at any rename, flush or statement harms nothing that was there before.

After each death nothing lies half-written under a final name, and the same command succeeds in the same
folder and store with the same numbers: it never reuses what the dead run left, unless that was complete on
disk and only its tracking was missing.
"""

import json
import shutil
import sqlite3
from contextlib import closing

import pyarrow.parquet as pq
import pytest

from e2e.crash_server import EVENTS, CrashServer
from e2e.ratings_file import write_ratings
from recgauge.app.files.artifacts import CHECKSUMS, file_digest, read_checksums

pytestmark = pytest.mark.e2e
RENAMES, FLUSHES, STATEMENTS = 32, 2, 16  # the first two are at least as many as a run has
SHORTEST = 400  # items of a list: large enough a table that the store and the output folder share it
WORDS = ("model=popularity", "dataset=table", "split=random_per_user", "hydra.run.dir=out", "reuse=true")


def some(event, count):
    """Every point of an event; one of them in the default tests, since each takes two runs."""
    quick = {count // 2}
    return [pytest.param(event, n, marks=[] if n in quick else pytest.mark.slow) for n in range(1, count + 1)]


class Workshop:
    """A folder with a store and one finished run, and a process that runs the program there."""

    def __init__(self, folder):
        self.folder = folder
        write_ratings(folder / "ratings.csv")
        self.server = CrashServer(folder)
        self.whole = self.run(0)
        assert self.whole.code == 0, self.whole.err
        again = self.run(1)  # as in each trial: the store is there
        assert again.code == 0, again.err
        self.events = again.events
        self.numbers = self.results()

    def run(self, number, **kill_at):
        """Run what no other number has run, so that there is nothing to reuse, with data to read anew."""
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        words = (f"cutoffs=[5,{SHORTEST + number}]", "dataset.path=ratings.csv", "data.cache=cache")
        return self.server.run(*WORDS, *words, **kill_at)

    def results(self):
        entries = json.loads((self.folder / "out" / "record.json").read_text())["results"]
        return {entry["key"]: entry["value"] for entry in entries if entry["k"] == 5}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    made = Workshop(tmp_path_factory.mktemp("crashes"))
    yield made
    made.server.stop()


def assert_nothing_is_half_written(folder):
    for path in folder.rglob("*.json"):
        if not path.name.startswith("."):
            json.loads(path.read_text())
    for path in folder.rglob("*.parquet"):
        if ".unfinished-" not in str(path):
            pq.read_table(path)
    for sums in folder.rglob(CHECKSUMS):
        for name, digest in read_checksums(sums).items():
            if (sums.parent / name).exists() and "out" in sums.parts:
                assert file_digest(sums.parent / name) == digest
    with closing(sqlite3.connect(folder / "mlflow.db")) as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_there_are_points_for_every_rename_and_flush(workshop):
    assert 10 < workshop.events["rename"] <= RENAMES
    assert 0 < workshop.events["sync"] <= FLUSHES
    assert workshop.events["sql"] > 4 * STATEMENTS


@pytest.mark.parametrize(
    ("event", "part"), [*some("rename", RENAMES), *some("sync", FLUSHES), *some("sql", STATEMENTS)]
)
def test_the_run_after_a_death(workshop, event, part):
    point = part
    if event == "sql":  # spread over the whole run, the first and the last statement included
        point = 1 + (part - 1) * (workshop.events["sql"] - 1) // (STATEMENTS - 1)
    number = 10 + EVENTS.index(event) * 100 + part
    dead = workshop.run(number, kill_at=(event, point))
    if dead.code == 0:  # a run may have fewer: what is compiled, and then renamed, differs
        assert dead.events[event] < point
        return
    assert dead.code == -9
    assert_nothing_is_half_written(workshop.folder)
    again = workshop.run(number)
    assert again.code == 0, again.err
    assert "Traceback" not in again.err
    assert workshop.results() == workshop.numbers
    assert_nothing_is_half_written(workshop.folder)
    # a run counts if it was complete on disk, and tracked just now, or died after its last word to the store
    if "reused run" in again.out and "tracked now" not in again.err:
        assert dead.events["sql"] > workshop.events["sql"] - 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "share"), [("sql", 0.01), ("sql", 0.3), ("sql", 0.6), ("sql", 0.9), ("rename", 0)]
)
def test_the_run_after_a_death_in_the_first_run_of_a_store(workshop, tmp_path, event, share):
    server, words = CrashServer(tmp_path), ("model=popularity", "cutoffs=[5]")
    point = max(1, int(share * workshop.whole.events[event]))
    assert server.run(*words, kill_at=(event, point)).code == -9
    done = server.run(*words)
    server.stop()
    assert done.code == 0, done.err
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as store:
        assert store.execute("SELECT count(*) FROM runs WHERE status = 'FINISHED'").fetchone() == (1,)
