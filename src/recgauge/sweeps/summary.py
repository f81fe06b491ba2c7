"""What a tracking store is told of a comparison: its answer, a table with links, numbers."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time

from recgauge.comparison import Comparison
from recgauge.comparison.plain import plain_claim, winners_claim
from recgauge.comparison.results import MetricComparison
from recgauge.errors import listed
from recgauge.metrics.names import label
from recgauge.report import markdown_line, markdown_table
from recgauge.report.blocks import escaped
from recgauge.report.comparison_tables import interval, number, on_dataset, write_comparison
from recgauge.runs.environment import user_name
from recgauge.runs.folder import Summary, write_folder
from recgauge.runs.record import JobFacts
from recgauge.tracking.delivering import deliver
from recgauge.tracking.page import metric_name, shortened, spaced
from recgauge.tracking.store import Store

MOST_RUNS, MOST_LINKS = 12, 5  # of a table in the description, and of a run's seeds and folds


def comparison_summary(comparison: Comparison, job: JobFacts, name: str, runs: Mapping[Path, str]) -> Summary:
    """Return the summary of a comparison; `runs` are ids in the store by the folders of its runs."""
    tables = [_table(comparison, on_dataset(comparison, dataset), runs) for dataset in comparison.datasets]
    answers = [_answer(comparison, dataset) for dataset in comparison.datasets]
    parts = ["\n".join([answer, "", *table]) for answer, table in zip(answers, tables, strict=True)]
    text = "\n\n".join([*_first(comparison), *parts])
    claims = [f"- {markdown_line(claim)}" for claim in comparison.claims if escaped(claim) not in text]
    rest = [*claims, "", f"Every pair by every metric, and costs: {name}.md among the artifacts."]
    return Summary(
        job=job,
        subject=name,
        fingerprint=sha256(f"{name}\n{comparison.to_markdown()}\n".encode()).hexdigest(),
        note=shortened([*text.split("\n"), "", *rest], f"{name}.md"),
        values=_values(comparison),
        text=text,
    )


def log_comparison(store: Store, comparison: Comparison) -> str:
    """Write a comparison of anybody's runs back to its experiment, as a run and into the description.

    Returns
    -------
    str
        The run's id.
    """
    now, markdown = time(), comparison.to_markdown()
    first, *others = map(escaped, comparison.claims)
    lines = [f"**{first}**", "", *(f"- {claim}" for claim in others)]
    for dataset in comparison.datasets:
        lines += ["", *_table(comparison, on_dataset(comparison, dataset), {})]
    lines += ["", "Every pair: comparison.md among the artifacts."]
    summary = Summary(
        JobFacts(title(comparison, "comparison"), now, now, user_name(), store=store.plain()),
        "comparison",
        sha256(markdown.encode()).hexdigest(),
        shortened(lines, "comparison.md"),
        _values(comparison),
        "\n".join(lines),
    )
    with TemporaryDirectory() as folder:
        files = [Path(folder, f"comparison{suffix}") for suffix in (".md", ".csv", ".json")]
        write_folder(summary, Path(folder, "run"), write_comparison(comparison, files))
        return deliver(Path(folder, "run"), store)


def _first(comparison: Comparison) -> list[str]:
    """Return the answer over several data sets, in plain words; nothing of one."""
    return [f"**{escaped(winners_claim(comparison))}**"] if len(comparison.datasets) > 1 else []


def _answer(comparison: Comparison, dataset: str) -> str:
    """Return the answer on a data set in plain words, and in those of statistics."""
    place = f"{dataset}: " if dataset else ""
    result = comparison.result(comparison.metrics[0], dataset)
    first, *rest = plain_claim(comparison, dataset).split("\n")
    return "\n\n".join([f"**{escaped(place + first)}**", *map(escaped, [*rest, *result.claims[:1]])])


def _table(comparison: Comparison, results: list[MetricComparison], runs: Mapping[Path, str]) -> list[str]:
    rows = []
    for row in results[0].rows[:MOST_RUNS]:
        group = comparison.groups.get((results[0].dataset, row.run))
        ids = [runs[run.folder] for run in (group.runs if group else ()) if run.folder in runs]
        labels = row.repeats.labels if row.repeats is not None else ()
        links = [f"[{text}](runs/{run_id})" for text, run_id in zip(labels, ids, strict=False)][:MOST_LINKS]
        name = f"[{escaped(row.run)}](runs/{ids[0]})" if len(ids) == 1 else escaped(row.run)
        cells = []
        for each in (result.row(row.run) for result in results):
            mean = f"**{number(each.mean)}**" if each.is_best else number(each.mean)
            cells.append(" ".join([mean, *[interval(each)] * (each is row), each.letters]))
        rows.append([name, *cells, ", ".join(links) if len(ids) > 1 else ""])
    heads = [label(each.metric) for each in results]
    header = ["run", *heads, *(["runs"] if any(row[-1] for row in rows) else [])]
    table = spaced(markdown_table([row[: len(header)] for row in rows], header, heads)).split("\n")
    n_more = len(results[0].rows) - MOST_RUNS
    return [*table, *(["", f"{n_more} more runs are in the report."] if n_more > 0 else [])]


def _values(comparison: Comparison) -> dict[str, float]:
    """Return means of all runs, and the differences of the best ones with their intervals, as metrics."""
    values: dict[str, float] = {}
    metric = comparison.metrics[0]
    for dataset in comparison.datasets:
        result = comparison.result(metric, dataset)
        place = f" on {dataset}" if len(comparison.datasets) > 1 else ""
        values |= {f"{metric}/{row.run}{place}": row.mean for row in result.rows}
        best = comparison.procedure.baseline or result.rows[0].run
        for pair in (pair for pair in result.pairs if best in (pair.a, pair.b)):
            name = f"difference/{pair.a} - {pair.b}{place}"
            values |= {name: pair.difference, f"{name} low": pair.low, f"{name} high": pair.high}
            values[f"corrected_p/{pair.a} - {pair.b}{place}"] = pair.p_adjusted
    return {metric_name(name): value for name, value in values.items()}


def title(comparison: Comparison, name: str) -> str:
    """Return the name of the comparison's run: its first runs, the best in front, and its data."""
    runs = dict.fromkeys(row.run for result in comparison.results for row in result.rows)
    parts = [name, listed(list(runs), most=3), listed(list(filter(None, comparison.datasets)))]
    return " · ".join(filter(None, parts))
