"""Where files are: the configuration, the user's results and tracking store, a home for libraries."""

import os
import shlex
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal

from recgauge.experiments import FOLDER
from recgauge.tracking.store import set_variables
from recgauge.utils.files import is_writable, user_temporary
from recgauge.utils.messages import print_note
from recgauge.utils.secrets import without_secrets

_PACKAGE = Path(__file__).resolve().parent.parent
_CHECKOUT = _PACKAGE.parent.parent


def conf_folder() -> Path:
    """Return the folder of the configuration: inside an installed package, else the checkout's conf/."""
    inside = _PACKAGE / "conf"
    return inside if inside.is_dir() else _CHECKOUT / "conf"


def program(command: Literal["run", "ui"] = "run") -> str:
    """Return how a run, or the page of tracked results, is started here: in a checkout, or in any folder."""
    if Path(sys.argv[0]).stem == "recgauge" or Path.cwd() != _CHECKOUT:
        return f"recgauge {command}"
    return "python run.py" if command == "run" else "make ui"


def experiment_folder(name: str) -> Path:
    """Return where an experiment's published numbers and page are: in the current folder, else in ours."""
    here = Path("experiments") / name
    is_here = any((here / file).is_file() for file in ("published.csv", "README.md"))
    return here if is_here else FOLDER / name


@cache
def work_folder() -> Path:
    """Return the current folder, or one of the user's own where the current folder cannot be written.

    Containers mount code read-only; a run there must not end in an error about its output folder. What is
    used instead is said once.
    """
    here = Path.cwd()  # whole, since a component may go elsewhere
    if is_writable(here):
        return here
    home = _home_folder()
    if home is not None and is_writable(home):
        instead = home / "recgauge"
        instead.mkdir(exist_ok=True)
    elif (temporary := user_temporary()) is not None:
        instead = temporary
    else:
        return here  # the error of the first file that is written names the folder
    print_note(f"the current folder cannot be written; outputs and tracked runs go to {instead}")
    return instead


def store_of_user() -> str:
    """Return the address of the store that the environment names, else of one in the work folder."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{work_folder() / 'mlflow.db'}"


def experiment_of_user() -> str:
    """Return the MLflow experiment that the environment names, else recgauge's."""
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or "recgauge"


def served_by(uri: str, experiment: str) -> str | None:
    """Return the command that serves an experiment's pages; None of a server, which always does."""
    if uri.startswith("http"):
        return None
    words = [] if uri == store_of_user() else ["--uri", without_secrets(uri)]
    words += [] if experiment == experiment_of_user() else ["--experiment", experiment]
    return shlex.join(["recgauge", "ui", *words]) if words else program("ui")


def give_libraries_a_home() -> None:
    """Name a folder to libraries that keep something in a home folder, where there is none to write to.

    MLflow cannot be imported without a home folder, numba keeps its kernels there, and matplotlib its list of
    fonts.
    """
    home = _home_folder()
    if home is not None and is_writable(home):
        return
    folder = user_temporary() or (Path(mkdtemp(prefix="recgauge-")) if home is None else None)
    if folder is not None:
        set_variables({"MPLCONFIGDIR": str(folder / "matplotlib")})
        set_variables({"HOME": str(folder)} if home is None else {})


def _home_folder() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # neither HOME nor an entry of the user
        return None
