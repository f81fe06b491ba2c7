"""Files of rows that are too large, broken or hostile end early, in one message and little memory."""

import gzip
import io
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recgauge.datasets.table import Table
from recgauge.errors import DataError, SchemaError
from recgauge.files.limits import Limits
from recgauge.files.opening import find_list_files
from recgauge.recorded import read_rows
from recgauge.utils import resources
from recgauge.utils.messages import explain_memory_error
from recgauge.utils.progress import Progress, Timings

ROWS = "user,item\n" + "".join(f"{row % 9},{row}\n" for row in range(2_000))


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ratings.csv", content)
    return packed.getvalue()


PACK = {"r.csv": bytes, "r.csv.gz": gzip.compress, "r.zip": zipped}


@pytest.mark.parametrize("name", PACK)
@pytest.mark.parametrize(
    ("content", "limits", "message"),
    [
        (ROWS * 500, {"rows": 500_000}, r"about [0-9,]{7,9} rows or more, .*data.limits.rows"),
        (ROWS, {"rows": 1_999}, r"2,0.. rows or more, at most 1,999 .*data.limits.rows"),
        (
            ROWS + "y" * 5_000,
            {"line_bytes": 1_000},
            r"line 2,002: 5,... bytes or more in one line, at most 1,000",
        ),
        ("," * 50 + "\n1\n", {"columns": 20}, "51 columns, at most 20"),
    ],
    ids=["many rows", "one row too many", "long line", "wide"],
)
def test_a_file_beyond_a_limit_is_refused(tmp_path, name, content, limits, message):
    path = tmp_path / name
    path.write_bytes(PACK[name](content.encode()))
    with pytest.raises(SchemaError, match=message) as refused:
        Table(str(path), limits=limits).load()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", PACK)
def test_a_file_at_its_limits_is_read(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(PACK[name](ROWS.encode()))
    longest = max(map(len, ROWS.splitlines()))
    limits = Limits(rows=2_001, columns=2, line_bytes=longest, unpacked_bytes=len(ROWS))
    assert len(Table(str(path), limits=limits).load().interactions) == 2_000


@pytest.mark.parametrize("name", ["r.csv.gz", "r.zip"])
def test_unpacked_bytes_are_bounded_where_the_file_is_packed(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(PACK[name](ROWS.encode()))
    with pytest.raises(SchemaError, match="bytes or more when it is unpacked, at most 9,999"):
        Table(str(path), limits={"unpacked_bytes": 9_999}).load()
    (tmp_path / "plain.csv").write_text(ROWS)
    plain = Table(str(tmp_path / "plain.csv"), limits={"unpacked_bytes": 9_999})
    assert len(plain.load().interactions) == 2_000


def test_a_gzip_whose_beginning_promises_little_ends_at_the_limit(tmp_path):
    noise = np.random.default_rng(0).integers(0, 10**9, (40_000, 2)).tolist()
    first = "user,item\n" + "".join(f"{user},{item}\n" for user, item in noise)
    path = tmp_path / "r.csv.gz"
    path.write_bytes(gzip.compress(first.encode()) + gzip.compress(b"1,2\n" * 3_000_000))
    with pytest.raises(SchemaError, match="rows or more, at most 200,000"):
        Table(str(path), limits={"rows": 200_000}).load()


def test_parquet_says_its_rows_and_columns_before_they_are_read(tmp_path):
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"user": [1] * 500, "item": list(range(500)), "more": [0] * 500}), path)
    with pytest.raises(SchemaError, match="rows or more, at most 499"):
        Table(str(path), limits={"rows": 499}).load()
    with pytest.raises(SchemaError, match="3 columns, at most 2"):
        Table(str(path), limits={"columns": 2}).load()


def test_recorded_lists_have_limits_that_no_setting_moves(tmp_path):
    path = tmp_path / "lists.csv"
    path.write_text("user,item,rank" + ",x" * 10_000 + "\n")
    with pytest.raises(SchemaError, match="10,003 columns, at most 10,000"):
        read_rows(find_list_files([str(path)], "--run")[0], "lists")
    path.write_bytes(b"user,item,rank\n" + b"9" * (1 << 24) + b"9")
    with pytest.raises(SchemaError, match=r"lists\.csv, line 2: 1.* bytes or more in one line"):
        read_rows(find_list_files([str(path)], "--run")[0], "lists")


def test_rows_that_need_more_memory_than_there_is_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "r.csv"
    path.write_text(ROWS)
    monkeypatch.setattr(resources, "free_memory", lambda: 50_000)
    with pytest.raises(
        DataError, match=r"2,00. rows or so need about 9.,... bytes .*50,000 bytes can be had"
    ):
        Table(str(path)).load()


def test_memory_that_runs_out_in_a_stage_is_told_with_the_stage_and_the_rows():
    timings = Timings(Progress())
    timings.data = "4,000 rows"
    with pytest.raises(MemoryError) as ended, timings.stage("fit"):
        np.empty(1 << 59)
    said = explain_memory_error(ended.value)
    assert said.startswith("memory ran out in the stage fit, with 4,000 rows: Unable to allocate ")
    assert "Use a machine with more memory" in said
