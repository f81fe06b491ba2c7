"""Published numbers: read strictly, matched with runs, judged in words that are defined."""

from pathlib import Path

import pytest

from recgauge.studies.published_table import (
    CLOSE,
    NOT_REPRODUCED,
    OPEN,
    REPRODUCED,
    UNKNOWN,
    PublishedNumber,
    compare,
    verdict,
)
from records import ended, metric, record_with

NUMBER = {
    "key": "rmse",
    "definition": "root of the mean squared error over rows",
    "label": "SVD",
    "dataset": "ml_100k",
    "value": "0.934",
    "tolerance": "0.003",
    "why": "chance of the start",
    "source": "README",
    "model": "biased_mf",
}


def run(value=0.93, fold=0, problem=None, **names):
    chosen = {"dataset": "ml_100k", "model": "biased_mf"} | names
    record = record_with(metric("rmse", None, value, definition="RMSE", higher_is_better=False), names=chosen)
    settings = {"split": {"fold": fold}, "model": {"n_factors": 100}}
    return ended(chosen, settings, None if problem else record, Path(), problem)


def published(**changes):
    return PublishedNumber(**NUMBER | changes)


@pytest.mark.parametrize(
    ("ours", "known", "word"),
    [
        (0.931, True, REPRODUCED),
        (0.93701, True, CLOSE),
        (0.943, True, CLOSE),
        (0.9431, True, NOT_REPRODUCED),
        (0.9431, False, UNKNOWN),
    ],
)
def test_verdicts_at_their_borders(ours, known, word):
    assert verdict(ours, 0.934, 0.003, protocol_stated=known) == word


def test_folds_are_averaged():
    row = compare(published(runs="2"), [run(0.93, fold=0), run(0.94, fold=1), run(5.0, model="bias")])
    assert (row["ours"], row["difference"], row["verdict"]) == ("0.935", "+0.001", REPRODUCED)
    assert row["runs"] == "2"
    assert row["definition"] == "RMSE"


@pytest.mark.parametrize(
    ("number", "runs", "reason"),
    [
        (published(model=""), [run()], "no such model yet"),
        (published(), [], "no run of this grid"),
        (published(runs="2"), [run()], "1 runs match where 2 are averaged"),
        (
            published(runs="2"),
            [run(), run(problem="ml-100k.zip: no such file\nmore")],
            "1 of 2 runs: ml-100k.zip",
        ),
    ],
)
def test_a_row_is_open_and_says_why(number, runs, reason):
    row = compare(number, runs)
    assert row["verdict"] == OPEN
    assert reason in row["reason"]
    assert row["ours"] == row["difference"] == ""
