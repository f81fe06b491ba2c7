"""A comparison as tables, from one set of texts: Markdown, HTML, terminal, and the words around them."""

import html as _html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recgauge.comparison import Comparison, DatasetsResult, MetricComparison, Pair, Procedure, RunRow
from recgauge.report import markdown_line, markdown_table

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

PAIR_COLUMNS = (
    *("difference", "interval", "corrected p", "better/equal/worse", "relative", "effect", "p"),
    *("detectable", "users needed"),
)
"""What is told of a pair; the first ones are shown where there is space for some only."""
CORRECTIONS = {
    "max_t": "corrected by the largest of all pairs' statistics (max-T)",
    "holm": "corrected by Holm's method",
    "bh": "corrected by Benjamini and Hochberg's method, which bounds the share of false findings",
    "none": "not corrected for the number of pairs",
}
INTERVALS = {
    "bca": "bootstrap over users, bias-corrected and accelerated",
    "percentile": "bootstrap over users, percentiles",
    "normal": "Student's t over users",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took: means over its seeds and folds; None where its record does not say.

    Parameters
    ----------
    fit_seconds, recommend_seconds : float or None
        Wall clock.
    peak_bytes : float or None
        The most that the process held from the fit on.
    model_bytes : float or None
        What the fitted model keeps.
    """

    fit_seconds: float | None = None
    recommend_seconds: float | None = None
    peak_bytes: float | None = None
    model_bytes: float | None = None


COSTS = {
    "fit_seconds": "fit s",
    "recommend_seconds": "lists s",
    "peak_bytes": "peak MB",
    "model_bytes": "model MB",
}
Costs = Mapping[tuple[str, str], Cost]
"""By data set and run."""


def shown(metric: str) -> str:
    """Return a metric's key as people write it.

    Examples
    --------
    >>> shown("ndcg_at_10")
    'ndcg@10'
    """
    return metric.replace("_at_", "@")


def number(value: float, *, sign: bool = False) -> str:
    """Return a value of a metric with four decimals, wherever it is written."""
    return f"{value:+.4f}" if sign else f"{value:.4f}"


def interval(one: RunRow | Pair, *, sign: bool = False) -> str:
    """Return an interval in brackets."""
    return f"[{number(one.low, sign=sign)}, {number(one.high, sign=sign)}]"


def deviation(row: RunRow) -> str:
    """Return what varies between seeds and folds; empty for a single run."""
    if row.repeats is None or row.repeats.deviation is None:
        return ""
    return f"±{number(row.repeats.deviation)} of {len(row.repeats.means)}"


def p_value(p: float) -> str:
    """Return a p-value with four decimals.

    Examples
    --------
    >>> p_value(0.0423), p_value(1e-9)
    ('0.0423', '<0.0001')
    """
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def pair_cells(pair: Pair) -> list[str]:
    """Return the texts of a pair under `PAIR_COLUMNS`."""
    shares = "/".join(f"{100 * share:.0f}" for share in (pair.better, pair.equal, pair.worse))
    return [
        number(pair.difference, sign=True),
        interval(pair, sign=True),
        p_value(pair.p_adjusted),
        f"{shares}%",
        "" if pair.relative is None else f"{100 * pair.relative:+.1f}%",
        "" if pair.effect_size is None else f"{pair.effect_size:+.2f}",
        p_value(next(iter(pair.p.values()))) if pair.p else "",
        "" if pair.detectable is None else number(pair.detectable),
        "" if pair.users_needed is None else f"{pair.users_needed:,}",
    ]


def cost_cells(cost: Cost | None) -> list[str]:
    """Return the texts of a run's costs under the names of `COSTS`."""
    cost = cost or Cost()
    seconds = [cost.fit_seconds, cost.recommend_seconds]
    sizes = [cost.peak_bytes, cost.model_bytes]
    return [
        *("" if value is None else f"{value:.2f}" for value in seconds),
        *("" if value is None else f"{value / 1e6:,.1f}" for value in sizes),
    ]


def on_dataset(comparison: Comparison, dataset: str) -> list[MetricComparison]:
    """Return the comparisons by each metric on one data set."""
    return [one for one in comparison.results if one.dataset == dataset]


def leaderboard(some: Sequence[MetricComparison]) -> list[tuple[str, list[RunRow]]]:
    """Return the runs, best by the first metric first, each with its rows by metric."""
    return [(row.run, [one.row(row.run) for one in some]) for row in some[0].rows]


def heading(some: Sequence[MetricComparison]) -> str:
    """Return which runs and users a table is of."""
    first = some[0]
    name = f"{first.dataset}: " if first.dataset else ""
    return f"{name}{len(first.rows)} runs, {first.n_users:,} users"


def explanation(procedure: Procedure, some: Sequence[MetricComparison]) -> str:
    """Return how intervals and letters came about, in one paragraph."""
    kind = f"{100 * procedure.confidence:g} % interval ({INTERVALS[procedure.interval]})"
    told = f"Mean over users with its {kind}"
    if any(row.repeats for row in some[0].rows):
        told += ", a user's value being its mean over seeds and folds; ±: deviation of their means"
    n_pairs = len(some[0].pairs)
    pairs = f"{n_pairs} pair{'s' if n_pairs != 1 else ''}"
    if procedure.baseline is not None:
        pairs += f" with {procedure.baseline}"
    alike = "Runs that share a letter are not shown to differ; " if procedure.baseline is None else ""
    return f"{told}. {alike}{pairs}, {CORRECTIONS[procedure.correction]}."


def markdown(comparison: Comparison, costs: Costs | None = None) -> str:
    """Return leaderboards, pairs and claims in Markdown; best in bold, second in italics."""
    parts = []
    for dataset in comparison.datasets:
        some = on_dataset(comparison, dataset)
        header, rows = _grid(some, costs or {})
        parts += [f"**{markdown_line(heading(some))}**", markdown_table(rows, header, right=header[1:])]
        parts += [markdown_line(explanation(comparison.procedure, some))]
        for one in some:
            parts += _pairs_markdown(one)
    for over in comparison.over_datasets:
        header, rows = rank_grid(over)
        parts += [f"**Mean ranks over {len(over.datasets)} data sets, {shown(over.metric)}**"]
        parts += [markdown_table(rows, header, right=header[1:])]
    parts += ["\n".join(f"- {markdown_line(claim)}" for claim in comparison.claims)]
    parts += ["\n".join(f"- Note: {markdown_line(note)}" for note in comparison.notes)]
    return "\n\n".join(part for part in parts if part)


def _grid(some: Sequence[MetricComparison], costs: Costs) -> tuple[list[str], list[list[str]]]:
    shown_costs = any((some[0].dataset, row.run) in costs for row in some[0].rows)
    header = ["run", *(shown(one.metric) for one in some), *(COSTS.values() if shown_costs else ())]
    rows = []
    for run, cells in leaderboard(some):
        texts = [_markdown_cell(row) for row in cells]
        rows.append([run, *texts, *(cost_cells(costs.get((some[0].dataset, run))) if shown_costs else ())])
    return header, rows


def _markdown_cell(row: RunRow) -> str:
    sign = "**" if row.is_best else "_" if row.is_second else ""
    parts = (f"{sign}{number(row.mean)}{sign}", interval(row), row.letters, deviation(row))
    return " ".join(part for part in parts if part)


def _pairs_markdown(one: MetricComparison) -> list[str]:
    if not one.pairs:
        return []
    header = [f"{shown(one.metric)}: a", "b", *PAIR_COLUMNS]
    rows = [[pair.a, pair.b, *pair_cells(pair)] for pair in one.pairs]
    return [markdown_table(rows, header, right=PAIR_COLUMNS)]


def rank_grid(over: DatasetsResult) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of runs over data sets: mean rank, then the mean on each."""
    header = ["run", "mean rank", *over.datasets]
    rows = [
        [run, f"{over.mean_ranks[run]:.2f}", *(number(over.values[run][one]) for one in over.datasets)]
        for run in over.runs
    ]
    return header, rows


def html(comparison: Comparison, costs: Costs | None = None) -> str:
    """Return leaderboards and claims in HTML, for notebooks; best in bold, second underlined."""
    parts = []
    for dataset in comparison.datasets:
        some = on_dataset(comparison, dataset)
        header, rows = _grid(some, costs or {})
        head = "".join(f"<th>{_html.escape(cell)}</th>" for cell in header)
        body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in rows)
        parts.append(f"<p>{_html.escape(heading(some))}</p><table><tr>{head}</tr>{body}</table>")
        parts.append(f"<p>{_html.escape(explanation(comparison.procedure, some))}</p>")
    claims = "".join(f"<li>{_html.escape(claim)}</li>" for claim in comparison.claims)
    return "".join(parts) + (f"<ul>{claims}</ul>" if claims else "")


def _html_cell(text: str) -> str:
    value, space, rest = text.partition(" ")
    if rest.startswith("["):  # an interval and its letters stay on one line
        rest = rest.replace(" ", "\N{NO-BREAK SPACE}")
    for sign, tag in (("**", "b"), ("_", "u")):
        if value.startswith(sign) and value.endswith(sign) and len(value) > 2 * len(sign):
            inside = _html.escape(value.removeprefix(sign).removesuffix(sign))
            return f"<td><{tag}>{inside}</{tag}> {_html.escape(rest)}</td>"
    return f"<td>{_html.escape(f'{value}{space}{rest}')}</td>"


def run_table(some: Sequence[MetricComparison], costs: Costs, columns: Sequence[str]) -> "Table":
    """Return a leaderboard for the terminal: means and letters with intervals below them; the best marked.

    Parameters
    ----------
    some : sequence of MetricComparison
        By metric, on one data set.
    costs : mapping of (str, str) to Cost
    columns : sequence of str
        Metrics and costs that are shown.
    """
    from rich.text import Text

    by_metric = {one.metric: one for one in some}
    rows = []
    for run, _ in leaderboard(some):
        known = dict(zip(COSTS, cost_cells(costs.get((some[0].dataset, run))), strict=True))
        cells = (
            Text(known[name]) if name in known else _rich_cell(by_metric[name].row(run)) for name in columns
        )
        rows.append([Text(run), *cells])
    return _rich_table(["run", *(COSTS.get(name) or shown(name) for name in columns)], rows)


def _rich_table(header: Sequence[str], rows: Sequence[Sequence["Text"]]) -> "Table":
    """Return a table in which only the first column may be folded: a cut number would be another number."""
    from rich.table import Table

    table = Table(pad_edge=False, box=None)
    for place, name in enumerate(header):
        lines = [name, *(line for row in rows for line in row[place].plain.split("\n"))]
        width = max(map(len, lines))
        if place == 0:
            table.add_column(name, overflow="fold", min_width=min(32, width))
        else:
            table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for row in rows:
        table.add_row(*row)
    return table


def _rich_cell(row: RunRow) -> "Text":
    from rich.text import Text

    value = f"{number(row.mean)}{'*' if row.is_best else ' '} {row.letters:<3}"
    lines = [value, interval(row), deviation(row)]
    return Text("\n".join(line for line in lines if line), style="bold green" if row.is_best else "")


def pair_table(one: MetricComparison, pairs: Sequence[Pair], columns: Sequence[str]) -> "Table":
    """Return pairs for the terminal, the chosen ones of `PAIR_COLUMNS`."""
    from rich.text import Text

    rows = []
    for pair in pairs:
        cells = dict(zip(PAIR_COLUMNS, pair_cells(pair), strict=True))
        style = "" if pair.differs else "dim"
        rows.append([Text(f"{pair.a} - {pair.b}", style), *(Text(cells[name], style) for name in columns)])
    return _rich_table([f"{shown(one.metric)}: a - b", *columns], rows)
