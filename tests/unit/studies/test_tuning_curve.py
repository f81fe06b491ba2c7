"""The page of a tuning curve is made from its rows."""

from recgauge.experiments.ease_curve.study import TuningCurve, is_point


def row(model, published, ours="", metric="ndcg_at_10"):
    verdict = "reproduced" if ours else "open"
    difference = f"{float(ours) - float(published):+.3g}" if ours else ""
    numbers = {"published": published, "ours": ours, "difference": difference, "verdict": verdict}
    return {
        "dataset": "ml_1m",
        "model": model,
        "metric": metric,
        "reason": "" if ours else "no model",
        **numbers,
    }


STUDY = TuningCurve("mine", drawn=("ndcg_at_10",), setting="model.l2")
ROWS = [
    row("EASE, l2 = 15", "0.25", "0.250001"),
    row("EASE, l2 = 15", "0.5", "0.50002", "map_at_10"),
    row("EASE, l2 = 700", "0.34", "0.34"),
    row("MostPop", "0.16", "0.16"),
    row("EASE, untuned (l2 = 3)", "0.24", "0.24"),
    row("ConvMF, tuned", "0.155"),
    row("NGCF, tuned", "0.1"),
]


def test_points_of_the_curve_are_known_by_their_labels():
    assert [is_point(one) for one in ROWS] == [True, True, True, False, False, False, False]


def test_the_page_shows_each_point_once_with_the_largest_difference_of_its_metrics():
    text = STUDY.markdown(ROWS)
    assert "| 15 | 0.2500000 | 0.2500010 | 2.0e-05 | 2 of 2 |" in text
    assert "| 700 | 0.3400000 | 0.3400000 | 0.0e+00 | 1 of 1 |" in text
    assert (
        text.index("| EASE, untuned (l2 = 3) |") < text.index("| MostPop |") < text.index("| NGCF, tuned |")
    )
    assert "7 published numbers: 5 reproduced, 2 open." in text
    assert "](curve.png)" in text


def test_the_curve_is_drawn_over_a_logarithmic_setting():
    (axes,) = STUDY.figures(ROWS)["curve"].axes
    published, ours = axes.lines[:2]
    assert (list(published.get_xdata()), list(ours.get_ydata())) == ([15, 700], [0.250001, 0.34])
    assert axes.get_xscale() == "log"
    assert {text.get_text() for text in axes.texts} == {
        "ConvMF, tuned; MostPop",
        "EASE, untuned (l2 = 3)",
        "NGCF, tuned",
    }


def test_without_runs_only_the_published_curve_is_drawn():
    assert STUDY.figures([row("EASE, l2 = 15", "0.25"), row("NGCF", "0.1")])["curve"].axes
