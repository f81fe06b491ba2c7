"""Draw how the cost of lists grows with users, items, factors and k, from results/topk.json, for docs/.

python benchmarks/growth.py
"""

import json
import re

from _measure import HERE
from matplotlib.ticker import MaxNLocator

from recgauge.report.figures.style import PALETTE, REFERENCE, count_axis, new_figure, save_svg

IMAGE = HERE.parent / "docs" / "images" / "growth.svg"
PANELS = {
    "users\n(of 26,744 items)": (r"growth in users, d=64, ([\d,]+) x", 10),
    "items\n(for 34,623 users)": (r"growth in items, d=64, [\d,]+ x ([\d,]+)", 10),
    "factors of the model\n(Gowalla)": (r"real gowalla, d=(\d+),", 10),
}


def points(rows, pattern, k):
    """Sizes and seconds of the rows of one panel, by size."""
    found = ((re.match(pattern, row["what"]), row) for row in rows if row["k"] == k)
    return sorted((int(match[1].replace(",", "")), row["lists s"]) for match, row in found if match)


def main():
    """Draw the four panels."""
    rows = json.loads((HERE / "results" / "topk.json").read_text(encoding="utf-8"))["rows"]
    panels = {name: points(rows, pattern, k) for name, (pattern, k) in PANELS.items()}
    panels["items in each list, k\n(Gowalla)"] = [
        (row["k"], row["lists s"]) for row in rows if row["what"].startswith("real gowalla, d=64,")
    ]
    with new_figure(None, height=2.5, panels=4, width=8.6) as (figure, all_axes):
        for axes, (name, sizes) in zip(all_axes, panels.items(), strict=True):
            x, y = zip(*sizes, strict=True)
            axes.plot(x, y, marker="o", color=PALETTE[0], label="measured")
            axes.plot([0, x[-1]], [0, y[0] * x[-1] / x[0]], label="if time grew in proportion", **REFERENCE)
            axes.set(xlim=(0, None), ylim=(0, None), xlabel=name)
            axes.xaxis.set_major_locator(MaxNLocator(2))
            count_axis(axes.xaxis)
        all_axes[0].set_ylabel("seconds for the lists\nof all users")
        figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    save_svg(figure, IMAGE)


if __name__ == "__main__":
    main()
