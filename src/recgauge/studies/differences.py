"""The figure of a published table: differences in tolerances, with the borders of the verdicts."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from recgauge.report.figures.style import PALETTE, look, new_figure
from recgauge.studies import Row
from recgauge.studies.verdicts import CLOSE, CLOSE_TOLERANCES, REPRODUCED

NEAR, FAR = "#DCEBF5", "#F1F1F1"


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
    with look():
        figure, (panel,) = new_figure(None, height=1.3 + 0.26 * len(rows))
        panel.grid(visible=False)
        panel.axvspan(-CLOSE_TOLERANCES, CLOSE_TOLERANCES, color=FAR, label=CLOSE)
        panel.axvspan(-1, 1, color=NEAR, label=REPRODUCED)
        panel.axvline(0, color="#9A9A9A", linewidth=1)
        panel.plot(shares, range(len(rows)), "o", color=PALETTE[0])
        panel.set_yticks(range(len(rows)), labels)
        panel.set_ylim(len(rows) - 0.5, -0.5)
        panel.set_xlim(-edge, edge)
        panel.set_xlabel("ours minus published, in tolerances")
        figure.legend(loc="outside upper right", ncols=2)
        return figure
