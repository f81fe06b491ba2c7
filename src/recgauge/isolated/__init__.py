"""Libraries that cannot be installed beside recgauge: uv runs a script for each in an environment of its own.

A script of `workers` names the packages that it needs, and pins the versions of all that come along. uv
installs them in its cache when the script first runs, and anew when the script names others.
"""

import os
import shutil
from pathlib import Path

from recgauge.errors import MissingLibraryError

WORKERS = Path(__file__).resolve().parent / "workers"


def find_uv() -> str:
    """Return the path of uv, which PyPI's package has, or of the program on the search path."""
    try:
        import uv

        return str(uv.find_uv_bin())
    except (ImportError, FileNotFoundError):
        if path := shutil.which("uv"):
            return path
    raise MissingLibraryError(
        "RecBole, LensKit and RecTools are installed and run by uv, which is not here. Install it with: "
        "pip install 'recgauge[isolated]'"
    )


def worker_environment(n_threads: int) -> dict[str, str]:
    """Return the variables of a worker: ours but those of our Python, with its number of threads."""
    variables = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return variables | dict.fromkeys(threads, str(n_threads))
