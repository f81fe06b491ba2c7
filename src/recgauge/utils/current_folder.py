"""Settings that libraries read from the current folder, where an unpacked archive may have put them."""

import os
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from recgauge.errors import ConfigError

NUMBA_FILE, MATPLOTLIB_FILE = ".numba_config.yaml", "matplotlibrc"


def refuse_numba_file() -> None:
    """Refuse to compile where numba would obey a file of the current folder.

    It reads the file again before each function, nothing can keep it from that, and the folder of compiled
    functions that the file names holds pickles, which are code.
    """
    if Path(NUMBA_FILE).is_file():
        raise ConfigError(
            f"{Path.cwd() / NUMBA_FILE}: numba would obey this file, which can make it run code of whoever "
            "wrote it. Remove it, or start in another folder; set what you want of it by variables, such as "
            "NUMBA_NUM_THREADS."
        )


def import_matplotlib() -> None:
    """Import matplotlib from an empty folder where it would read a file of the current one."""
    if "matplotlib" not in sys.modules and os.path.lexists(MATPLOTLIB_FILE):
        with TemporaryDirectory(prefix="recgauge-") as empty, chdir(empty):
            import matplotlib  # noqa: F401
