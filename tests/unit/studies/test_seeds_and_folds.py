"""Few repeats are judged by all: what is wrong, what is shown, and what a start alone moves."""

import numpy as np
import pytest

from recgauge.experiments.seeds_and_folds.repeats import repeats_of
from recgauge.experiments.seeds_and_folds.study import SeedsAndFolds
from records import ended, metric, record_with

STUDY = SeedsAndFolds("seeds_and_folds")
# by seed and fold; b is better on one split of four, and its start alone moves it above a
VALUES = {"a": [[0.30, 0.32], [0.31, 0.30]], "b": [[0.20, 0.22], [0.35, 0.19]]}
STARTS = {"a": [0.30, 0.30], "b": [0.20, 0.40]}


def run(folder, model, split, fold, seed, mean):
    import pandas as pd

    own = folder / f"{model}-{split}-{fold}-{seed}"
    own.mkdir(exist_ok=True)
    users = pd.DataFrame({"user_id": range(4), "ndcg_at_10": mean + np.array([-0.01, 0.0, 0.0, 0.01])})
    users.to_parquet(own / "per_user.parquet")
    record = record_with(metric("ndcg", 10, mean, stderr=0.004))
    settings = {"seed": seed, "split": {"random_state": split, "fold": fold}}
    return ended({"dataset": "ml_100k", "model": model}, settings, record, own)


@pytest.fixture
def rows(tmp_path):
    runs = [
        run(tmp_path, model, seed, fold, seed, VALUES[model][seed][fold])
        for seed in (0, 1) for fold in (0, 1) for model in "ab"
    ]  # fmt: skip
    runs += [run(tmp_path, model, 0, 0, seed, STARTS[model][seed]) for seed in (0, 1) for model in "ab"]
    return STUDY.rows(runs, tmp_path)


def test_what_all_say_is_right_and_a_split_that_shows_the_opposite_is_wrongly_shown(rows):
    repeats = repeats_of(rows)
    assert [(repeats.models[a], repeats.models[b]) for a, b in repeats.pairs] == [("a", "b")]
    assert (repeats.gains < 0).tolist() == [[[False, False], [True, False]]]
    assert repeats.shown.tolist() == [[[1, 1], [-1, 1]]]
    assert repeats.starts.tolist() == [[0.30, 0.30], [0.20, 0.40]]


def test_the_page_counts_wrong_splits_folds_and_starts(rows):
    page = STUDY.markdown(rows)
    assert "| one split | 1 | 100.0 % | 25.0 % |" in page
    assert "| mean of five folds | 5 | 100.0 % | 0.0 % |" in page
    assert "| a > b | 0.0675 |" in page
    assert "| 25.0 % | 0.0 % | 50.0 % | 75.0 % | 25.0 % |" in page
