"""The hostile files, by kind: things that are no files, text, JSON lines, archives, Parquet."""

import gzip
import os
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from unit.datasets.hostile.case import (
    FIRST,
    GOOD,
    HEAD,
    ITEMS,
    LONG,
    NOT_A_FILE,
    USERS,
    Case,
    csv,
    encrypted,
    lines,
    many_members,
    one_line_of_gigabytes,
    packed_blocks,
    parquet,
    zipped,
)

SPECIAL = [
    Case("fifo", "r.csv", os.mkfifo, NOT_A_FILE + " pipe"),
    Case("folder", "r.csv", Path.mkdir, "there is no Parquet file"),
    Case("dangling symlink", "r.csv", lambda path: path.symlink_to("nowhere"), "no such file"),
    Case("name too long", "r.csv", GOOD, "no such file", options={"path": "{}/" + "x" * 5000}),
    Case("NUL in the name", "r.csv", GOOD, "no such file", options={"path": "{}/r\0.csv"}),
    Case("brackets in the name", "a[1].csv", GOOD, **FIRST),
    Case("escape in the name", "a\x1b[31mb.csv", "user,item\n", r"a\\x1b\[31mb\.csv"),
]

ROWS = [
    Case("empty", "r.csv", "", "is empty"),
    Case("NUL bytes in an id", "r.csv", csv("1,a\0b,3,1000"), r"line 2"),
    Case("random bytes", "r.csv", random.Random(0).randbytes(100_000), "is no text"),
    Case(
        "BOM in the middle",
        "r.csv",
        csv("1,a,3,1000", "\ufeff2,a,3,1000"),
        "line 3.*begins with a byte order mark",
    ),
    Case("CR line ends", "r.csv", GOOD.replace("\n", "\r"), "carriage return"),
    Case("quote in the middle", "r.csv", csv('1,a"b,3,1000'), users=["1"], items=['a"b']),
    Case("line separator in an id", "r.csv", csv("a\u2028b,a,3,1"), users=["a\u2028b"], items=["a"]),
    Case("escapes in an id and a bad row", "r.csv", csv("\x1b[2J,,3,1"), "line 2: the item is missing"),
]


MORE = "user,item,rating,timestamp,text\n"
NAMES = ",".join(f"c{n}" for n in range(50_000)) + "\n" + "1," * 50_000


def encoded(name: str, encoding: str, refused: str = "", content: str | bytes = GOOD, **read: Any) -> Case:
    """Say an encoding, which is none or not that of the file, or is."""
    return Case(name, "r.csv", content, refused, options={"encoding": encoding}, **read)


TEXT = [
    Case(
        "long user", "r.csv", csv("1,a,3,1", f"{LONG},a,3,1"), "line 3: the user is longer than .* characters"
    ),
    Case("huge field", "r.csv", csv(f"1,a,3,1,{'y' * 3_000_000}", "2,b,3,1,z", head=MORE), users=["1", "2"]),
    Case("huge line", "r.csv", csv(f"1,a,3,1,{'y' * 30_000_000}", head=MORE), "r.csv"),
    Case(
        "one line of 3 GiB", "r.csv", one_line_of_gigabytes, "line 3: .* bytes or more in one line", slow=True
    ),
    Case("many names in the header", "r.csv", NAMES, "(?s)^.{,1500}$", options={"header": True}),
    encoded("encoding that is none of text", "rot13", "encoding must be"),
    Case("UTF-16 without saying so", "r.csv", GOOD.encode("utf-16"), "not utf-8 text.*utf-16"),
    encoded("UTF-16 that is cut", "utf-16", "not utf-16 text", GOOD.encode("utf-16")[:-1]),
    encoded("latin-1", "latin-1", content=csv("é,a,3,1").encode("latin-1"), users=["é"], items=["a"]),
    Case("surrogate bytes", "r.csv", csv("1,a,3,1").encode() + b"\xed\xa0\x80,a,3,1\n", "encoding"),
]

RATING, NO_ID = "line 1: the rating", "for the user has the type"
PAIR = {"user": 1, "item": 2}
HALF = '{"user": "\\ud800", "item": "a"}'
MANY = 10**5


def in_json(name: str, refused: str, *rows: Any) -> Case:
    return Case(name, "r.jsonl", lines(*rows), refused)


JSON = [
    in_json(
        "deep id", "line 1: no line is a JSON object", '{"user": 1, "item": ' + "[" * MANY + "]" * MANY + "}"
    ),
    in_json("deep JSON", "JSON array", "[" * MANY + "]" * MANY),
    in_json("lone surrogate", "'user'.*surrogate", HALF),
    in_json("NaN in JSON", RATING, '{"user": 1, "item": 2, "rating": NaN}'),
    in_json("number of 5,000 digits", "line 1", '{"user": %s, "item": 2}' % ("9" * 5000)),
    in_json("id beyond 2**63", "'user'.*64 bits", {"user": 2**70, "item": 2}),
    in_json("float ids in JSON", NO_ID, {"user": 1.5, "item": 2}),
    Case("a key twice", "r.jsonl", lines('{"user": 1, "user": 2, "item": 3}'), users=["2"], items=["3"]),
    Case("BOM before JSON", "r.jsonl", b"\xef\xbb\xbf" + lines(PAIR).encode(), users=["1"], items=["2"]),
    Case("JSON in UTF-16", "r.jsonl", lines(PAIR).encode("utf-16"), "r.jsonl"),
]

PACKED = [
    Case("zip of many members", "r.zip", many_members, "(?s)member-0.csv.*and 49,9.. more.{,100}$"),
    Case("absolute member", "r.zip", zipped(("/etc/passwd.csv", GOOD)), **FIRST),
    Case("member twice", "r.zip", zipped(("r.csv", GOOD), ("r.csv", HEAD)), "r.csv, r.csv"),
    Case("encrypted zip", "r.zip", encrypted(), "encrypted"),
    Case("cut zip", "r.zip", zipped(("r.csv", GOOD * 9))[:-60], "Get the file again"),
    Case("zip with a damaged member", "r.zip", zipped(("r.csv", GOOD)).replace(b"1,1,2", b"1,1,3"), "CRC"),
    Case("folder in a zip", "r.zip", zipped(("folder/", b"")), "no file of rows"),
    Case("cut gzip of rows", "r.csv.gz", gzip.compress(GOOD.encode() * 99)[:-100], "Get the file again"),
    Case(
        "gzip with rubbish behind",
        "r.csv.gz",
        gzip.compress(GOOD.encode()) + b"rubbish",
        "Get the file again",
    ),
    Case("gzip in a gzip", "r.csv.gz", gzip.compress(gzip.compress(GOOD.encode())), "is no text"),
    Case(
        "zeros",
        "r.csv.gz",
        packed_blocks(bytes(1 << 20), 3 << 10),
        "line 1: .* bytes or more in one line",
        slow=True,
    ),
]

SAME = {"user": USERS, "item": ITEMS}
READ = ["1", "1", "2"]
LONG_USER = "row 2: the user is longer than"


def in_parquet(name: str, expected: str | list[str], **columns: Any) -> Case:
    """Put columns in the place of good ones or beside them; they are refused so, or give these users."""
    content = parquet(**SAME | columns)
    if isinstance(expected, str):
        return Case(name, "r.parquet", content, expected)
    return Case(name, "r.parquet", content, users=expected, items=ITEMS)


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
    Case("no column known", "r.parquet", parquet(a=USERS, b=ITEMS), "no column is known as the user"),
    Case("a column twice", "r.parquet", twice, "several columns"),
    in_parquet("list as id", NO_ID, user=[[1], [1], [2]]),
    in_parquet("nested column beside", READ, x=[[{"a": 1}]] * 3),
    in_parquet("decimal rating", READ, rating=pa.array(USERS, pa.decimal128(9, 2))),
    in_parquet("null ids", "row 2: the user is missing", user=[1, None, 2]),
    in_parquet("float ids in parquet", NO_ID, user=[1.0, 1.5, 2.0]),
    in_parquet("bytes as ids", NO_ID, user=[b"a", b"b", b"c"]),
    in_parquet("uint64 ids", [str(2**64 - 1), "1", "2"], user=pa.array([2**64 - 1, 1, 2], pa.uint64())),
    in_parquet("string views", ITEMS, user=pa.array(ITEMS, pa.string_view())),
    in_parquet("long id in parquet", LONG_USER, user=["a", LONG, "b"]),
    in_parquet(
        "bytes that are no text", "user|utf-8", user=pa.array([b"a", b"\xff\xfe", b"b"]).view(pa.string())
    ),
    in_parquet("time with zone", READ, timestamp=pa.array([10**9] * 3, pa.timestamp("s", "Asia/Tokyo"))),
    in_parquet("duration as time", "r.parquet", timestamp=pa.array([5, 1, 1], pa.duration("s"))),
    Case("one long text in many rows", "r.parquet", long_texts, users=["u" * 3000], items=["i" * 3000]),
]

CASES = [*SPECIAL, *ROWS, *TEXT, *JSON, *PACKED, *PARQUET]
