"""The figure of a published table: differences in tolerances, with the borders of the verdicts."""

from collections.abc import Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from recgauge.studies import Row
from recgauge.studies.verdicts import CLOSE, CLOSE_TOLERANCES, REPRODUCED

INK, NEAR, FAR = "#0072B2", "#DCEBF5", "#F1F1F1"
_LOOK: dict[Any, Any] = {
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}


def plot_differences(rows: Sequence[Row]) -> Figure:
    """Return a dot a number, ours minus published, in tolerances; the bands are "reproduced" and "close".

    Parameters
    ----------
    rows : sequence of dict
        Rows of results.csv that have a published number and ours.
    """
    shares = [float(row["difference"]) / float(row["tolerance"]) for row in rows]
    labels = [f"{row['dataset']}  {row['model']}  {row['metric'].replace('_at_', '@')}" for row in rows]
    edge = max(CLOSE_TOLERANCES + 1.0, *(abs(share) * 1.1 for share in shares))
    with rc_context(_LOOK):
        figure = Figure(figsize=(7.2, 1.3 + 0.26 * len(rows)), dpi=150, layout="constrained")
        panel = figure.subplots()
        panel.axvspan(-CLOSE_TOLERANCES, CLOSE_TOLERANCES, color=FAR, label=CLOSE)
        panel.axvspan(-1, 1, color=NEAR, label=REPRODUCED)
        panel.axvline(0, color="#9A9A9A", linewidth=1)
        panel.plot(shares, range(len(rows)), "o", color=INK)
        panel.set_yticks(range(len(rows)), labels)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.set_xlim(-edge, edge)
        panel.set_xlabel("ours minus published, in tolerances")
        figure.legend(loc="outside upper right", ncols=2, frameon=False)
        return figure
