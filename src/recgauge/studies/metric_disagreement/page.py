"""The page of the disagreement of metrics, from the rows of results.csv."""

from collections import Counter
from collections.abc import Sequence

from recgauge.studies import Row
from recgauge.studies.files import markdown_table

HOUSE = "standard"


def page(rows: Sequence[Row]) -> str:
    """Return ranges, orders of the models and who computes what; missing runs are named."""
    measured = [row for row in rows if row["value"]]
    missing = [row for row in rows if not row["metric"]]
    parts = [f"- open: {row['dataset']} {row['model']}: {row['reason']}" for row in missing]
    lines = ["\n".join(parts)] if parts else []
    if measured:
        lines += [
            "### How far one number spreads by definition alone",
            _ranges(measured),
            "![Each metric of each model under every convention](ranges.png)",
            "### Does the order of the models change?",
            _orders(measured),
            "### Can a worse model look better, if two papers use two definitions?",
            _overlaps(measured),
            "### Who computes what",
            _definitions(measured),
            *_refusals([row for row in rows if row["metric"] and not row["value"]]),
        ]
    return "\n\n".join(lines)


def by_convention(rows: Sequence[Row], dataset: str, metric: str, model: str) -> dict[str, float]:
    """Return one model's values by convention."""
    wanted = (dataset, metric, model)
    return {
        row["convention"]: float(row["value"])
        for row in rows
        if (row["dataset"], row["metric"], row["model"]) == wanted
    }


def distinct(rows: Sequence[Row], column: str) -> list[str]:
    """Return the values of a column in the order in which they come."""
    return list(dict.fromkeys(row[column] for row in rows))


def label(metric: str) -> str:
    """Return a metric's key as people write it."""
    return metric.replace("_at_", "@")


def _ranges(rows: Sequence[Row]) -> str:
    models = distinct(rows, "model")
    cells = []
    for dataset in distinct(rows, "dataset"):
        for metric in distinct(rows, "metric"):
            values = [by_convention(rows, dataset, metric, model) for model in models]
            n_distinct = max(len({f"{value:.4f}" for value in own.values()}) for own in values)
            ranges = [_range(own) for own in values]
            cells.append([dataset, label(metric), str(len(values[0])), str(n_distinct), *ranges])
    header = ["data set", "metric", "conventions", "different values", *models]
    return markdown_table(cells, header, right=header[2:]) + (
        "\n\nLowest – highest over the conventions, and the ratio of the two."
    )


def _range(values: dict[str, float]) -> str:
    if not values:
        return ""
    low, high = min(values.values()), max(values.values())
    ratio = f" (×{high / low:.2f})" if low > 0 else ""
    return f"{low:.4f} – {high:.4f}{ratio}" if f"{low:.4f}" != f"{high:.4f}" else f"{low:.4f}"


def _orders(rows: Sequence[Row]) -> str:
    cells = []
    for dataset in distinct(rows, "dataset"):
        for metric in distinct(rows, "metric"):
            counted = Counter(_orders_of(rows, dataset, metric))
            told = "; ".join(f"{order} ({n})" for order, n in counted.most_common())
            cells.append([dataset, label(metric), told])
    return markdown_table(cells, ["data set", "metric", "order of the models (conventions that give it)"])


def _orders_of(rows: Sequence[Row], dataset: str, metric: str) -> list[str]:
    models = distinct(rows, "model")
    values = {model: by_convention(rows, dataset, metric, model) for model in models}
    shared = [name for name in distinct(rows, "convention") if all(name in values[m] for m in models)]
    return [" > ".join(sorted(models, key=lambda model: -values[model][name])) for name in shared]


def _overlaps(rows: Sequence[Row]) -> str:
    """Return, of each metric, the two models farthest apart whose order two conventions can turn round."""
    cells = []
    for dataset in distinct(rows, "dataset"):
        for metric in distinct(rows, "metric"):
            own = {m: by_convention(rows, dataset, metric, m) for m in distinct(rows, "model")}
            ranked = sorted((m for m in own if HOUSE in own[m]), key=lambda model: -own[model][HOUSE])
            cells += _farthest(dataset, metric, [(model, own[model]) for model in ranked])
    if not cells:
        return "No: the ranges of the models do not overlap."
    header = ["data set", "metric", "the worse model's highest", "the better model's lowest", "places apart"]
    said = f"Yes. Of each metric, the pair farthest apart in the order under `{HOUSE}`:"
    return f"{said}\n\n{markdown_table(cells, header, right=header[-1:])}"


def _farthest(dataset: str, metric: str, ranked: Sequence[tuple[str, dict[str, float]]]) -> list[list[str]]:
    """Return the row of the pair farthest apart that can be turned round, none if no pair can."""
    for places in range(len(ranked) - 1, 0, -1):
        for first in range(len(ranked) - places):
            pair = _overlap(*ranked[first], *ranked[first + places])
            if pair is not None:
                return [[dataset, label(metric), *pair, str(places)]]
    return []


def _overlap(
    better: str, its: dict[str, float], worse: str, others: dict[str, float]
) -> tuple[str, str] | None:
    """Return the two values that turn the order round, None if no two conventions do."""
    low = min(its, key=lambda name: its[name])
    high = max(others, key=lambda name: others[name])
    if others[high] <= its[low]:
        return None
    return f"{worse} {others[high]:.4f} ({high})", f"{better} {its[low]:.4f} ({low})"


def _definitions(rows: Sequence[Row]) -> str:
    """Return the definitions of each metric with the conventions that share them, on the first data set."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        names = found.setdefault((row["metric"], row["definition"]), [])
        if row["convention"] not in names:
            names.append(row["convention"])
    cells = [[label(metric), definition, ", ".join(names)] for (metric, definition), names in found.items()]
    table = markdown_table(cells, ["metric", "definition", "conventions"])
    return f"<details><summary>Definitions and their conventions</summary>\n\n{table}\n\n</details>"


def _refusals(rows: Sequence[Row]) -> list[str]:
    """Return which conventions refuse lists, how many sets of them, and the first reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        found.setdefault((row["metric"], row["convention"]), []).append(row["reason"])
    cells = [
        [label(metric), name, str(len(reasons)), reasons[0]] for (metric, name), reasons in found.items()
    ]
    header = ["metric", "convention", "sets of lists refused", "why, for the first"]
    return ["Conventions whose own code stops at such lists:", markdown_table(cells, header)] if cells else []
