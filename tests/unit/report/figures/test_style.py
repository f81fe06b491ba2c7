"""One look, whatever the user's own settings are; files that do not change without need."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

from recgauge.report.figures import plot_long_tail, plot_metric_over_k, save_png
from recgauge.report.figures.style import PALETTE


def test_equal_figures_are_equal_files_of_modest_size(tmp_path):
    paths = [save_png(plot_long_tail(np.arange(2000)), tmp_path / folder / "tail.png") for folder in "ab"]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].stat().st_size < 100_000


def test_the_users_own_settings_neither_change_a_figure_nor_are_changed(tmp_path):
    plain = save_png(plot_metric_over_k([1], {"a": [0.5]}), tmp_path / "plain.png").read_bytes()
    with mpl.rc_context({"font.size": 20, "axes.grid": False, "text.color": "red"}):
        own = save_png(plot_metric_over_k([1], {"a": [0.5]}), tmp_path / "own.png").read_bytes()
        assert mpl.rcParams["font.size"] == 20
    assert own == plain


# of Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision
# deficiency", 2009, at full severity; for linear RGB
DEFICIENCIES = {
    "none": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_can_be_told_apart_with_any_colour_vision(deficiency):
    colors = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in PALETTE])
    seen = np.clip(colors**2.2 @ np.array(DEFICIENCIES[deficiency]).T, 0, 1) ** (1 / 2.2)
    distance = np.linalg.norm(seen[:, None] - seen[None], axis=2)[np.triu_indices(len(seen), 1)]
    assert distance.min() > 0.1


def test_a_run_that_draws_nothing_does_not_import_matplotlib():
    code = "import sys, recgauge.sweeps.jobs, recgauge.sweeps.artifacts; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
