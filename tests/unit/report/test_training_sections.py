"""A report of rating models that learn in epochs: errors by rating, calibration, loss by epoch."""

import pandas as pd
import pytest

from finished import finished
from recgauge.cli.commands.run_data import data_again
from recgauge.comparison import Procedure
from recgauge.comparison.runs import compare_runs
from recgauge.page import training
from recgauge.page.data import report_data
from recgauge.report.blocks import Pictures, TableBlock
from recgauge.report.comparison_tables import number
from recgauge.tracking import find_runs


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    words = ("metrics=[rating]", "split.validation_size=0.1")
    learned = finished(folder, "biased_mf", *words, "model.n_epochs=3", "learning.watch=true")
    return {"bias": finished(folder, "bias", *words), "biased_mf": learned}


@pytest.fixture(scope="module")
def data(folders):
    runs, notes = find_runs([str(folder) for folder in folders.values()], "sqlite:///none.db")
    return report_data(compare_runs(runs, Procedure(n_resamples=300), notes=notes), data_again)


def test_errors_are_shown_by_the_rating_that_was_given(data, folders):
    lead, (pictures, table) = training.ratings(data, data.parts[0])
    assert isinstance(table, TableBlock)
    for run, *cells in table.rows:
        rows = pd.read_parquet(folders[run] / "predictions.parquet")
        errors = (rows.predicted - rows.rating).groupby(rows.rating).mean()
        assert list(table.header[1:]) == [f"{rating:g}" for rating in errors.index]
        assert [cell.text for cell in cells] == [number(error, sign=True) for error in errors]
    assert "rating of 0.5" in lead  # few give it, and models shrink to the mean
    assert len(pictures.pictures[0].draw().axes[0].lines) == 3  # two runs and the diagonal


def test_loss_and_validation_value_are_drawn_by_epoch(data):
    lead, (pictures,) = training.learning(data, data.parts[0])
    assert isinstance(pictures, Pictures)
    assert lead.startswith("biased_mf keeps epoch ")
    for picture in pictures.pictures:
        (line,) = picture.draw().axes[0].lines
        assert line.get_xdata().tolist() == [1, 2, 3]
    assert training.searches(data, data.parts[0]) is None
