"""Folders and addresses of Parquet as data, as parts of a split and as lists of a model."""

import os

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from recgauge.datasets import Table
from recgauge.errors import ConfigError, DataError, MissingDataError
from recgauge.models import Recorded
from recgauge.models.recommend import recommend

ROWS = pa.table(
    {"user": list("aabbccdd"), "item": [3, 4, 3, 5, 4, 5, 3, 4], "score": [9.0, 8, 7, 6, 5, 4, 3, 2]}
)


def lists_of(path):
    train = Table(str(path.parent / "known.parquet"), rating=False).load().interactions
    model = Recorded(str(path), keep=["unmet"]).fit(train, rng=np.random.default_rng(0))
    made = recommend(model, np.arange(4, dtype=np.int32), 2)
    return made.items.tolist(), made.scores.tolist()


def rows_of(path):
    return Table(str(path), rating="score").load().interactions.sha256()


READERS = pytest.mark.parametrize("reads", [rows_of, lists_of])


@pytest.fixture
def folder(tmp_path):
    parquet.write_table(ROWS, tmp_path / "known.parquet")
    (tmp_path / "rows").mkdir()
    for part in range(4):
        parquet.write_table(ROWS.slice(2 * part, 2), tmp_path / "rows" / f"{part}.parquet")
    return tmp_path / "rows"


def whole(folder, table=ROWS):
    path = folder.parent / "whole.parquet"
    parquet.write_table(table, path)
    return path


@READERS
def test_hidden_files_and_files_without_rows_change_nothing(folder, reads):
    (folder / "_SUCCESS").touch()
    (folder / ".notes.txt").write_text("mine")
    (folder / "_temporary").mkdir()
    parquet.write_table(ROWS, folder / "_temporary" / "0.parquet")
    parquet.write_table(ROWS.slice(0, 0), folder / "1-empty.parquet")
    assert reads(folder) == reads(whole(folder))


@READERS
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda _: b"PAR1 nothing", r"/1\.parquet cannot be read as Parquet"),
        (
            lambda part: part.set_column(0, "user", pa.array([1, 2])),
            r"/1\.parquet cannot be read as Parquet: .*ield user has .*int64",
        ),
        (lambda part: part.drop_columns(["item"]), r"/1\.parquet cannot be read .* item does not exist"),
        (lambda part: part.set_column(0, "user", pa.array(["b", None])), r"rows, row 4: the user is"),
    ],
    ids=["no Parquet", "other type", "column missing", "bad row"],
)
def test_a_file_that_is_unlike_the_others_is_named(folder, reads, change, expected):
    changed = change(parquet.read_table(folder / "1.parquet"))
    if isinstance(changed, bytes):
        (folder / "1.parquet").write_bytes(changed)
    else:
        parquet.write_table(changed, folder / "1.parquet")
    with pytest.raises(DataError, match=expected):
        reads(folder)


@READERS
def test_a_folder_without_parquet_is_refused(folder, reads):
    for part in folder.iterdir():
        part.unlink()
    with pytest.raises(DataError, match="rows: there is no Parquet file"):
        reads(folder)
    (folder / "a.csv").write_text("user,item\n1,2\n")
    with pytest.raises(DataError, match=r"/a\.csv cannot be read as Parquet: .* name files"):
        reads(folder)
    with pytest.raises(DataError, match="there is no such file"):
        reads(folder.parent / "absent")


def test_a_row_of_a_folder_and_a_file_in_it_would_count_twice(folder):
    with pytest.raises(ConfigError, match=r"1\.parquet twice"):
        Table([str(folder), str(folder / "1.parquet")]).load()


def test_keys_in_an_address_are_refused_and_not_shown():
    with pytest.raises(ConfigError, match="AWS_ACCESS_KEY_ID") as refused:
        Recorded("s3://name:hidden-key@bucket/lists").check_ready()
    assert "hidden-key" not in str(refused.value)


def test_fsspec_reads_the_addresses_that_pyarrow_does_not(folder):
    store = pytest.importorskip("fsspec").filesystem("memory")
    store.put(str(folder), "/bucket/rows", recursive=True)
    found = Table("memory://bucket/rows", rating="score").load()
    local = Table(str(folder), rating="score").load()
    assert (found.interactions.sha256(), found.sha256) == (local.interactions.sha256(), local.sha256)
    assert len(Table("memory://bucket/rows").load().interactions) == 8
    with pytest.raises(MissingDataError, match="memory://bucket/absent: "):
        Table("memory://bucket/absent").load()
    with pytest.raises(MissingDataError, match=r"nowhere://a: .* install fsspec"):
        Table("nowhere://a").load()


@pytest.mark.parametrize("kind", ["pipe", "link to nothing", "device"])
def test_what_is_no_file_in_a_folder_is_refused(tmp_path, kind):
    parquet.write_table(pa.table({"user": ["a"], "item": [1]}), tmp_path / "1.parquet")
    if kind == "pipe":
        os.mkfifo(tmp_path / "2.parquet")
    else:
        (tmp_path / "2.parquet").symlink_to("/dev/zero" if kind == "device" else "nowhere")
    with pytest.raises(MissingDataError, match=r"2\.parquet is not a regular file"):
        Table(str(tmp_path)).load()
