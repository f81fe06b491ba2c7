"""Every figure shows the numbers it was given, under the right names; what cannot be drawn is refused."""

import pytest

from recgauge.report.figures import (
    plot_metric_over_k,
)


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
