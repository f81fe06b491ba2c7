"""What a choice does to values and order, from the rows of the study alone."""

import pytest

from recgauge.experiments.protocol_sensitivity.study import ProtocolSensitivity, moves
from recgauge.experiments.stability.study import read_rows


def row(dataset, choice, option, model, value, below=""):
    about = {"dataset": dataset, "choice": choice, "option": option, "n_users": "50", "model": model}
    return about | {"value": str(value), "higher_is_better": "true", "surely_below": below, "reason": ""}


TURNED = [
    row("ml_100k", "split", "random", "svd", 0.4),
    row("ml_100k", "split", "random", "ease", 0.3, "svd"),
    row("ml_100k", "split", "by time", "svd", 0.1, "ease"),
    row("ml_100k", "split", "by time", "ease", 0.15),
]
SAME = [
    row("ml_1m", "seed", seed, model, value)
    for seed, values in (("0", (0.4, 0.3)), ("1", (0.44, 0.33)))
    for model, value in zip(("svd", "ease"), values, strict=True)
]


def test_values_move_by_the_median_multiple_of_the_reference():
    (axis,) = read_rows(TURNED).axes
    assert moves(axis) == pytest.approx(((0.1 / 0.4 + 0.15 / 0.3) / 2,) * 2)


def test_the_page_tells_who_wins_where_and_what_is_missing():
    study = ProtocolSensitivity("protocol_sensitivity")
    missing = row("ml_1m", "", "", "bpr", "") | {"reason": "killed"}
    page = study.markdown([*TURNED, *SAME, missing])
    assert "| split | ml_100k | 2 | 1 of 1, 1! | × 0.38 to 0.38 | ease! |" in page
    assert "| seed | ml_1m | 2 | 0 of 1, 0! | × 1.10 to 1.10 | none |" in page
    assert "- open: ml_1m: bpr: killed" in page
    assert list(study.figures([*TURNED, *SAME])) == ["choices"]
