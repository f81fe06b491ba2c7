"""The model that a run saves gives the lists that the run has stored, bit for bit, under any candidates."""

from functools import cache

import pyarrow.parquet as pq
import pytest

from finished import experiment_of
from recgauge.experiment import run_experiment
from recgauge.models import SavedModel
from recgauge.sweeps.artifacts import write_tables

SMALL = (
    "filters=[sample_users,item_rows]",
    "filters.item_rows.at_least=6",
    "metrics=[ranking]",
    "cutoffs=[7]",
)


@cache
def result_of(*overrides):
    return run_experiment(experiment_of(*SMALL, *overrides))


def again(result, folder):
    result.saved_model().save(folder / "model")
    return SavedModel.load(folder / "model")


def check_lists(result, saved, folder):
    write_tables(result, folder, "true")
    lists = pq.read_table(folder / "recommendations.parquet").to_pandas()
    users = lists["user_id"].unique()
    for asked in (users, users[::-3]):  # some of them, in another order, have the same lists
        expected = lists.set_index("user_id").loc[asked].reset_index()
        rows = saved.rows(asked, 7)
        for name in expected:
            assert rows[name].dtype == expected[name].dtype
            assert rows[name].tolist() == expected[name].tolist(), name


@pytest.mark.parametrize(
    "overrides",
    [
        ("candidates=train_items",),
        ("candidates.seen=none",),
        ("split.validation_size=0.1",),
        ("split=strong_generalisation", "model=item_knn"),
    ],
)
def test_candidates_of_the_run_are_those_of_the_model(overrides, tmp_path):
    result = result_of(*overrides)
    check_lists(result, again(result, tmp_path), tmp_path)
