"""Parquet."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from unit.datasets.hostile.case import GOOD, ITEMS, LONG, RATINGS, USERS, Case, parquet

SAME = {"user": USERS, "item": ITEMS}
READ = {"users": ["1", "1", "2"], "items": ITEMS}
NO_ID = "for the user has the type"


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


PARQUET = [
    Case("cut parquet", "r.parquet", parquet(**SAME)[:-20], "r.parquet"),
    Case(
        "damaged parquet", "r.parquet", parquet(**SAME)[:20] + bytes(40) + parquet(**SAME)[60:], "r.parquet"
    ),
    Case("text called parquet", "r.parquet", GOOD, "r.parquet"),
    Case("no column known", "r.parquet", parquet(a=USERS, b=ITEMS), "no column is known as the user"),
    Case(
        "a column twice",
        "r.parquet",
        lambda path: pq.write_table(
            pa.Table.from_arrays(
                [pa.array(USERS), pa.array(USERS), pa.array(ITEMS)], ["user", "user", "item"]
            ),
            path,
        ),
        "several columns",
    ),
    Case("list as id", "r.parquet", parquet(user=[[1], [1], [2]], item=ITEMS), NO_ID),
    Case("struct as id", "r.parquet", parquet(user=[{"a": 1}] * 3, item=ITEMS), NO_ID),
    Case("nested column beside", "r.parquet", parquet(**SAME, x=[[{"a": 1}]] * 3), **READ),
    Case("nested name", "r.parquet", parquet(**SAME, **{"x.y": USERS}), **READ),
    Case(
        "dotted column chosen",
        "r.parquet",
        parquet(**{"x.user": USERS, "x.item": ITEMS}),
        **READ,
        options={"user": "x.user", "item": "x.item"},
    ),
    Case("decimal rating", "r.parquet", parquet(**SAME, rating=pa.array(USERS, pa.decimal128(9, 2))), **READ),
    Case("decimal ids", "r.parquet", parquet(user=pa.array(USERS, pa.decimal128(9, 0)), item=ITEMS), NO_ID),
    Case("date ids", "r.parquet", parquet(user=pa.array(USERS, pa.date32()), item=ITEMS), NO_ID),
    Case(
        "dictionary ids",
        "r.parquet",
        parquet(user=pa.array(ITEMS).dictionary_encode(), item=ITEMS),
        users=ITEMS,
        items=ITEMS,
    ),
    Case("null ids", "r.parquet", parquet(user=[1, None, 2], item=ITEMS), "row 2: the user is missing"),
    Case("null ratings", "r.parquet", parquet(**SAME, rating=[1.0, None, 2.0]), "row 2: the rating"),
    Case(
        "float ids in parquet",
        "r.parquet",
        parquet(user=[1.0, 1.5, 2.0], item=ITEMS),
        users=["1.0", "1.5", "2.0"],
        items=ITEMS,
    ),
    Case("boolean ids in parquet", "r.parquet", parquet(user=[True, False, True], item=ITEMS), NO_ID),
    Case(
        "text as bytes",
        "r.parquet",
        parquet(user=[b"a", b"\xc3\xa9", b"b"], item=ITEMS),
        users=["a", "é", "b"],
        items=ITEMS,
    ),
    Case("bytes as ids", "r.parquet", parquet(user=[b"a", b"\xff", b"b"], item=ITEMS), NO_ID),
    Case(
        "uint64 ids",
        "r.parquet",
        parquet(user=pa.array([2**64 - 1, 1, 2], pa.uint64()), item=ITEMS),
        users=[str(2**64 - 1), "1", "2"],
        items=ITEMS,
    ),
    Case(
        "large strings",
        "r.parquet",
        parquet(user=pa.array(ITEMS, pa.large_string()), item=ITEMS),
        users=ITEMS,
        items=ITEMS,
    ),
    Case(
        "string views",
        "r.parquet",
        parquet(user=pa.array(ITEMS, pa.string_view()), item=ITEMS),
        users=ITEMS,
        items=ITEMS,
    ),
    Case(
        "long id in parquet",
        "r.parquet",
        parquet(user=["a", LONG, "b"], item=ITEMS),
        "row 2: the user is longer than",
    ),
    Case(
        "long id in a dictionary",
        "r.parquet",
        parquet(user=pa.array(["a", LONG, "b"]).dictionary_encode(), item=ITEMS),
        "row 2: the user is longer than",
    ),
    Case(
        "bytes that are no text",
        "r.parquet",
        parquet(user=pa.array([b"a", b"\xff\xfe", b"b"]).view(pa.string()), item=ITEMS),
        "user|UTF",
    ),
    Case(
        "time with zone",
        "r.parquet",
        parquet(
            user=USERS,
            item=ITEMS,
            rating=RATINGS,
            timestamp=pa.array([10**9] * 3, pa.timestamp("s", "Asia/Tokyo")),
        ),
        **READ,
    ),
    Case(
        "time in ns",
        "r.parquet",
        parquet(**SAME, rating=RATINGS, timestamp=pa.array([10**18] * 3, pa.timestamp("ns"))),
        **READ,
    ),
    Case(
        "null times",
        "r.parquet",
        parquet(
            user=USERS, item=ITEMS, rating=RATINGS, timestamp=pa.array([10**9, None, 1], pa.timestamp("s"))
        ),
        "row 2: the time",
    ),
    Case(
        "negative times",
        "r.parquet",
        parquet(**SAME, rating=RATINGS, timestamp=pa.array([-5, 1, 1], pa.timestamp("s"))),
        "row 1: the time",
    ),
    Case(
        "duration as time",
        "r.parquet",
        parquet(**SAME, rating=RATINGS, timestamp=pa.array([5, 1, 1], pa.duration("s"))),
        "r.parquet",
    ),
    Case("one long text in many rows", "r.parquet", long_texts, users=["u" * 3000], items=["i" * 3000]),
    Case("many columns", "r.parquet", parquet(**{f"c{n}": [1] for n in range(5_000)}), "(?s)^.{,1500}$"),
]
