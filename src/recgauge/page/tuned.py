"""What searches chose, what that reached, and whether a range was too narrow."""

from recgauge.errors import listed
from recgauge.metrics.names import metric_label
from recgauge.page.data import DatasetPart
from recgauge.report.blocks import Row, TableBlock
from recgauge.report.comparison_tables import number

_HEADER = (
    *("run", "seed", "chosen", "first trial, validation", "chosen, validation", "chosen, test"),
    *("trials and remarks", "what mattered"),
)
_NOTE = (
    "Validation and test values are of other rows, and the final model has learned from the validation rows, "
    "too. A validation value is the best of all trials and so somewhat too high; the test value is not. The "
    "first trial has the model's own settings if the ranges hold them. At an edge, a wider range may give "
    "more, where the setting allows one. What mattered for the best trials: shares of 1, "
    "from ten finished ones on."
)


def tuned_table(part: DatasetPart) -> list[TableBlock]:
    """Return a row for each search: what it chose, what that reached, and what to know of it."""
    rows: list[Row] = []
    metrics: dict[str, None] = {}
    for run, record in part.records():
        if (search := record.search) is None:
            continue
        metrics[metric_label(search.metric)] = None
        test = record.result(search.metric)
        trials = f"{len(search.trials)} {search.sampler}, {search.seconds:.0f} s"
        values = (search.trials[0].value, search.chosen.value, None if test is None else test.value)
        rows.append(
            (
                run,
                f"{record.seed}",
                search.chosen.words,
                *("" if value is None else number(value) for value in values),
                "; ".join([trials, *record.search_remarks]),
                record.mattered,
            )
        )
    header: tuple[str, ...] = _HEADER
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    caption = f"Settings chosen by {listed(metrics)} of validation rows, without a look at test rows"
    words = ("chosen", "trials and remarks", "what mattered")
    return [TableBlock(caption, header, tuple(rows), words=words, note=_NOTE, look="tuned")] if rows else []
