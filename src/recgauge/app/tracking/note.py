"""The note of a run: its numbers first, then data, command and definitions; shortened by whole lines."""

from collections.abc import Sequence

from recgauge.models.fitting import leak_mark
from recgauge.report.run_tables import mark_lines, steps_markdown
from recgauge.runs.facts import MetricValue, SanityFacts
from recgauge.runs.record import RunRecord

LONGEST = 7_900  # characters; MLflow cuts a tag at 8,000 without a word
SPACE = "&emsp;"  # MLflow draws columns of a table without space between them, and trims a plain space


def run_note(record: RunRecord) -> str:
    """Return the run's note in Markdown, at most as long as MLflow keeps."""
    names, data = record.names, record.dataset
    mark = leak_mark(record.fit_on)
    lines = [
        f"**{names['model']}** on **{names['dataset']}**, split {names['split']}, seed {record.seed}",
        "",
        *(f"> {line}" for line in mark_lines(record)),
        *([f"> **Marked**: {mark}"] if mark else []),
        "",
        *_table(record.results, {entry.key: _value(entry) for entry in record.results}),
        "",
        *_sanity_lines(record.results, record.sanity),
        f"    {record.command}",
        "",
        f"{data.n_rows:,} rows, {data.n_users:,} users, {data.n_items:,} items "
        f"({data.provenance}; sha256 {data.sha256[:12]}...). "
        + "".join(f"{name} {part.rows:,} rows, " for name, part in record.split.parts.items())
        + ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in record.counts.items())
        + ".",
        "",
        *steps_markdown(record),
        "",
        *(f"- {name}: {definition}" for name, definition in definitions(record).items()),
        *(f"- {name} refused: {reason}" for name, reason in record.refused.items()),
        "",
        f"Policies: {record.policies}",
    ]
    return shortened(lines, "record.json")


def definitions(record: RunRecord) -> dict[str, str]:
    """Return the definition of each metric, with ``@k`` for its cutoffs."""
    return {
        entry.name: entry.definition if entry.k is None else entry.definition.replace(f"@{entry.k}", "@k", 1)
        for entry in record.results
    }


def shortened(lines: Sequence[str], file: str) -> str:
    r"""Join lines; of a text that MLflow would cut, keep the first whole lines and name a file with the rest.

    Examples
    --------
    >>> shortened(["a", "b"], "record.json")
    'a\nb'
    >>> shortened(["first", "x" * 8000], "record.json").splitlines()
    ['first', '', 'The rest is in record.json.']
    """
    text = "\n".join(lines)
    if len(text) <= LONGEST:
        return text
    end = f"\n\nThe rest is in {file}."
    kept: list[str] = []
    left = LONGEST - len(end)
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join(kept) + end


def _table(results: Sequence[MetricValue], cells: dict[str, str]) -> list[str]:
    """Return metrics by cutoffs, one row per metric."""
    entries = [entry for entry in results if entry.key in cells]
    ks = list(dict.fromkeys(entry.k for entry in entries))
    keys = {(entry.name, entry.k): entry.key for entry in entries}
    heads = [SPACE + ("value" if k is None else f"@{k}") for k in ks]
    lines = [f"| metric | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(ks)]
    for name in dict.fromkeys(entry.name for entry in entries):
        row = [SPACE + cells[keys[name, k]] if (name, k) in keys else "" for k in ks]
        lines.append(f"| {name} | {' | '.join(row)} |")
    return lines


def _value(entry: MetricValue) -> str:
    return f"{entry.value:.4f}" + ("" if entry.stderr is None else f" ± {entry.stderr:.4f}")


def _sanity_lines(results: Sequence[MetricValue], sanity: SanityFacts | None) -> list[str]:
    if sanity is None:
        return []
    best = {key: f"{value:.4f}" for key, value in sanity.oracle.items()}
    cells = {key: f"{value:.4f} / {best.get(key, '')}" for key, value in sanity.chance.items()}
    return ["Chance / best reachable:", "", *_table(results, cells), ""]
