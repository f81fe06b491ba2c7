"""Files that nobody means to pass, or that are odd but real: how to write each, and what must become of it.

The superuser may read every file, so that a file without permissions is no case here.
"""

import bz2
import gzip
import io
import json
import os
import random
import socket
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Write = Callable[[Path], Any]
HEAD = "user,item,rating,timestamp\n"
GOOD = HEAD + "".join(f"{row % 5},{row % 7},{row % 5 + 1},{10**9 + row}\n" for row in range(40))


@dataclass(frozen=True)
class Case:
    """One hostile input.

    Parameters
    ----------
    name : str
    file : str
        What the file is called.
    content : str, bytes or callable
        What is in it; a callable makes what is at the path.
    refused : str
        A pattern that the message must match; empty: the file must be read.
    users, items : list of str
        The first ids that a file that is read must give.
    options : mapping
        Of `Table`; "{}" in a path is the folder.
    slow : bool
    """

    name: str
    file: str
    content: str | bytes | Write
    refused: str = ""
    users: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    options: Mapping[str, Any] = field(default_factory=dict)
    slow: bool = False

    def write(self, folder: Path) -> dict[str, Any]:
        """Make the file, and return the arguments of `Table`."""
        folder.mkdir()
        path = folder / self.file
        if callable(self.content):
            self.content(path)
        else:
            path.write_bytes(self.content.encode() if isinstance(self.content, str) else self.content)
        options = {"path": str(path), "cache": str(folder / "cache"), **self.options}
        return options | {"path": options["path"].replace("{}", str(folder))}


def csv(*rows: str, head: str = HEAD) -> str:
    return head + "".join(f"{row}\n" for row in rows)


def zipped(*members: tuple[str, bytes | str], **options: Any) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", **options) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that is there twice
        for name, content in members:
            archive.writestr(name, content)
    return packed.getvalue()


def many_members(path: Path) -> None:
    path.write_bytes(zipped(*((f"member-{n}.csv", b"") for n in range(50_000))))


def encrypted() -> bytes:
    """Return an archive whose only member claims to be encrypted."""
    packed = bytearray(zipped(("ratings.csv", GOOD)))
    packed[6] |= 1
    packed[packed.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(packed)


def parquet(**columns: Any) -> bytes:
    packed = io.BytesIO()
    pq.write_table(pa.table(columns), packed)
    return packed.getvalue()


def lines(*rows: Any) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


def listen(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's name must be short
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def loop(path: Path) -> None:
    path.symlink_to(path.with_name("other"))
    path.with_name("other").symlink_to(path)


def bad_bytes(path: Path) -> None:
    Path(os.fsdecode(os.fsencode(path.parent) + b"/caf\xe9.csv")).write_text(GOOD)


LONG = "x" * 20_000
USERS, ITEMS, RATINGS = [1, 1, 2], ["a", "b", "a"], [1.0, 2.0, 3.0]
NOT_A_FILE = "is not a regular file but a"
FIRST = {"users": ["0", "1"], "items": ["0", "1"]}

SPECIAL = [
    Case("fifo", "r.csv", os.mkfifo, NOT_A_FILE + " pipe"),
    Case("fifo in a pattern", "r.csv", os.mkfifo, NOT_A_FILE + " pipe", options={"path": "{}/*.csv"}),
    Case("socket", "r.csv", listen, NOT_A_FILE + " socket"),
    Case("endless device", "r.csv", lambda path: path.symlink_to("/dev/zero"), NOT_A_FILE + " device"),
    Case("empty device", "r.csv", lambda path: path.symlink_to("/dev/null"), NOT_A_FILE + " device"),
    Case("folder", "r.csv", Path.mkdir, NOT_A_FILE + " folder"),
    Case("folder in a pattern", "r.csv", Path.mkdir, NOT_A_FILE + " folder", options={"path": "{}/*.csv"}),
    Case("symlink loop", "r.csv", loop, "r.csv.*(symbolic links|no such file)"),
    Case("dangling symlink", "r.csv", lambda path: path.symlink_to("nowhere"), "no such file"),
    Case("name too long", "r.csv", GOOD, "no such file", options={"path": "{}/" + "x" * 5000}),
    Case("NUL in the name", "r.csv", GOOD, "no such file", options={"path": "{}/r\0.csv"}),
    Case("bytes in the name", "x", bad_bytes, options={"path": "{}/caf*.csv"}, **FIRST),
    Case("backslash in the name", "a\\b.csv", GOOD, **FIRST),
    Case("dollar in the name", "a${b}.csv", GOOD, **FIRST),
    Case("brackets in the name", "a[1].csv", GOOD, **FIRST),
    Case("newline in the name", "a\nb.csv", "user,item\n", r"a\\nb\.csv"),
    Case("escape in the name", "a\x1b[31mb.csv", "user,item\n", r"a\\x1b\[31mb\.csv"),
]

TEXT = [
    Case("empty", "r.csv", "", "is empty"),
    Case("only blank lines", "r.csv", "\n\n\n", "is empty"),
    Case("only a header", "r.csv", HEAD, "no row is left"),
    Case("NUL bytes in an id", "r.csv", csv("1,a\0b,3,1000"), r"line 2"),
    Case("only NUL bytes", "r.csv", bytes(100_000), "cannot tell|is empty|NUL"),
    Case("random bytes", "r.csv", random.Random(0).randbytes(100_000), "not utf-8 text"),
    Case("BOM at the beginning", "r.csv", b"\xef\xbb\xbf" + GOOD.encode(), **FIRST),
    Case(
        "BOM in the middle",
        "r.csv",
        csv("1,a,3,1000", "\ufeff2,a,3,1000"),
        "line 3.*begins with a byte order mark",
    ),
    Case("CR line ends", "r.csv", GOOD.replace("\n", "\r"), "carriage return"),
    Case("CRLF line ends", "r.csv", GOOD.replace("\n", "\r\n"), **FIRST),
    Case(
        "mixed delimiters",
        "r.csv",
        csv("1,a,3,1000", "2;b;3;1000"),
        "line 3: the row does not have 4 columns",
    ),
    Case("open quote", "r.csv", csv('1,"a,3,1000', "2,b,3,1000"), "line 2: a quoted field"),
    Case("quote in the middle", "r.csv", csv('1,a"b,3,1000'), users=["1"], items=['a"b']),
    Case("rating overflows", "r.csv", csv("1,a,1e400,1000"), "line 2: the rating is not a finite number"),
    Case(
        "rating overflows float32", "r.csv", csv("1,a,1e39,1000"), "line 2: the rating is not a finite number"
    ),
    Case("NaN rating", "r.csv", csv("1,a,NaN,1000"), "line 2: the rating is not a finite number"),
    Case("infinite rating", "r.csv", csv("1,a,-inf,1000"), "line 2: the rating is not a finite number"),
    Case("hexadecimal rating", "r.csv", csv("1,a,0x10,1000"), "line 2: the rating is not a finite number"),
    Case(
        "decimal comma", "r.csv", "user;item;rating\n1;a;3,5\n", "line 2: the rating is not a finite number"
    ),
    Case("empty rating", "r.csv", csv("1,a,,1000"), "line 2: the rating is not a finite number: empty"),
    Case("negative time", "r.csv", csv("1,a,3,-5"), "line 2: the time is not in 1970..2100"),
    Case("time in ms", "r.csv", csv("1,a,3,1500000000000"), "line 2: the time.*time_unit"),
    Case("time overflows", "r.csv", csv(f"1,a,3,{10**30}"), "line 2: the time"),
    Case("no date", "r.csv", csv("1,a,3,2020-13-45"), "line 2: the time", options={"time_unit": "date"}),
    Case(
        "date far away", "r.csv", csv("1,a,3,0001-01-01"), "line 2: the time", options={"time_unit": "date"}
    ),
    Case("ids beyond 2**63", "r.csv", csv(f"{10**30},a,3,1000"), users=[str(10**30)], items=["a"]),
    Case("float ids", "r.csv", csv("1.0,a,3,1000", "1,a,3,1000"), users=["1.0", "1"], items=["a", "a"]),
    Case(
        "blanks around ids", "r.csv", csv("u ,a,3,1000", " u,a b,3,1"), users=["u", "u"], items=["a", "a b"]
    ),
    Case("blank id", "r.csv", csv("   ,a,3,1000"), "line 2: the user is missing"),
    Case("upper and lower case", "r.csv", csv("U,a,3,1", "u,a,3,1"), users=["U", "u"], items=["a", "a"]),
    Case("one letter, two spellings", "r.csv", csv("é,a,3,1", "é,a,3,1"), users=["é", "é"], items=["a", "a"]),
    Case("right to left", "r.csv", csv("\u202eabc,a,3,1"), users=["\u202eabc"], items=["a"]),
    Case("line separator in an id", "r.csv", csv("a\u2028b,a,3,1"), users=["a\u2028b"], items=["a"]),
    Case("emoji", "r.csv", csv("\U0001f4a9,a,3,1"), users=["\U0001f4a9"], items=["a"]),
    Case(
        "NULL as text",
        "r.csv",
        csv("NULL,NaN,3,1", "nan,None,3,1"),
        users=["NULL", "nan"],
        items=["NaN", "None"],
    ),
    Case("escapes in an id and a bad row", "r.csv", csv("\x1b[2J,,3,1"), "line 2: the item is missing"),
    Case("a bad rating with escapes", "r.csv", csv("1,a,\x1b[2J,1"), r"line 2: the rating.*\\x1b\[2J"),
    Case(
        "header twice",
        "r.csv",
        csv("1,2,a,3", head="user,user,item,rating\n"),
        "several columns could be the user",
    ),
    Case(
        "empty names in the header",
        "r.csv",
        csv("1,a,9,3", head="user,item,,rating\n"),
        users=["1"],
        items=["a"],
    ),
    Case(
        "no item column",
        "r.csv",
        csv("1,a,3", head="user,thing,rating\n"),
        r"no item|no column|not a finite number",
    ),
    Case("missing columns", "r.csv", csv("1,a"), "line 2: the row does not have 4 columns"),
    Case("too many columns", "r.csv", csv("1,a,3,4,5"), "line 2: the row does not have 4 columns"),
    Case("one column", "r.csv", "user\n1\n2\n", "cannot tell what parts the fields"),
    Case(
        "long user",
        "r.csv",
        csv("1,a,3,1", f"{LONG},a,3,1"),
        "line 3: the user is longer than .* characters.*20,000",
    ),
    Case("long item", "r.tsv", csv(f"1,{LONG},3,1").replace(",", "\t"), "line 2: the item is longer than"),
    Case("long item after ::", "r.dat", f"1::b::3::1\n1::{LONG}::3::1\n", "line 2: the item is longer than"),
    Case(
        "long ids left out",
        "r.csv",
        csv("1,a,3,1", f"{LONG},a,3,1"),
        users=["1"],
        items=["a"],
        options={"on_bad_rows": "skip"},
    ),
    Case(
        "huge field",
        "r.csv",
        csv(f"1,a,3,1,{'y' * 3_000_000}", "2,b,3,1,z", head="user,item,rating,timestamp,text\n"),
        users=["1", "2"],
        items=["a", "b"],
    ),
    Case(
        "huge line",
        "r.csv",
        csv(f"1,a,3,1,{'y' * 30_000_000}", head="user,item,rating,timestamp,text\n"),
        "r.csv",
    ),
    Case(
        "one line of 100 MB",
        "r.csv",
        lambda path: path.write_bytes(b"y" * 10**8),
        "cannot tell what parts.{,300}$",
        slow=True,
    ),
    Case(
        "many names in the header",
        "r.csv",
        ",".join(f"c{n}" for n in range(50_000)) + "\n" + "1," * 50_000,
        "(?s)^.{,1500}$",
        options={"header": True},
    ),
    Case("encoding that is none of text", "r.csv", GOOD, "encoding must be", options={"encoding": "rot13"}),
    Case("encoding from bytes to bytes", "r.csv", GOOD, "encoding must be", options={"encoding": "base64"}),
    Case("encoding that nobody knows", "r.csv", GOOD, "encoding must be", options={"encoding": "klingon"}),
    Case("UTF-16", "r.csv", GOOD.encode("utf-16"), options={"encoding": "utf-16"}, **FIRST),
    Case("UTF-16 without saying so", "r.csv", GOOD.encode("utf-16"), "not utf-8 text.*utf-16"),
    Case(
        "UTF-16 with two-sign separators",
        "r.dat",
        "1::a::3\n2::b::3\n".encode("utf-16"),
        users=["1", "2"],
        items=["a", "b"],
        options={"encoding": "utf-16"},
    ),
    Case("UTF-32", "r.csv", GOOD.encode("utf-32"), options={"encoding": "utf-32"}, **FIRST),
    Case(
        "UTF-16 that is cut",
        "r.csv",
        GOOD.encode("utf-16")[:-1],
        "not utf-16 text",
        options={"encoding": "utf-16"},
    ),
    Case("UTF-7", "r.csv", GOOD, options={"encoding": "utf-7"}, **FIRST),
    Case("punycode", "r.csv", GOOD, options={"encoding": "punycode"}, refused="encoding|punycode"),
    Case("idna", "r.csv", GOOD, options={"encoding": "idna"}, refused="encoding|idna"),
    Case(
        "latin-1",
        "r.csv",
        csv("é,a,3,1").encode("latin-1"),
        users=["é"],
        items=["a"],
        options={"encoding": "latin-1"},
    ),
    Case("latin-1 without saying so", "r.csv", csv("1,a,3,1", "é,a,3,1").encode("latin-1"), "encoding"),
    Case(
        "latin-1 far into the file",
        "r.csv",
        GOOD.encode() + "é,a,3,1\n".encode("latin-1"),
        "line 42.*encoding|encoding",
    ),
    Case("surrogate bytes", "r.csv", csv("1,a,3,1").encode() + b"\xed\xa0\x80,a,3,1\n", "encoding"),
    Case(
        "user lines with a long id",
        "r.txt",
        f"1 2 3\n2 {LONG}\n",
        "line 2: the item is longer than",
        options={"format": "user_lines"},
    ),
    Case("user lines of one user", "r.txt", "1\n2\n", "no row is left", options={"format": "user_lines"}),
    Case("atomic file without types", "r.inter", "user_id\titem_id\n1\ta\n", users=["1"], items=["a"]),
    Case("a web page", "r.csv", "<html>\n<body>Please, sign in</body>\n</html>\n", "r.csv"),
]

JSON = [
    Case("deep JSON", "r.jsonl", lines("[" * 100_000 + "]" * 100_000), "line 1.*nested too deeply"),
    Case(
        "deep JSON beside a good line",
        "r.jsonl",
        lines({"user": 1, "item": 2}, '{"user": 1, "item": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        "line 2",
    ),
    Case("lone surrogate", "r.jsonl", lines('{"user": "\\ud800", "item": "a"}'), "line 1.*surrogate"),
    Case(
        "lone surrogate left out",
        "r.jsonl",
        lines({"user": "u", "item": "a"}, '{"user": "\\ud800", "item": "a"}'),
        users=["u"],
        items=["a"],
        options={"on_bad_rows": "skip"},
    ),
    Case("NaN in JSON", "r.jsonl", lines('{"user": 1, "item": 2, "rating": NaN}'), "line 1: the rating"),
    Case(
        "huge number in JSON",
        "r.jsonl",
        lines('{"user": 1, "item": 2, "rating": 1e400}'),
        "line 1: the rating",
    ),
    Case("number of 5,000 digits", "r.jsonl", lines('{"user": %s, "item": 2}' % ("9" * 5000)), "line 1"),
    Case("id beyond 2**63", "r.jsonl", lines({"user": 2**70, "item": 2}), "line 1.*2\\*\\*63|line 1"),
    Case(
        "id beyond 2**63 below 2**64",
        "r.jsonl",
        lines({"user": 2**63 + 1, "item": 2}, {"user": 1, "item": 2}),
        "line 1",
    ),
    Case(
        "float ids in JSON",
        "r.jsonl",
        lines({"user": 1.5, "item": 2}),
        "line 1: the user must be whole numbers",
    ),
    Case(
        "boolean ids", "r.jsonl", lines({"user": True, "item": 2}), "line 1: the user must be whole numbers"
    ),
    Case(
        "nested ids",
        "r.jsonl",
        lines({"user": {"id": 1}, "item": 2}),
        "line 1: the user must be whole numbers",
    ),
    Case(
        "numbers as text",
        "r.jsonl",
        lines({"user": 1, "item": 2}, {"user": "1", "item": 3}),
        "line 2: the user must",
    ),
    Case("a key twice", "r.jsonl", lines('{"user": 1, "user": 2, "item": 3}'), users=["2"], items=["3"]),
    Case(
        "null id",
        "r.jsonl",
        lines({"user": 1, "item": 2}, {"user": None, "item": 3}),
        "line 2: the user is missing",
    ),
    Case(
        "rating as text", "r.jsonl", lines({"user": 1, "item": 2, "rating": "3.5"}), users=["1"], items=["2"]
    ),
    Case("rating as a list", "r.jsonl", lines({"user": 1, "item": 2, "rating": [3]}), "line 1: the rating"),
    Case("a JSON array", "r.json", json.dumps([{"user": 1, "item": 2}]), "line 1: no line is a JSON object"),
    Case(
        "a JSON array over lines",
        "r.json",
        json.dumps([{"user": 1, "item": 2}], indent=1),
        "line 1: no line is a JSON object",
    ),
    Case(
        "long id in JSON",
        "r.jsonl",
        lines({"user": 1, "item": "a"}, {"user": 1, "item": LONG}),
        "line 2: the item is longer than",
    ),
    Case(
        "cut JSON",
        "r.jsonl",
        lines({"user": 1, "item": 2}) + '{"user": 1, "it',
        "line 2: the line is no JSON object",
    ),
    Case("empty JSON", "r.jsonl", "", "r.jsonl"),
    Case(
        "BOM before JSON",
        "r.jsonl",
        b"\xef\xbb\xbf" + lines({"user": 1, "item": 2}).encode(),
        users=["1"],
        items=["2"],
    ),
    Case("JSON in UTF-16", "r.jsonl", lines({"user": 1, "item": 2}).encode("utf-16"), "r.jsonl"),
    Case("escapes in JSON", "r.jsonl", lines("\x1b[2J nonsense"), r"\\x1b\[2J"),
    Case("many keys", "r.jsonl", lines({f"c{n}": 1 for n in range(5_000)}), "(?s)^.{,1500}$"),
]

PACKED = [
    Case("empty zip", "r.zip", zipped(), "r.zip"),
    Case(
        "zip of many members",
        "r.zip",
        many_members,
        "(?s)member-0.csv.*and 49,9.. more.{,100}$",
    ),
    Case(
        "a member that is not there",
        "r.zip",
        many_members,
        "(?s)no file 'x'.*and 49,9.. more.{,100}$",
        options={"member": "x"},
    ),
    Case("escapes in members", "r.zip", zipped(("\x1b[31mred.csv", GOOD), ("b.csv", GOOD)), r"\\x1b\[31mred"),
    Case("absolute member", "r.zip", zipped(("/etc/passwd.csv", GOOD)), **FIRST),
    Case("member outside", "r.zip", zipped(("../../r.csv", GOOD)), **FIRST),
    Case("member twice", "r.zip", zipped(("r.csv", GOOD), ("r.csv", HEAD)), "r.csv.*twice"),
    Case("encrypted zip", "r.zip", encrypted(), "encrypted"),
    Case("zip in a zip", "r.zip", zipped(("in.zip", zipped(("r.csv", GOOD)))), "in.zip.*(archive|not utf-8)"),
    Case("cut zip", "r.zip", zipped(("r.csv", GOOD * 9))[:-60], "Get the file again"),
    Case("zip with a damaged member", "r.zip", zipped(("r.csv", GOOD)).replace(b"1,1,2", b"1,1,3"), "CRC"),
    Case(
        "unknown compression",
        "r.zip",
        zipped(("r.csv", GOOD)).replace(b"\x14\0\0\0\0\0", b"\x14\0\0\0\x63\0"),
        "r.zip",
    ),
    Case("folder in a zip", "r.zip", zipped(("folder/", b"")), "no file of rows"),
    Case("cut gzip", "r.csv.gz", gzip.compress(random.Random(0).randbytes(999))[:-500], "r.csv.gz"),
    Case("cut gzip of rows", "r.csv.gz", gzip.compress(GOOD.encode() * 99)[:-100], "Get the file again"),
    Case(
        "gzip with rubbish behind",
        "r.csv.gz",
        gzip.compress(GOOD.encode()) + b"rubbish",
        "Get the file again",
    ),
    Case("gzip in a gzip", "r.csv.gz", gzip.compress(gzip.compress(GOOD.encode())), "not utf-8 text"),
    Case("gzip in a zip", "r.zip", zipped(("r.csv.gz", gzip.compress(GOOD.encode()))), "r.csv.gz"),
    Case("7z", "r.7z", b"7z\xbc\xaf\x27\x1c" + random.Random(0).randbytes(99), "r.7z"),
    Case("bzip2", "r.csv.bz2", bz2.compress(GOOD.encode()), "r.csv.bz2"),
]

PARQUET = [
    Case("empty parquet", "r.parquet", b"", "r.parquet"),
    Case("cut parquet", "r.parquet", parquet(user=USERS, item=ITEMS)[:-20], "r.parquet"),
    Case(
        "damaged parquet",
        "r.parquet",
        parquet(user=USERS, item=ITEMS)[:20] + bytes(40) + parquet(user=USERS, item=ITEMS)[60:],
        "r.parquet",
    ),
    Case("text called parquet", "r.parquet", GOOD, "r.parquet"),
    Case(
        "parquet in a zip",
        "r.zip",
        zipped(("r.parquet", parquet(user=USERS, item=ITEMS))),
        users=["1", "1", "2"],
        items=ITEMS,
    ),
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
    Case("list as id", "r.parquet", parquet(user=[[1], [1], [2]], item=ITEMS), "for the user has the type"),
    Case("struct as id", "r.parquet", parquet(user=[{"a": 1}] * 3, item=ITEMS), "for the user has the type"),
    Case(
        "nested column beside",
        "r.parquet",
        parquet(user=USERS, item=ITEMS, x=[[{"a": 1}]] * 3),
        users=["1", "1", "2"],
        items=ITEMS,
    ),
    Case(
        "nested name",
        "r.parquet",
        parquet(user=USERS, item=ITEMS, **{"x.y": USERS}),
        users=["1", "1", "2"],
        items=ITEMS,
    ),
    Case(
        "dotted column chosen",
        "r.parquet",
        parquet(**{"x.user": USERS, "x.item": ITEMS}),
        users=["1", "1", "2"],
        items=ITEMS,
        options={"user": "x.user", "item": "x.item"},
    ),
    Case(
        "decimal rating",
        "r.parquet",
        parquet(user=USERS, item=ITEMS, rating=pa.array(USERS, pa.decimal128(9, 2))),
        users=["1", "1", "2"],
        items=ITEMS,
    ),
    Case(
        "decimal ids",
        "r.parquet",
        parquet(user=pa.array(USERS, pa.decimal128(9, 0)), item=ITEMS),
        "for the user has the type",
    ),
    Case(
        "date ids",
        "r.parquet",
        parquet(user=pa.array(USERS, pa.date32()), item=ITEMS),
        "for the user has the type",
    ),
    Case(
        "dictionary ids",
        "r.parquet",
        parquet(user=pa.array(ITEMS).dictionary_encode(), item=ITEMS),
        users=ITEMS,
        items=ITEMS,
    ),
    Case("null ids", "r.parquet", parquet(user=[1, None, 2], item=ITEMS), "row 2: the user is missing"),
    Case("null column", "r.parquet", parquet(user=pa.nulls(3), item=ITEMS), "the user is missing"),
    Case(
        "null ratings",
        "r.parquet",
        parquet(user=USERS, item=ITEMS, rating=[1.0, None, 2.0]),
        "row 2: the rating",
    ),
    Case(
        "float ids in parquet",
        "r.parquet",
        parquet(user=[1.0, 1.5, 2.0], item=ITEMS),
        users=["1.0", "1.5", "2.0"],
        items=ITEMS,
    ),
    Case(
        "whole floats as ids",
        "r.parquet",
        parquet(user=[1.0, 1.0, 2.0], item=ITEMS),
        users=["1.0", "1.0", "2.0"],
        items=ITEMS,
    ),
    Case("NaN ids", "r.parquet", parquet(user=[1.0, float("nan"), 2.0], item=ITEMS), "user"),
    Case(
        "boolean ids in parquet",
        "r.parquet",
        parquet(user=[True, False, True], item=ITEMS),
        "for the user has the type",
    ),
    Case(
        "text as bytes",
        "r.parquet",
        parquet(user=[b"a", b"\xc3\xa9", b"b"], item=ITEMS),
        users=["a", "é", "b"],
        items=ITEMS,
    ),
    Case(
        "bytes as ids",
        "r.parquet",
        parquet(user=[b"a", b"\xff", b"b"], item=ITEMS),
        "for the user has the type",
    ),
    Case(
        "uint64 ids",
        "r.parquet",
        parquet(user=pa.array([2**64 - 1, 1, 2], pa.uint64()), item=ITEMS),
        users=[str(2**64 - 1), "1", "2"],
        items=ITEMS,
    ),
    Case(
        "small ids",
        "r.parquet",
        parquet(user=pa.array(USERS, pa.int8()), item=ITEMS),
        users=["1", "1", "2"],
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
        users=["1", "1", "2"],
        items=ITEMS,
    ),
    Case(
        "time in ns",
        "r.parquet",
        parquet(user=USERS, item=ITEMS, rating=RATINGS, timestamp=pa.array([10**18] * 3, pa.timestamp("ns"))),
        users=["1", "1", "2"],
        items=ITEMS,
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
        parquet(user=USERS, item=ITEMS, rating=RATINGS, timestamp=pa.array([-5, 1, 1], pa.timestamp("s"))),
        "row 1: the time",
    ),
    Case(
        "duration as time",
        "r.parquet",
        parquet(user=USERS, item=ITEMS, rating=RATINGS, timestamp=pa.array([5, 1, 1], pa.duration("s"))),
        "r.parquet",
    ),
    Case("many columns", "r.parquet", parquet(**{f"c{n}": [1] for n in range(5_000)}), "(?s)^.{,1500}$"),
]

CASES = SPECIAL + TEXT + JSON + PACKED + PARQUET
