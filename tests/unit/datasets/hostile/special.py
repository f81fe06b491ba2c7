"""Things that are no files, and files with odd names."""

import os
from pathlib import Path

from unit.datasets.hostile.case import FIRST, GOOD, NOT_A_FILE, Case, listen, loop

SPECIAL = [
    Case("fifo", "r.csv", os.mkfifo, NOT_A_FILE + " pipe"),
    Case("fifo in a pattern", "r.csv", os.mkfifo, NOT_A_FILE + " pipe", options={"path": "{}/*.csv"}),
    Case("socket", "r.csv", listen, NOT_A_FILE + " socket"),
    Case("endless device", "r.csv", lambda path: path.symlink_to("/dev/zero"), NOT_A_FILE + " device"),
    Case(
        "messages of the kernel",
        "r.csv",
        lambda path: path.symlink_to("/proc/kmsg"),
        NOT_A_FILE + " device|no such file",
    ),
    Case("folder", "r.csv", Path.mkdir, "there is no Parquet file"),
    Case("symlink loop", "r.csv", loop, "r.csv.*(symbolic links|no such file)"),
    Case("dangling symlink", "r.csv", lambda path: path.symlink_to("nowhere"), "no such file"),
    Case("name too long", "r.csv", GOOD, "no such file", options={"path": "{}/" + "x" * 5000}),
    Case("NUL in the name", "r.csv", GOOD, "no such file", options={"path": "{}/r\0.csv"}),
    Case("brackets in the name", "a[1].csv", GOOD, **FIRST),
    Case("newline in the name", "a\nb.csv", "user,item\n", r"a\\nb\.csv"),
    Case("escape in the name", "a\x1b[31mb.csv", "user,item\n", r"a\\x1b\[31mb\.csv"),
]
