"""The recmetrics article: its protocol exactly, and its models' numbers when all get the same candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from recgauge.report import markdown_table
from recgauge.runs.folder import JobOutcome
from recgauge.studies import Row, Study, distinct, folded, missing_runs, number_row, where
from recgauge.studies.published_table import (
    COLUMNS,
    compare,
    published_markdown,
    read_published,
    verdict_lines,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.runs.record import RunRecord

ARTICLE, TEST_ITEMS, HONEST = "article", "test items for all", "honest"
PROTOCOLS = (ARTICLE, TEST_ITEMS, HONEST)
LABELS = {"random": "random", "popularity": "popularity", "biased_mf": "factor model"}
"""Model to its name in the article."""
COVERAGE = "prediction_coverage_at_10"
OTHERS = {
    COVERAGE: "coverage, %",
    "novelty_at_10": "novelty",
    "personalization_at_10": "personalization",
    "intra_list_similarity_at_10": "intra-list similarity",
    "mse": "MSE",
    "rmse": "RMSE",
}
CURVE = "mar"
"""The metric that the article draws over the cutoff."""
K = 10
MISSING = "{dataset}"


@dataclass(frozen=True)
class RecmetricsArticle(Study):
    """Compares with the article's numbers, and the three models' numbers under three protocols.

    Notes
    -----
    The protocols are distinguished by candidates and rows that the model learns from: *article* is the test
    items for the factor model and everything, with counts over all rows, for the others; *test items* gives
    them to all three; *honest* gives all three the catalogue without what the user has seen in training.
    """

    columns: ClassVar[tuple[str, ...]] = (*COLUMNS, "protocol", "stderr")
    name: str
    more_than: Mapping[str, int] = field(default_factory=dict)

    def check(self, source: Path) -> None:
        """Read published.csv."""
        read_published(source / "published.csv")

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:
        """Return one row per published number, then one per data set, protocol, model and metric at K = 10.

        The MAR has one at every cutoff.
        """
        numbers = read_published(source / "published.csv")
        nothing = {"protocol": ARTICLE, "stderr": ""}
        return [compare(number, runs) | nothing for number in numbers] + super().rows(runs, source)

    def about(self, run: JobOutcome) -> Row:
        """Return data set, model as the article calls it, and protocol."""
        named = super().about(run)
        model = LABELS.get(named["model"], named["model"])
        return named | {"model": model, "protocol": _protocols(run)[0]}

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:
        """Return one row per protocol that the run belongs to and metric."""
        return [
            {"protocol": protocol, "runs": "1"} | number_row(entry, "ours")
            for protocol in _protocols(run)
            for entry in record.results
            if entry.name == CURVE or entry.k in (None, K)
        ]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return orders, the line, other metrics and the published table; missing runs are named."""
        published, measured = apart(rows)
        lines = missing_runs(rows, MISSING)
        if measured:
            lines += [
                f"### MAR@{K} of the three models under three protocols",
                _orders(measured),
                "![MAR over the cutoff under three protocols](mar.png)",
                "### The factor model's line is a constant times K",
                _line(measured, published),
                f"### Beyond accuracy at {K}, and errors",
                _others(measured),
            ]
        if where(measured, metric=COVERAGE):
            lines.append("![Coverage of the three models under two protocols](coverage.png)")
        table = folded("All of them", published_markdown(published))
        return "\n\n".join([*lines, "### The article's own numbers", *verdict_lines(published), table])

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the MAR over the cutoff and the coverage under each protocol as figures."""
        from .figures import plot_coverages, plot_mar

        figures = {"mar": plot_mar(rows)} if any(row["ours"] for row in rows) else {}
        covered = where(apart(rows)[1], metric=COVERAGE)
        return figures | ({"coverage": plot_coverages(rows)} if covered else {})


def _protocols(run: JobOutcome) -> tuple[str, ...]:
    """Name the protocols that a run belongs to: the article's factor model is the one on test items, too."""
    if run.settings.get("fit_on") == "all":
        return (ARTICLE,)
    if run.names.get("candidates") != "test_items":
        return (HONEST,)
    return (ARTICLE, TEST_ITEMS) if run.names.get("model") == "biased_mf" else (TEST_ITEMS,)


def apart(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows of published numbers, and those of ours alone."""
    published = [row for row in rows if row["published"]]
    return published, [row for row in rows if row["ours"] and not row["published"]]


def value(rows: Sequence[Row], dataset: str, protocol: str, model: str, metric: str) -> Row | None:
    """Return the row of one number, or None."""
    found = where(rows, dataset=dataset, protocol=protocol, model=model, metric=metric)
    return found[0] if found else None


def mar_curve(rows: Sequence[Row], dataset: str, protocol: str, model: str) -> dict[int, float]:
    """Return the MAR at each cutoff where it is known."""
    found = {k: value(rows, dataset, protocol, model, f"{CURVE}_at_{k}") for k in range(1, K + 1)}
    return {k: float(row["ours"]) for k, row in found.items() if row is not None}


def _orders(rows: Sequence[Row]) -> str:
    models = list(LABELS.values())
    cells = []
    for dataset, protocol in product(distinct(rows, "dataset"), PROTOCOLS):
        found = {model: value(rows, dataset, protocol, model, f"mar_at_{K}") for model in models}
        cells.append([dataset, protocol, *map(_told, found.values()), _order(found)])
    table = markdown_table(cells, ["data set", "protocol", *models, "order"], right=models)
    return f"{table}\n\n± standard error over users."


def _told(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{float(row['ours']):.5f} ± {float(row['stderr']):.5f}" if row["stderr"] else row["ours"]


def _order(found: dict[str, Row | None]) -> str:
    """Return the models, best first; "=" where numbers are equal to the last digit."""
    values = {model: float(row["ours"]) for model, row in found.items() if row is not None}
    ranked = sorted(values, key=lambda model: -values[model])
    told = ranked[0] if ranked else ""
    for before, after in pairwise(ranked):
        told += f" {'=' if values[before] == values[after] else '>'} {after}"
    return told


def _line(measured: Sequence[Row], published: Sequence[Row]) -> str:
    cells = []
    for name, rows in (("published", as_measured(published)), ("ours", measured)):
        for arm in product(distinct(rows, "dataset"), (ARTICLE, HONEST), LABELS.values()):
            curve = mar_curve(rows, *arm)
            if len(curve) == K:
                cells.append([arm[0], name, *arm[1:], *_shares(curve)])
    header = [
        "data set",
        "numbers",
        "protocol",
        "model",
        "MAR@1",
        "MAR@5 / 5",
        "MAR@10 / 10",
        "lowest … highest",
    ]
    said = (
        "The last column is the range of MAR@K / (K × MAR@1) over K = 1 … 10: a line through zero has 1 "
        "throughout (the published numbers have six decimals)."
    )
    return f"{markdown_table(cells, header, right=header[4:])}\n\n{said}"


def as_measured(published: Sequence[Row]) -> list[Row]:
    """Return rows of published numbers as if they were measured."""
    return [{**row, "ours": row["published"]} for row in published]


def _shares(curve: Mapping[int, float]) -> list[str]:
    shares = [point / k for k, point in curve.items()]
    ratios = [share / shares[0] if shares[0] else 0.0 for share in shares]
    told = [f"{shares[k - 1]:.6f}" for k in (1, 5, 10)]
    return [*told, f"{min(ratios):.4f} … {max(ratios):.4f}"]


def _others(rows: Sequence[Row]) -> str:
    cells = []
    for arm in product(distinct(rows, "dataset"), (ARTICLE, HONEST), LABELS.values()):
        found = [value(rows, *arm, key) for key in OTHERS]
        cells.append([*arm, *("" if row is None else f"{float(row['ours']):.4f}" for row in found)])
    header = ["data set", "protocol", "model", *OTHERS.values()]
    return markdown_table(cells, header, right=header[3:]) + (
        "\n\nCoverage, the article's prediction coverage, counts the items in at least one list. Novelty "
        "goes by training rows; the article's own goes by all rows, test rows too."
    )
