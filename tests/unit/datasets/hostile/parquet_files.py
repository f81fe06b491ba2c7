"""Parquet."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from unit.datasets.hostile.case import GOOD, ITEMS, LONG, USERS, Case, parquet

SAME = {"user": USERS, "item": ITEMS}
READ = ["1", "1", "2"]
NO_ID, TOO_LONG = "for the user has the type", "row 2: the user is longer than"


def of(name: str, expected: str | list[str], **columns: Any) -> Case:
    """Put columns in the place of good ones or beside them; they are refused so, or give these users."""
    content = parquet(**SAME | columns)
    if isinstance(expected, str):
        return Case(name, "r.parquet", content, expected)
    return Case(name, "r.parquet", content, users=expected, items=ITEMS)


def seconds(*times: int | None) -> Any:
    return pa.array(times, pa.timestamp("s"))


def twice(path: Path) -> None:
    columns = [pa.array(USERS), pa.array(USERS), pa.array(ITEMS)]
    pq.write_table(pa.Table.from_arrays(columns, ["user", "user", "item"]), path)


def long_texts(path: Path) -> None:
    """Write 4 million rows with one user and one item of 3,000 signs: 24 GB as texts, 2 MB as a file."""
    rows = pa.array([0] * 1_000_000, pa.int32())
    ids = {name: pa.DictionaryArray.from_arrays(rows, [name[0] * 3000]) for name in ("user", "item")}
    part = pa.table(ids)
    plain = pa.schema([(name, pa.string()) for name in ids])  # the file does not say that it was a dictionary
    with pq.ParquetWriter(path, part.schema, store_schema=False) as writer:
        for _ in range(4):
            writer.write_table(part)
    assert pq.read_schema(path) == plain


WHOLE = parquet(**SAME)
PARQUET = [
    Case("cut parquet", "r.parquet", WHOLE[:-20], "r.parquet"),
    Case("damaged parquet", "r.parquet", WHOLE[:20] + bytes(40) + WHOLE[60:], "r.parquet"),
    Case("text called parquet", "r.parquet", GOOD, "r.parquet"),
    Case("no column known", "r.parquet", parquet(a=USERS, b=ITEMS), "no column is known as the user"),
    Case("a column twice", "r.parquet", twice, "several columns"),
    of("list as id", NO_ID, user=[[1], [1], [2]]),
    of("struct as id", NO_ID, user=[{"a": 1}] * 3),
    of("nested column beside", READ, x=[[{"a": 1}]] * 3),
    of("nested name", READ, **{"x.y": USERS}),
    Case(
        "dotted column chosen",
        "r.parquet",
        parquet(**{"x.user": USERS, "x.item": ITEMS}),
        users=READ,
        options={"user": "x.user", "item": "x.item"},
    ),
    of("decimal rating", READ, rating=pa.array(USERS, pa.decimal128(9, 2))),
    of("decimal ids", NO_ID, user=pa.array(USERS, pa.decimal128(9, 0))),
    of("date ids", NO_ID, user=pa.array(USERS, pa.date32())),
    of("dictionary ids", ITEMS, user=pa.array(ITEMS).dictionary_encode()),
    of("null ids", "row 2: the user is missing", user=[1, None, 2]),
    of("null ratings", "row 2: the rating", rating=[1.0, None, 2.0]),
    of("float ids in parquet", ["1.0", "1.5", "2.0"], user=[1.0, 1.5, 2.0]),
    of("boolean ids in parquet", NO_ID, user=[True, False, True]),
    of("text as bytes", ["a", "é", "b"], user=[b"a", b"\xc3\xa9", b"b"]),
    of("bytes as ids", NO_ID, user=[b"a", b"\xff", b"b"]),
    of("uint64 ids", [str(2**64 - 1), "1", "2"], user=pa.array([2**64 - 1, 1, 2], pa.uint64())),
    of("large strings", ITEMS, user=pa.array(ITEMS, pa.large_string())),
    of("string views", ITEMS, user=pa.array(ITEMS, pa.string_view())),
    of("long id in parquet", TOO_LONG, user=["a", LONG, "b"]),
    of("long id in a dictionary", TOO_LONG, user=pa.array(["a", LONG, "b"]).dictionary_encode()),
    of("bytes that are no text", "user|UTF", user=pa.array([b"a", b"\xff\xfe", b"b"]).view(pa.string())),
    of("time with zone", READ, timestamp=pa.array([10**9] * 3, pa.timestamp("s", "Asia/Tokyo"))),
    of("time in ns", READ, timestamp=pa.array([10**18] * 3, pa.timestamp("ns"))),
    of("null times", "row 2: the time", timestamp=seconds(10**9, None, 1)),
    of("negative times", "row 1: the time", timestamp=seconds(-5, 1, 1)),
    of("duration as time", "r.parquet", timestamp=pa.array([5, 1, 1], pa.duration("s"))),
    Case("one long text in many rows", "r.parquet", long_texts, users=["u" * 3000], items=["i" * 3000]),
    Case("many columns", "r.parquet", parquet(**{f"c{n}": [1] for n in range(5_000)}), "(?s)^.{,1500}$"),
]
