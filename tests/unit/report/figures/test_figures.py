"""Every figure shows the numbers it was given, under the right names; what cannot be drawn is refused."""

import numpy as np
import pytest

from recgauge.errors import ConfigError, DataError, MetricError, SchemaError
from recgauge.metrics.curves import precision_recall_curve, roc_curve
from recgauge.report.figures import (
    plot_coverage,
    plot_long_tail,
    plot_metric_over_k,
    plot_precision_recall_curve,
    plot_predicted_against_actual,
    plot_roc,
)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_long_tail_names_shares_and_marks_the_boundary():
    (axes,) = plot_long_tail(np.array([9, 4, 2, 1, 0]), head=0.8).axes
    assert texts(axes)[0] == "Head: 1 item (25.0 % of all)\nwith 56.2 % of the rows"
    assert texts(axes)[1] == "Tail: 3 items (75.0 % of all)\nwith 43.8 % of the rows"
    assert axes.lines[0].get_xdata()[0] == 1.5
    head, tail = (part.get_paths()[0].vertices[:, 1].max() for part in axes.collections)
    assert (head, tail) == (9, 4)


def test_metric_over_k_draws_values_and_intervals():
    lines = {"svd": [0.2, 0.3, 0.4], "popularity": [0.1, 0.1, 0.2]}
    figure = plot_metric_over_k([1, 5, 10], lines, stderr={"svd": [0.01, 0.01, 0.02]}, metric="nDCG")
    (axes,) = figure.axes
    svd, popularity = axes.containers
    assert svd[0].get_xdata().tolist() == [1, 5, 10]
    assert svd[0].get_ydata().tolist() == [0.2, 0.3, 0.4]
    bars = svd[2][0].get_segments()
    assert bars[2][:, 1] == pytest.approx([0.4 - 1.96 * 0.02, 0.4 + 1.96 * 0.02])
    assert popularity[2] == ()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["svd", "popularity"]
    assert axes.get_ylabel() == "nDCG"
    assert sorted(axes.get_xticks()) == [1, 5, 10]


def test_curves_name_their_areas():
    relevant, scores = [1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1]
    (axes,) = plot_precision_recall_curve(
        {"svd": precision_recall_curve(relevant, scores)}, relevant=0.5
    ).axes
    assert legend(axes) == ["svd (average precision 0.833)", "chance"]
    assert axes.lines[0].get_xdata().tolist() == [1.0, 1.0, 0.5, 0.0]
    (axes,) = plot_roc({"svd": roc_curve(relevant, scores)}).axes
    assert legend(axes) == ["svd (area 0.875)", "chance (area 0.5)"]
    assert axes.lines[0].get_ydata().tolist() == [0.0, 0.5, 1.0, 1.0]


def test_predictions_are_summed_up_per_actual_rating():
    actual = np.repeat([1.0, 3.0], 101)
    predicted = np.concatenate([np.linspace(1, 2, 101), np.linspace(2, 4, 101)])
    (axes,) = plot_predicted_against_actual(actual, predicted).axes
    assert axes.lines[-1].get_ydata().tolist() == [1.5, 3.0]
    wide, narrow = (lines.get_segments() for lines in axes.collections)
    assert wide[1][:, 1] == pytest.approx([2.1, 3.9])
    assert narrow[0][:, 1] == pytest.approx([1.25, 1.75])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1\n101", "3\n101"]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plot_metric_over_k([1, 2], {}), "nothing to draw"),
        (lambda: plot_metric_over_k([1], {"a": [np.nan]}), "a must be finite, got nan at position 0"),
        (lambda: plot_long_tail(np.zeros(3, np.int64)), "got none"),
        (lambda: plot_long_tail(np.ones(1, np.int64), head=0), "> 0 and <= 1, got 0"),
        (lambda: plot_coverage({"a": float("nan")}), "must be finite"),
        (lambda: plot_predicted_against_actual([1, 2], [1]), "predicted must hold 2 numbers"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises((MetricError, DataError, ConfigError, SchemaError), match=message):
        draw()
