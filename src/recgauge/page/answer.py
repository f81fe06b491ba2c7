"""The first screen of a report: the answer in plain words, the exact one, one figure, what it is of."""

from datetime import UTC, datetime
from functools import partial

from recgauge.comparison.plain import plain_claim, winners_claim
from recgauge.errors import listed
from recgauge.metrics.names import metric_label
from recgauge.page.data import DatasetPart, ReportData
from recgauge.report import comparison_tables as tables
from recgauge.report.blocks import Folded, PageBlock, Picture, Pictures, Section, TableBlock, lines, slug
from recgauge.report.figures.compared import plot_means

MOST_ROWS = 12  # runs of the figure; the leaderboard has all
MOST_FIGURES = 4  # data sets
MOST_NOTES = 3  # more are folded


def answer(data: ReportData) -> Section:
    """Return the claims by the first metric for all to see, those by the others folded."""
    comparison = data.comparison
    headline, *details = plain_claim(comparison, comparison.datasets[0]).split("\n")
    blocks: list[PageBlock] = [*lines(details, "claims")]
    if len(comparison.datasets) > 1:
        headline = winners_claim(comparison)
        claims = [f"{dataset}: {plain_claim(comparison, dataset)}" for dataset in comparison.datasets]
        blocks = [*lines(claims, "claims")]
    claims_by_metric = [
        [claim for result in comparison.results if result.metric == metric for claim in result.claims]
        + [claim for over in comparison.over_datasets if over.metric == metric for claim in over.claims]
        for metric in comparison.metrics
    ]
    first, *rest = (lines(claims, "exact") for claims in claims_by_metric)
    several = len(comparison.datasets) > 1
    blocks += [Folded("In exact words", tuple(first), printed=True)] if several else first
    blocks += [_figures(data), TableBlock("", (), tuple(_facts(data)), look="facts")]
    blocks += lines(tables.marks_of(comparison), "marks")
    if rest:
        labels = ", ".join(map(metric_label, comparison.metrics[1:]))
        blocks.append(Folded(f"By other metrics: {labels}", tuple(block for own in rest for block in own)))
    notes, n_notes = lines(comparison.notes, "notes"), len(comparison.notes)
    blocks += [Folded(f"{n_notes} notes", tuple(notes), printed=True)] if n_notes > MOST_NOTES else notes
    return Section("The answer", headline, tuple(blocks))


def ranks(data: ReportData) -> Section | None:
    """Return mean ranks over several data sets by each metric; None for one data set."""
    over = data.comparison.over_datasets
    if not over:
        return None
    lead = " ".join([*over[0].claims, "A rank is the mean of a run's places on the data sets; 1 is best."])
    return Section("Mean ranks", lead, tuple(map(tables.rank_table, over)))


def _figures(data: ReportData) -> Pictures:
    """Return the means of all runs with their intervals, a figure for each of the first data sets."""
    comparison, drawn = data.comparison, []
    for dataset in comparison.datasets[:MOST_FIGURES]:
        result = comparison.result(comparison.metrics[0], dataset)
        metric, best = metric_label(result.metric), result.rows[0]
        interval = f"{100 * comparison.procedure.confidence:g} % interval"
        interval += ", which leaves out how seeds and folds vary" * any(
            row.repeats is not None for row in result.rows
        )
        caption = f"{metric} on {dataset}, mean over {result.unit} with its {interval}"
        if (n_more := len(result.rows) - MOST_ROWS) > 0:
            caption += f"; {n_more} more runs are in the leaderboard"
        shows = f"{best.run} has the best mean, {tables.number(best.mean)}."
        draw = partial(plot_means, result, most=MOST_ROWS)
        drawn.append(Picture(f"means_{slug(dataset)}", draw, caption, shows))
    return Pictures(tuple(drawn))


def _facts(data: ReportData) -> list[tuple[str, str]]:
    """Return what the numbers are of, when the runs ended, and the command that repeats them."""
    rows = [("data", _data(data, part)) for part in data.parts]
    repeats = next(
        (row.repeats for each in data.comparison.results for row in each.rows if row.repeats), None
    )
    if repeats is not None:
        first = f"who gains, who loses, example users and data card: the first alone, {repeats.labels[0]}"
        count = f"{len(repeats.labels)} seeds or folds, whose deviation the intervals leave out"
        rows.append(("means over", f"{count}; {first}"))
    records = [record for part in data.parts for _, record in part.records()]
    records.sort(key=lambda record: 0.0 if record.job is None else record.job.started)
    jobs = [record.job for record in records if record.job is not None]
    if ended := sorted(job.ended for job in jobs if job.ended):
        days = dict.fromkeys(f"{datetime.fromtimestamp(t, UTC):%Y-%m-%d}" for t in (ended[0], ended[-1]))
        rows.append(("date", " to ".join(days)))
    commands = [(record.job and record.job.command) or record.command for record in records]
    if commands := list(dict.fromkeys(filter(None, commands))):
        more = f", and {len(commands) - 1} more: see Behind the numbers" * (len(commands) > 1)
        rows.append(("command", f"{commands[0]}{more}"))
    return rows


def _data(data: ReportData, part: DatasetPart) -> str:
    records = [record for _, record in part.records()]
    facts, splits = records[0].dataset, dict.fromkeys(record.names.get("split", "none") for record in records)
    seeds = sorted({record.seed for record in records})
    users = data.comparison.result(data.comparison.metrics[0], part.name).users
    return (
        f"{part.name}: {facts.n_rows:,} rows of {facts.n_users:,} users and {facts.n_items:,} items; "
        f"split {listed(splits)}, seed{'s' if len(seeds) > 1 else ''} {listed(seeds, 5)}; evaluated: {users}"
    )
