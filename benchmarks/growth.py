"""Draw how the cost of lists grows with users, items, factors and k, from results/topk.json, for docs/.

python benchmarks/growth.py
"""

import json
import re

from _measure import HERE
from matplotlib.figure import Figure

IMAGE = HERE.parent / "docs" / "images" / "growth.png"
PANELS = {
    "users": (r"growth in users, d=64, ([\d,]+) x", 10),
    "items": (r"growth in items, d=64, [\d,]+ x ([\d,]+)", 10),
    "factors (Gowalla)": (r"real gowalla, d=(\d+),", 10),
}


def points(rows, pattern, k):
    """Sizes and seconds of the rows of one panel, by size."""
    found = ((re.match(pattern, row["what"]), row) for row in rows if row["k"] == k)
    return sorted((int(match[1].replace(",", "")), row["lists s"]) for match, row in found if match)


def main():
    """Draw the four panels."""
    rows = json.loads((HERE / "results" / "topk.json").read_text(encoding="utf-8"))["rows"]
    panels = {name: points(rows, pattern, k) for name, (pattern, k) in PANELS.items()}
    panels["k (Gowalla, d = 64)"] = [
        (row["k"], row["lists s"]) for row in rows if row["what"].startswith("real gowalla, d=64,")
    ]
    figure = Figure(figsize=(10, 2.6), layout="constrained")
    for axes, (name, sizes) in zip(figure.subplots(1, 4), panels.items(), strict=True):
        x, y = zip(*sizes, strict=True)
        axes.loglog(x, y, marker="o", color="#0072b2", label="measured")
        axes.loglog(x, [y[0] * size / x[0] for size in x], ":", color="#777777", label="in proportion")
        axes.set_xticks(x, [f"{size:,}" for size in x], fontsize=7, rotation=30)
        ends = (min(y), max(y)) if max(y) > 1.5 * min(y) else (max(y),)
        axes.set_yticks(ends, [f"{seconds:.2f}" for seconds in ends])
        axes.minorticks_off()
        axes.set_xlabel(name)
        axes.tick_params(axis="y", labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("seconds")
    figure.axes[0].legend(frameon=False, fontsize=7)
    IMAGE.parent.mkdir(exist_ok=True)
    figure.savefig(IMAGE, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
