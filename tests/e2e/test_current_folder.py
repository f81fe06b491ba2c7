"""A folder that somebody else has filled steers no library of recgauge."""

import os
import subprocess
import sys

import numpy as np
import pytest

from conftest import REPOSITORY
from recgauge.cli.commands.cli import main
from recgauge.report.figures import plot_long_tail, save_png

pytestmark = pytest.mark.e2e

COMMANDS = {
    "run": ["run", "model=popularity", "tracking=off"],
    "sweep": ["run", "-m", "model=popularity,random", "jobs=2", "tracking=off"],
    "evaluate": ["evaluate", "--run", "lists.csv", "--truth", "truth.csv"],
    "package": ["package", "outputs"],
    "verify": ["verify", "outputs"],
    "report": ["report", "outputs"],
}
PYTHON = (
    "import recgauge; recgauge.BPR().fit(recgauge.Demo().load().interactions, "
    "rng=recgauge.stream(1, 'model'))"
)
FIGURE = (
    "import pathlib, numpy; from recgauge.report.figures import plot_long_tail, save_png; "
    "save_png(plot_long_tail(numpy.array([5, 3, 1])), pathlib.Path('figure.png'))"
)


@pytest.fixture
def steered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".numba_config.yaml").write_text(f"cache_dir: {tmp_path / 'kernels'}\ndisable_jit: 1\n")
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_starts_where_numba_would_obey_a_file(steered, capsys, name):
    assert main(COMMANDS[name]) == 1
    assert ".numba_config.yaml" in capsys.readouterr().err
    assert sorted(path.name for path in steered.iterdir()) == [".numba_config.yaml"]


def test_python_imports_no_numba_there(steered):
    done = subprocess.run([sys.executable, "-c", PYTHON], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "would obey this file" in done.stderr
    assert not (steered / "kernels").exists()


def test_matplotlibrc_of_the_folder_changes_no_figure(tmp_path):
    plain = save_png(plot_long_tail(np.array([5, 3, 1])), tmp_path / "plain.png").read_bytes()
    for name in ("steered", "pipe"):
        (tmp_path / name).mkdir()
    (tmp_path / "steered" / "matplotlibrc").write_text("axes.facecolor: red\nfont.size: 30\nno.such.key: 1\n")
    os.mkfifo(tmp_path / "pipe" / "matplotlibrc")
    for folder in ("steered", "pipe"):
        words = [sys.executable, "-c", FIGURE]
        done = subprocess.run(
            words, cwd=tmp_path / folder, capture_output=True, text=True, check=True, timeout=60
        )
        assert not done.stderr
        assert (tmp_path / folder / "figure.png").read_bytes() == plain


def test_modules_of_the_folder_are_not_imported(tmp_path):
    for name in ("numpy", "hydra_plugins", "platformdirs"):
        (tmp_path / f"{name}.py").write_text("open('marker', 'w').close()\n")
    words = [sys.executable, "-m", "recgauge", "data", "list"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "marker").exists()


def test_modules_of_the_folder_are_not_imported_beside_a_sweep(tmp_path):
    for name in ("signal", "tokenize", "tempfile", "selectors", "pickle", "numpy", "queue"):
        (tmp_path / f"{name}.py").write_text(f"open('marker-{name}', 'w').close()\n")
    words = [sys.executable, str(REPOSITORY / "run.py"), "-m", "model=popularity,random", "cutoffs=[5]"]
    done = subprocess.run([*words, "jobs=2", "tracking=off"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("marker-*"))
