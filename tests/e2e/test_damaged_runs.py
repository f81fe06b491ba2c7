"""With reuse=true a stored run that is damaged, or not the job's, is told of and computed anew."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from e2e.program import Workplace
from recgauge.runs.folder import CHECKSUMS, file_digest, read_checksums

pytestmark = pytest.mark.e2e
RUN = ("model=popularity", "cutoffs=[5]", "hydra.run.dir=out")


class Stored:
    """A store with one finished run, which every test gets as it was."""

    def __init__(self, folder):
        self.folder, self.run = folder, Workplace(folder).run
        done = self.run(*RUN)
        assert done.code == 0, done.err
        (self.run_id,) = self.sql("SELECT run_uuid FROM runs")[0]
        self.files = folder / "mlruns" / self.run_id / "artifacts"
        shutil.copy(folder / "mlflow.db", folder / "kept.db")
        shutil.copytree(self.files, folder / "kept")
        self.values = self.results()

    def restore(self):
        shutil.copy(self.folder / "kept.db", self.folder / "mlflow.db")
        shutil.rmtree(self.files)
        shutil.copytree(self.folder / "kept", self.files)
        for name in ("out", "lean"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def sql(self, statement):
        with closing(sqlite3.connect(self.folder / "mlflow.db")) as store, store:
            return store.execute(statement).fetchall()

    def results(self):
        return json.loads((self.folder / "out" / "record.json").read_text())["results"]

    def change_record(self, change):
        path = self.files / "record.json"
        record = json.loads(path.read_text())
        change(record)
        path.write_text(json.dumps(record))

    def sign(self):
        """Make digests fit what was changed, as someone who means to deceive would."""
        names = read_checksums(self.files / CHECKSUMS)
        lines = (f"{file_digest(self.files / name)}  {name}\n" for name in names)
        (self.files / CHECKSUMS).write_text("".join(lines))

    def tag_digest(self):
        digest = file_digest(self.files / CHECKSUMS)
        self.sql(f"UPDATE tags SET value = '{digest}' WHERE key = 'recgauge.files_sha256'")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Stored(tmp_path_factory.mktemp("stored"))


@pytest.fixture
def stored(made):
    made.restore()
    return made


def another_value(stored):
    stored.change_record(lambda record: record["results"][0].update(value=0.9))


def another_seed(stored):
    stored.change_record(lambda record: record.update(seed=1))


def signed(change):
    def harm(stored):
        change(stored)
        stored.sign()

    return harm


def tagged(change):
    def harm(stored):
        signed(change)(stored)
        stored.tag_digest()

    return harm


def gone(name):
    return lambda stored: (stored.files / name).unlink()


def no_tag(stored):
    stored.sql("DELETE FROM tags WHERE key = 'recgauge.files_sha256'")


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (another_value, "record.json is missing or not as it was stored"),
        (signed(another_value), "SHA256SUMS is missing or not as it was stored"),
        (tagged(another_seed), "its files have been changed, or lack what the job asks for"),
        (gone("record.json"), "record.json is missing or not as it was stored"),
        (no_tag, "SHA256SUMS is missing or not as it was stored"),
    ],
)
def test_a_damaged_run_is_told_of_and_made_again(stored, harm, reason):
    harm(stored)
    done = stored.run(*RUN, "reuse=true")
    assert done.code == 0, done.err
    assert f"note: run {stored.run_id} is the same but cannot be reused: " in done.err
    assert f"{reason}.\n" in done.err
    assert "reused run" not in done.out
    assert stored.results() == stored.values
    assert len(stored.sql("SELECT run_uuid FROM runs WHERE status = 'FINISHED'")) == 2


def test_a_run_that_did_not_finish_never_counts(stored):
    stored.sql("UPDATE runs SET status = 'FAILED'")
    done = stored.run(*RUN, "reuse=true")
    assert done.code == 0, done.err
    assert "reused run" not in done.out
    assert stored.results() == stored.values


def test_an_older_whole_run_stands_in_for_a_newer_damaged_one(stored):
    assert stored.run(*RUN).code == 0
    newer = next(run for (run,) in stored.sql("SELECT run_uuid FROM runs") if run != stored.run_id)
    (stored.folder / "mlruns" / newer / "artifacts" / "record.json").write_text("{}")
    shutil.rmtree(stored.folder / "out")  # which is whole, and would be reused
    done = stored.run(*RUN, "reuse=true")
    assert done.code == 0, done.err
    assert f"note: run {newer} is the same but cannot be reused" in done.err
    assert f"reused run {stored.run_id}" in done.out


def test_a_run_without_lists_does_not_stand_for_one_with_them(stored):
    assert stored.run(*RUN, "artifacts.lists=false", "seed=1").code == 0
    assert not (stored.folder / "out" / "recommendations.parquet").exists()
    (stored.folder / "out").rename(stored.folder / "lean")
    done = stored.run(*RUN, "seed=1", "reuse=true")
    assert "lack what the job asks for" in done.err
    assert (stored.folder / "out" / "recommendations.parquet").exists()
