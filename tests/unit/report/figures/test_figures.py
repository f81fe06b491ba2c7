"""Every figure shows the numbers it was given, under the right names; what cannot be drawn is refused."""

import numpy as np
import pytest

from recgauge.errors import MetricError, SchemaError
from recgauge.report.figures import plot_long_tail, plot_metric_over_k


def test_long_tail_names_shares_and_marks_the_boundary():
    (axes,) = plot_long_tail(np.array([5, 4, 2, 1, 0])).axes
    assert [text.get_text() for text in axes.texts] == [
        "Head: 1 items (25.0 % of all)\nwith 41.7 % of the rows",
        "Tail: 3 items (75.0 % of all)\nwith 58.3 % of the rows",
    ]
    assert axes.lines[0].get_xdata()[0] == 1.5
    assert [part.get_data().values.tolist() for part in axes.patches] == [[5], [4, 2, 1]]


def test_metric_over_k_draws_values_and_intervals():
    lines = {"svd": [0.2, 0.3, 0.4], "popularity": [0.1, 0.1, 0.2]}
    figure = plot_metric_over_k([1, 5, 10], lines, stderr={"svd": [0.01, 0.01, 0.02]}, metric="nDCG")
    (axes,) = figure.axes
    svd, _ = axes.containers
    assert svd[0].get_xdata().tolist() == [1, 5, 10]
    assert svd[0].get_ydata().tolist() == [0.2, 0.3, 0.4]
    bars = svd[2][0].get_segments()
    assert bars[2][:, 1] == pytest.approx([0.4 - 1.96 * 0.02, 0.4 + 1.96 * 0.02])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["svd", "popularity"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot_metric_over_k([1, 2], {}),
        lambda: plot_metric_over_k([1], {"a": [np.nan]}),
        lambda: plot_long_tail(np.zeros(3, np.int64)),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw):
    with pytest.raises((MetricError, SchemaError)):
        draw()
