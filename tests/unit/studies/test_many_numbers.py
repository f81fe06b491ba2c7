"""The page of a paper with many numbers of a model has a line for each model and data set."""

import pytest

from recgauge.experiments.intent_aware_2025.study import ManyNumbers
from recgauge.studies.published_table import NO_MODEL

STUDY = ManyNumbers("mine", drawn=("ndcg_at_10",))


def row(model, metric, difference, verdict="reproduced", dataset="beauty", reason=""):
    numbers = {"published": "0.123456", "ours": "0.123" if difference else "", "difference": difference}
    about = {"dataset": dataset, "model": model, "metric": metric, "reason": reason}
    return about | numbers | {"tolerance": "0.01", "verdict": verdict}


ROWS = [
    row("EASE", "ndcg_at_10", "+0.001"),
    row("EASE", "recall_at_20", "-0.02", "close"),
    row("TopPop", "recall_at_20", "+0.005"),
    row("TopPop", "recall_at_20", "", "open", dataset="gowalla", reason="no data"),
    row("CVAE", "recall_at_20", "", "open", reason=NO_MODEL),
]


@pytest.mark.parametrize(
    "line",
    [
        "| beauty | EASE | 0.12346 | 0.12300 | 1 | 1 |  | 2.0 (recall@20) |",
        "| beauty | TopPop |  |  | 1 |  |  | 0.5 (recall@20) |",
        "| gowalla | TopPop |  |  |  |  | 1 |  |",
        "5 published numbers: 2 reproduced, 1 close, 2 open.",
        "1 of them are open since recgauge has no such model: CVAE.",
    ],
)
def test_a_line_tells_the_verdicts_and_the_largest_difference_in_tolerances(line):
    assert line in STUDY.markdown(ROWS).splitlines()


def test_the_terminal_shows_the_verdicts_of_each_data_set():
    assert "| beauty | 2 | 1 | 1 |" in STUDY.summary(ROWS)
    assert "EASE" not in STUDY.summary(ROWS)


def test_without_runs_there_is_no_figure():
    assert STUDY.figures([row("EASE", "ndcg_at_10", "", "open")]) == {}
