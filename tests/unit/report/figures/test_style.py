"""One look, whatever the user's own settings are; files that do not change without need."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np

from recgauge.report.figures import plot_long_tail, plot_metric_over_k, save_png


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


def test_a_run_that_draws_nothing_does_not_import_matplotlib():
    code = "import sys, recgauge.sweeps.jobs, recgauge.sweeps.artifacts; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
