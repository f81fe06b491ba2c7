"""Text whose rows or cells are odd."""

import random

from unit.datasets.hostile.case import FIRST, GOOD, HEAD, Case, csv

ROWS = [
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
    Case("decimal comma", "r.csv", "user;item;rating\n1;a;3,5\n", users=["1"], items=["a"]),
    Case("empty rating", "r.csv", csv("1,a,,1000"), "line 2: the rating is not a finite number: empty"),
    Case("negative time", "r.csv", csv("1,a,3,-5"), "line 2: the time is not in 1970..2100"),
    Case(
        "time in ms",
        "r.csv",
        csv("1,a,3,1500000000000"),
        "line 2: the time.*time_unit",
        options={"time_unit": "s"},
    ),
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
    Case("one column", "r.csv", "user\n1\n2\n", "cannot tell what separates the fields"),
]
