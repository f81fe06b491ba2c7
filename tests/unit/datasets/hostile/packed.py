"""Archives."""

import bz2
import gzip
import random
import zipfile

from unit.datasets.hostile.case import (
    FIRST,
    GOOD,
    HEAD,
    Case,
    encrypted,
    many_members,
    packed_blocks,
    zeros_in_zip,
    zipped,
)

PACKED = [
    Case("empty zip", "r.zip", zipped(), "r.zip"),
    Case("zip of many members", "r.zip", many_members, "(?s)member-0.csv.*and 49,9.. more.{,100}$"),
    Case(
        "a member that is not there",
        "r.zip",
        zipped(*((f"member-{n}.csv", b"") for n in range(300))),
        "(?s)got 'x'.*and 2.. more.{,100}$",
        options={"member": "x"},
    ),
    Case("escapes in members", "r.zip", zipped(("\x1b[31mred.csv", GOOD), ("b.csv", GOOD)), r"\\x1b\[31mred"),
    Case("absolute member", "r.zip", zipped(("/etc/passwd.csv", GOOD)), **FIRST),
    Case("member outside", "r.zip", zipped(("../../r.csv", GOOD)), **FIRST),
    Case("member twice", "r.zip", zipped(("r.csv", GOOD), ("r.csv", HEAD)), "r.csv, r.csv"),
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
    Case(
        "bzip2 in a zip",
        "r.zip",
        zipped(("r.csv", GOOD), compression=zipfile.ZIP_BZIP2),
        "in pieces.*deflate",
    ),
    Case(
        "LZMA in a zip", "r.zip", zipped(("r.csv", GOOD), compression=zipfile.ZIP_LZMA), "in pieces.*deflate"
    ),
    Case("7z", "r.7z", b"7z\xbc\xaf\x27\x1c" + random.Random(0).randbytes(99), "r.7z"),
    Case("rows", "r.csv.gz", packed_blocks(b"1,2,3,4\n" * 10**5, 1970), "about 19.,...,... rows", slow=True),
    Case(
        "zeros",
        "r.csv.gz",
        packed_blocks(bytes(1 << 20), 3 << 10),
        "line 1: .* bytes or more in one line",
        slow=True,
    ),
    Case("zeros in a zip", "r.zip", zeros_in_zip, "line 1: .* bytes or more in one line", slow=True),
    Case("bzip2", "r.csv.bz2", bz2.compress(GOOD.encode()), "r.csv.bz2"),
]
