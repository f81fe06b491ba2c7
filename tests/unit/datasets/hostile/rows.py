"""Text whose rows or cells are odd."""

import random

from unit.datasets.hostile.case import GOOD, HEAD, Case, csv

ROWS = [
    Case("empty", "r.csv", "", "is empty"),
    Case("only blank lines", "r.csv", "\n\n\n", "is empty"),
    Case("only a header", "r.csv", HEAD, "no row is left"),
    Case("NUL bytes in an id", "r.csv", csv("1,a\0b,3,1000"), r"line 2"),
    Case("only NUL bytes", "r.csv", bytes(100_000), "cannot tell|is empty|NUL"),
    Case("random bytes", "r.csv", random.Random(0).randbytes(100_000), "not utf-8 text"),
    Case(
        "BOM in the middle",
        "r.csv",
        csv("1,a,3,1000", "\ufeff2,a,3,1000"),
        "line 3.*begins with a byte order mark",
    ),
    Case("CR line ends", "r.csv", GOOD.replace("\n", "\r"), "carriage return"),
    Case("quote in the middle", "r.csv", csv('1,a"b,3,1000'), users=["1"], items=['a"b']),
    Case("rating overflows", "r.csv", csv("1,a,1e400,1000"), "line 2: the rating is not a finite number"),
    Case("hexadecimal rating", "r.csv", csv("1,a,0x10,1000"), "line 2: the rating is not a finite number"),
    Case("time overflows", "r.csv", csv(f"1,a,3,{10**30}"), "line 2: the time"),
    Case("no date", "r.csv", csv("1,a,3,2020-13-45"), "line 2: the time", options={"time_unit": "date"}),
    Case(
        "date far away", "r.csv", csv("1,a,3,0001-01-01"), "line 2: the time", options={"time_unit": "date"}
    ),
    Case("upper and lower case", "r.csv", csv("U,a,3,1", "u,a,3,1"), users=["U", "u"], items=["a", "a"]),
    Case("one letter, two spellings", "r.csv", csv("é,a,3,1", "é,a,3,1"), users=["é", "é"], items=["a", "a"]),
    Case("right to left", "r.csv", csv("\u202eabc,a,3,1"), users=["\u202eabc"], items=["a"]),
    Case("line separator in an id", "r.csv", csv("a\u2028b,a,3,1"), users=["a\u2028b"], items=["a"]),
    Case("escapes in an id and a bad row", "r.csv", csv("\x1b[2J,,3,1"), "line 2: the item is missing"),
    Case("a bad rating with escapes", "r.csv", csv("1,a,\x1b[2J,1"), r"line 2: the rating.*\\x1b\[2J"),
    Case(
        "empty names in the header",
        "r.csv",
        csv("1,a,9,3", head="user,item,,rating\n"),
        users=["1"],
        items=["a"],
    ),
]
