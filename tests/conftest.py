"""Fixtures for all tests: small data with known answers, and real archives where there are some."""

import gc
import os
import signal
from contextlib import contextmanager
from pathlib import Path

# Tests run side by side, and small products on two threads mostly wait for each other: an SVD of 40 x 40 has
# taken 39 s on a busy machine. Read by OpenBLAS when numpy is first imported, here and in subprocesses.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

from recgauge.cli.commands.cli import main
from recgauge.data.interactions import Interactions
from recgauge.datasets.demo import Demo
from recgauge.sweeps.places import work_folder

# A shell that starts tests in the background lets them ignore Ctrl-C, which tests send to programs of theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("default", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("default")

gc.disable()  # while tests are collected: nothing of them is let go


def pytest_configure(config):
    """Remove kernels that are older than a source beside theirs: numba does not look at helpers' files."""
    if hasattr(config, "workerinput"):
        return
    for index in (REPOSITORY / "src" / "recgauge").rglob("__pycache__/*.nbi"):
        sources = index.parents[1].glob("*.py")
        if index.stat().st_mtime < max(path.stat().st_mtime for path in sources):
            index.unlink()


def pytest_collection_finish():
    """Let the collector pass over modules and tests, which stay until the end."""
    gc.freeze()
    gc.enable()


REPOSITORY = Path(__file__).parents[1]
collect_ignore = ["differential/recbole_worker.py"]  # a script for RecBole's own environment


@pytest.fixture(autouse=True)
def work_folder_of_this_test():
    """A program asks once where it is started; tests start many in one process, each in its own folder."""
    work_folder.cache_clear()


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def demo():
    """The embedded data set, loaded once; its arrays are read-only."""
    return Demo().load()


@pytest.fixture(scope="session")
def mirror() -> str:
    """Folder with the publishers' archives: RECGAUGE_MIRROR, else a `shared/data` folder beside us."""
    named = os.environ.get("RECGAUGE_MIRROR")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if folder.is_dir():
        return str(folder.resolve())
    reason = f"no real data: set RECGAUGE_MIRROR to a folder with the archives ({folder} is none)"
    if os.environ.get("RECGAUGE_REQUIRE_DATA") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


class RecordedProgress:
    """Remembers what it was told."""

    def __init__(self):
        self.notes = []
        self.steps = []

    @contextmanager
    def step(self, name, total, unit):
        done = [0]
        self.steps.append((name, total, unit, done))

        def advance(more):
            done[0] += more

        yield advance

    def note(self, text):
        self.notes.append(text)


@pytest.fixture
def progress() -> RecordedProgress:
    return RecordedProgress()


def make_checkerboard(n_users: int = 40, n_items: int = 40) -> tuple[Interactions, np.ndarray]:
    """Even users took all even items, odd users all odd ones, but for one of their own each.

    Returns the training rows and, per user, the withheld item: what any model of taste must recommend.
    """
    user, item = np.meshgrid(np.arange(n_users), np.arange(n_items), indexing="ij")
    withheld = np.arange(n_users) % n_items
    taken = (user % 2 == item % 2) & (item != withheld[:, None])
    ids = np.arange(n_users), np.arange(n_items)
    train = Interactions(user[taken], item[taken], np.ones(taken.sum()), None, *ids)
    return train, withheld


@pytest.fixture
def command(capsys):
    """Run a command; returns its exit code, output and error."""

    def run(*words):
        code = main([*map(str, words)])
        return code, *capsys.readouterr()

    return run
