"""Text that is long, or in another encoding."""

from typing import Any

from unit.datasets.hostile.case import FIRST, GOOD, LONG, Case, csv, one_line_of_gigabytes

TOO_LONG = "line 2: the item is longer than"
SKIP, USER_LINES = {"on_bad_rows": "skip"}, {"format": "user_lines"}
MORE = "user,item,rating,timestamp,text\n"
NAMES = ",".join(f"c{n}" for n in range(50_000)) + "\n" + "1," * 50_000


def of(name: str, encoding: str, refused: str = "", content: str | bytes = GOOD, **read: Any) -> Case:
    """Say an encoding, which is none or not that of the file, or is."""
    return Case(name, "r.csv", content, refused, options={"encoding": encoding}, **read)


TEXT = [
    Case(
        "long user",
        "r.csv",
        csv("1,a,3,1", f"{LONG},a,3,1"),
        "line 3: the user is longer than .* characters.*20,000",
    ),
    Case("long item", "r.tsv", csv(f"1,{LONG},3,1").replace(",", "\t"), TOO_LONG),
    Case("long item after ::", "r.dat", f"1::b::3::1\n1::{LONG}::3::1\n", TOO_LONG),
    Case("long ids left out", "r.csv", csv("1,a,3,1", f"{LONG},a,3,1"), users=["1"], options=SKIP),
    Case("huge field", "r.csv", csv(f"1,a,3,1,{'y' * 3_000_000}", "2,b,3,1,z", head=MORE), users=["1", "2"]),
    Case("huge line", "r.csv", csv(f"1,a,3,1,{'y' * 30_000_000}", head=MORE), "r.csv"),
    Case(
        "one line of 100 MB",
        "r.csv",
        lambda path: path.write_bytes(b"y" * 10**8),
        "line 1: .* bytes or more in one line, at most 16,777,216.{,300}$",
        slow=True,
    ),
    Case(
        "one line of 3 GiB", "r.csv", one_line_of_gigabytes, "line 3: .* bytes or more in one line", slow=True
    ),
    Case("10 million columns", "r.csv", b"," * 10**7 + b"\n", "10,000,001 columns", slow=True),
    Case("many names in the header", "r.csv", NAMES, "(?s)^.{,1500}$", options={"header": True}),
    of("encoding that is none of text", "rot13", "encoding must be"),
    of("encoding from bytes to bytes", "base64", "encoding must be"),
    Case("UTF-16 without saying so", "r.csv", GOOD.encode("utf-16"), "not utf-8 text.*utf-16"),
    Case(
        "UTF-16 with two-sign separators",
        "r.dat",
        "1::a::3\n2::b::3\n".encode("utf-16"),
        users=["1", "2"],
        items=["a", "b"],
        options={"encoding": "utf-16"},
    ),
    of("UTF-16 that is cut", "utf-16", "not utf-16 text", GOOD.encode("utf-16")[:-1]),
    of("UTF-7", "utf-7", **FIRST),
    of("punycode", "punycode", "encoding|punycode"),
    of("idna", "idna", "encoding|idna"),
    of("latin-1", "latin-1", content=csv("é,a,3,1").encode("latin-1"), users=["é"], items=["a"]),
    Case("latin-1 far into the file", "r.csv", GOOD.encode() + b"\xe9,a,3,1\n", "encoding"),
    Case("surrogate bytes", "r.csv", csv("1,a,3,1").encode() + b"\xed\xa0\x80,a,3,1\n", "encoding"),
    Case("user lines with a long id", "r.txt", f"1 2 3\n2 {LONG}\n", TOO_LONG, options=USER_LINES),
    Case("atomic file without types", "r.inter", "user_id\titem_id\n1\ta\n", users=["1"], items=["a"]),
    Case("a web page", "r.csv", "<html>\n<body>Please, sign in</body>\n</html>\n", "r.csv"),
]
