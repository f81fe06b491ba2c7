"""What a report folds away: errors of predicted ratings by rating, and training in epochs."""

import re

import pandas as pd
import pytest

from finished import finished
from recgauge.cli.run_data import load_data
from recgauge.comparison import Procedure
from recgauge.comparison.runs import compare_runs
from recgauge.page.behind import behind
from recgauge.page.data import report_data
from recgauge.report.blocks import TableBlock
from recgauge.report.comparison_tables import number
from recgauge.tracking import find_runs


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    words = ("metrics=[rating]", "split.validation_size=0.1")
    learned = finished(folder, "biased_mf", *words, "model.n_epochs=3", "learning.watch=true")
    return {"bias": finished(folder, "bias", *words), "biased_mf": learned}


@pytest.fixture(scope="module")
def tables(folders):
    runs, notes = find_runs([str(folder) for folder in folders.values()], "sqlite:///none.db")
    data = report_data(compare_runs(runs, Procedure(n_resamples=300), notes=notes), load_data)
    return {block.caption: block for block in behind(data).blocks if isinstance(block, TableBlock)}


def test_errors_are_shown_by_the_actual_rating(tables, folders):
    table = tables["demo: mean of predicted less actual rating, by the actual rating"]
    for run, *cells in table.rows:
        rows = pd.read_parquet(folders[run] / "predictions.parquet")
        errors = (rows.predicted - rows.rating).groupby(rows.rating).mean()
        assert list(table.header[1:]) == [f"{rating:g}" for rating in errors.index]
        assert [cell.text for cell in cells] == [number(error, sign=True) for error in errors]


def test_loss_and_validation_values_are_shown_by_epoch(tables):
    ((run, epochs, kept, losses, metric, values),) = tables["demo: training in epochs"].rows
    assert (run, epochs, kept) == ("biased_mf", "3", "3")
    assert re.fullmatch(r"\d\.\d{4} to \d\.\d{4}", losses)
    assert metric
    assert re.fullmatch(r"1: \S+, 2: \S+, 3: \S+", values)
