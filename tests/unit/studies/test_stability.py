"""The rows of the study tell its page, and missing runs stay open."""

from recgauge.experiments.stability.study import read_rows


def row(option, model, value, below="", choice="cutoff"):
    about = {"choice": choice, "option": option, "n_users": "50", "model": model, "value": str(value)}
    return about | {"higher_is_better": "true", "surely_below": below, "reason": ""}


ROWS = [
    row("10", "svd", 0.5),
    row("10", "ease", 0.4, "svd"),
    row("10", "bpr", 0.3, "svd; ease"),
    row("1", "svd", 0.4, "ease"),
    row("1", "ease", 0.6),
    row("1", "bpr", 0.41, "ease"),
]


def test_rows_give_back_orders_turns_and_winners():
    (axis,) = read_rows(ROWS).axes
    assert axis.order("1") == ["ease", "bpr", "svd"]
    turns = {(turn.better, turn.worse): turn.beyond_noise for turn in axis.turns()}
    assert turns == {("svd", "ease"): True, ("svd", "bpr"): False}
    assert axis.other_winners() == {"1": ("ease", True)}
