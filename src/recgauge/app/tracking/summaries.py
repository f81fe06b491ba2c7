"""A run record in the shapes that a tracker wants: flat numbers, curves over the cutoff, a note."""

import math
from typing import Any

from recgauge.models.fitting import leak_mark
from recgauge.report.marks import mark_lines
from recgauge.report.steps import filter_points, steps_markdown
from recgauge.runs.facts import SanityFacts
from recgauge.runs.record import RunRecord


def metric_values(record: RunRecord) -> dict[str, float]:
    """Return every number of a run under its tracker name.

    Headline metrics are plain (``ndcg_at_10``); standard errors, times and counts stand in sections of their
    own (``stderr/ndcg_at_10``, ``time/fit_seconds``, ``data/n_users``).
    """
    values: dict[str, float | None] = {**record.values()}
    values |= {f"stderr/{entry.key}": entry.stderr for entry in record.results}
    values |= {f"time/{stage}_seconds": seconds for stage, seconds in record.seconds.items()}
    values |= {f"data/{name}": count for name, count in record.counts.items()}
    values |= {f"data/{name}": count for name, count in _data_counts(record).items()}
    values |= {f"guards/{guard.name}": guard.value for guard in record.guards}
    if record.sanity is not None:
        values |= {f"sanity/chance_{key}": value for key, value in record.sanity.chance.items()}
        values |= {f"sanity/oracle_{key}": value for key, value in record.sanity.oracle.items()}
    known = {key: float(value) for key, value in values.items() if value is not None}
    return {key: value for key, value in known.items() if math.isfinite(value)}


def _data_counts(record: RunRecord) -> dict[str, float | None]:
    """Return the sizes of the data and of the parts of the split."""
    data, split = record.dataset, record.split
    counts: dict[str, float | None] = {
        "n_rows": data.n_rows,
        "n_users": data.n_users,
        "n_items": data.n_items,
    }
    counts["relevant_from"] = data.relevant_from
    for name, part in split.parts.items():
        counts |= {f"{name}_rows": part.rows, f"{name}_users": part.users}
    cold = ("test_cold_users", "test_cold_user_rows", "test_cold_items", "test_cold_item_rows")
    return counts | {name: getattr(split, name) for name in cold} | {"dropped_rows": split.dropped_rows}


def curve_points(record: RunRecord) -> list[tuple[str, int, float]]:
    """Return ``(name, k, value)`` of every metric with cutoffs, to draw the metric against k.

    The counts after each filter are curves, too: ``filters/rows`` against the number of filters.
    """
    return [
        *((entry.name, entry.k, entry.value) for entry in record.results if entry.k is not None),
        *filter_points(record),
    ]


def final_tags(record: RunRecord) -> dict[str, str]:
    """Return the tags that are known at the end: the note, digests, and each metric's definition."""
    tags = {
        "mlflow.note.content": summary_markdown(record),
        "recgauge.dataset_sha256": record.dataset.sha256,
        "recgauge.fingerprint": record.fingerprint(),
        "recgauge.judging.policies": record.policies,
        "recgauge.leak": leak_mark(record.fit_on) or "",
    }
    tags |= _mark_tags(record)
    for entry in record.results:
        cutoff = "" if entry.k is None else f"@{entry.k}"
        tags[f"definition.{entry.name}"] = entry.definition.replace(cutoff, "@k" if cutoff else "", 1)
    return {key: value for key, value in tags.items() if value}


def _mark_tags(record: RunRecord) -> dict[str, str]:
    """Return the tags that say what a reader of the numbers must know; empty ones are left out."""
    return {
        "recgauge.incomparable": record.incomparable,
        "recgauge.candidates_sha256": record.candidates_sha256,
        "recgauge.guards": ", ".join(g.name for g in record.guards if g.fired),
        "recgauge.overridden": ", ".join(g.name for g in record.guards if g.overridden),
        "recgauge.selected_on": record.settings.get("guards", {}).get("selected_on") or "",
    }


def flat_params(settings: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested settings as ``{"model.n_factors": "32"}``.

    Examples
    --------
    >>> flat_params({"model": {"n_factors": 32}, "cutoffs": [5, 10]})
    {'model.n_factors': '32', 'cutoffs': '[5, 10]'}
    """
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat |= flat_params(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = str(value)
    return flat


def summary_markdown(record: RunRecord) -> str:
    """Return the run's note: the command, the data, the numbers and their definitions."""
    names, data, split = record.names, record.dataset, record.split
    lines = [
        f"**{names['model']}** on **{names['dataset']}**, split {names['split']}, seed {record.seed}",
        "",
        *(f"> {line}" for line in mark_lines(record)),
        "",
        f"    {record.command}",
        "",
        *([f"**Marked**: {mark}", ""] if (mark := leak_mark(record.fit_on)) else []),
        f"{data.n_rows:,} rows, {data.n_users:,} users, {data.n_items:,} items "
        f"({data.provenance}; sha256 {data.sha256[:12]}...). "
        + "".join(f"{name} {part.rows:,} rows, " for name, part in split.parts.items())
        + ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in record.counts.items())
        + ".",
        "",
        *steps_markdown(record),
        "",
        "| metric | value | standard error | definition |",
        "| --- | ---: | ---: | --- |",
    ]
    for entry in record.results:
        stderr = "" if entry.stderr is None else f"{entry.stderr:.4f}"
        lines.append(f"| {entry.key} | {entry.value:.4f} | {stderr} | {entry.definition} |")
    if record.sanity is not None:
        lines += ["", *_sanity_lines(record.sanity)]
    lines += ["", *(f"- {name} refused: {reason}" for name, reason in record.refused.items())]
    return "\n".join([*lines, "", f"Policies: {record.policies}"])


def _sanity_lines(sanity: SanityFacts) -> list[str]:
    chance, oracle = sanity.chance, sanity.oracle
    lines = ["| metric | chance | best reachable |", "| --- | ---: | ---: |"]
    for key in chance:
        best = f"{oracle[key]:.4f}" if key in oracle else ""
        lines.append(f"| {key} | {chance[key]:.4f} | {best} |")
    return lines
