"""What a run shows in MLflow: params, tags, metrics and a note; what people compare by is in front."""

import colorsys
import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from recgauge.app.tracking.environment import user_name
from recgauge.app.tracking.tracker import RunStart
from recgauge.models.fitting import leak_mark
from recgauge.report.run_tables import filter_points, mark_lines, steps_markdown
from recgauge.runs import HEADLINE
from recgauge.runs.facts import MetricValue, SanityFacts
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import (
    FREE_DATASET_SETTINGS,
    FREE_ISOLATED_SETTINGS,
    flat_settings,
    free_settings,
    is_isolated,
)

COMPARED = ("dataset", "model", "split", "fold", "seed", "candidates", "metrics", "conventions", "filters")
"""Params that runs are compared by; they are logged first, since MLflow keeps the order."""
"""Metrics that are logged, and drawn, before the others of a suite."""
NORMAL_95 = 1.959964  # quantile of the normal distribution
LONGEST = 7_900  # characters; MLflow cuts a tag at 8,000 without a word
SPACE = "&emsp;"  # MLflow draws columns of a table without space between them, and trims a plain space


def run_start(
    name: str,
    settings: dict[str, Any],
    names: Mapping[str, str],
    *,
    command: str,
    environment: Mapping[str, Any],
    extra: Mapping[str, str],
) -> RunStart:
    """Return name, params and tags of a run, known before it does anything.

    Parameters
    ----------
    name : str
        See `recgauge.app.names.run_name`.
    settings : dict
        The resolved configuration.
    names : mapping of str to str
        The chosen option of each group.
    command : str
        Gives the run again.
    environment : mapping of str to Any
        Versions and commit.
    extra : mapping of str to str
        More tags, such as those of a sweep or an experiment.
    """
    packages = {"python": environment["python"], **environment["packages"]}
    tags = {
        "recgauge.version": environment["recgauge"],
        "recgauge.versions": ", ".join(f"{key} {version}" for key, version in packages.items() if version),
        "recgauge.command": command,
        "mlflow.source.name": command.split(" ")[-1 if " " not in command else 1],
        "mlflow.source.type": "LOCAL",
        "mlflow.user": user_name(),
        "mlflow.runColor": _colour(name, names["dataset"]),
    }
    if theirs := environment.get("model_environment"):
        tags["recgauge.model_environment"] = ", ".join(f"{name} {one}" for name, one in theirs.items())
    if environment["git_commit"]:
        tags["recgauge.git_dirty"] = str(environment["git_dirty"]).lower()
        tags["mlflow.source.git.commit"] = environment["git_commit"]
    return RunStart(name, _params(settings, names), tags | dict(extra))


def _params(settings: dict[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """Return the params: first what people compare by, then every setting that can change a number."""
    split = settings.get("split") or {}
    fold = split.get("fold", split.get("window"))
    chosen = {**names, "seed": str(settings["seed"])} | ({} if fold is None else {"fold": str(fold)})
    first = {key: chosen[key] for key in COMPARED if key in chosen}
    kept = {key: value for key, value in settings.items() if key not in free_settings()}
    free = {f"dataset.{key}" for key in FREE_DATASET_SETTINGS if key != "path"}
    if is_isolated(settings.get("model")):
        free |= {f"model.{key}" for key in FREE_ISOLATED_SETTINGS}
    rest = {
        key: value
        for key, value in flat_settings(kept).items()
        if key not in free and not key.endswith("_target_") and key != f"metrics.{value}"
    }
    return {**first, **{key: value for key, value in rest.items() if key not in first}}


def _colour(name: str, dataset: str) -> str:
    """Return a colour for a run's bars that runs of one model share on all data sets, folds and seeds."""
    parts = name.split(" · ")
    alike = [part for part in parts if part != dataset and not part.startswith(("seed ", "fold ", "window "))]
    # with this number the built-in models differ most
    digest = sha256(f"2773{' · '.join(alike)}".encode()).digest()
    hue = int.from_bytes(digest[:2], "big") / 65536
    rgb = colorsys.hls_to_rgb(hue, 0.45, 0.55)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def metric_values(record: RunRecord) -> dict[str, float]:
    """Return the numbers of a run under their names in MLflow, those to read first at the front.

    These are the metrics (``ndcg_at_10``), the ends of the 95 % intervals of the first ones
    (``ci/ndcg_at_10_low``, ``..._high``: the mean over users ± 1.96 standard errors) and, where requested,
    the sanity rows (``sanity/chance_ndcg_at_10``). Standard errors are in the note and in record.json; counts
    and times are tags; guards' values are in guards.json.
    """
    ks = [entry.k for entry in record.results if entry.k is not None]
    headline = 10 if 10 in ks else max(ks, default=None)
    ordered = sorted(headline_first(record.results), key=lambda entry: entry.k not in (headline, None))
    values = {_shown(record, entry.key): entry.value for entry in ordered}
    values |= _interval_ends(record, headline)
    if record.sanity is not None:
        values |= {f"sanity/chance_{key}": value for key, value in record.sanity.chance.items()}
        values |= {f"sanity/oracle_{key}": value for key, value in record.sanity.oracle.items()}
    return {key: float(value) for key, value in values.items() if math.isfinite(value)}


def headline_first(results: Sequence[MetricValue]) -> list[MetricValue]:
    """Return results in their order, those of the metrics to read first in front."""
    order = {name: rank for rank, name in enumerate(HEADLINE)}
    return sorted(results, key=lambda entry: order.get(entry.name, len(order)))


def _interval_ends(record: RunRecord, headline: int | None) -> dict[str, float]:
    """Return the ends of the intervals of the metrics to read first, at one cutoff."""
    ends: dict[str, float] = {}
    for entry in record.results:
        if entry.name in HEADLINE and entry.k in (headline, None) and entry.stderr is not None:
            key, width = _shown(record, f"ci/{entry.key}"), NORMAL_95 * entry.stderr
            ends |= {f"{key}_low": entry.value - width, f"{key}_high": entry.value + width}
    return ends


def _shown(record: RunRecord, name: str) -> str:
    """Keep numbers of validation rows apart from those of test rows."""
    return f"validation/{name}" if record.evaluated_on == "validation" else name


def curve_points(record: RunRecord) -> list[tuple[str, int, float]]:
    """Return ``(name, k, value)`` of every metric with cutoffs, to draw the metric against k.

    The counts after each filter are curves, too: ``filters/rows`` against the number of filters.
    """
    return [
        *(
            (_shown(record, entry.name), entry.k, entry.value)
            for entry in record.results
            if entry.k is not None
        ),
        *filter_points(record),
        *(("train/loss", point.epoch, point.loss) for point in record.learned),
        *((f"validation/{p.metric}", p.epoch, p.value) for p in record.learned if p.value is not None),
    ]


def final_tags(record: RunRecord, seconds: Mapping[str, float]) -> dict[str, str]:
    """Return the tags that are known at the end: note, digests, counts, seconds, marks, definitions.

    Parameters
    ----------
    record : RunRecord
    seconds : mapping of str to float
        Of all stages, tracking among them.
    """
    data = record.dataset
    sizes = [f"{data.n_rows:,} rows", f"{data.n_users:,} users", f"{data.n_items:,} items"]
    sizes += [
        f"{name} {part.rows:,} rows of {part.users:,} users" for name, part in record.split.parts.items()
    ]
    counts = [f"{count:,} {name.replace('_', ' ')}" for name, count in record.counts.items()]
    tags = {
        "mlflow.note.content": run_note(record),
        "recgauge.data": ", ".join([*sizes, f"{record.split.dropped_rows:,} rows dropped"]),
        "recgauge.counts": ", ".join(counts),
        "recgauge.seconds": ", ".join(f"{stage} {value:.2f}" for stage, value in seconds.items()),
        "recgauge.peak_bytes": str(record.memory.get("peak_bytes", "")),
        "recgauge.dataset_sha256": data.sha256,
        "recgauge.fingerprint": record.fingerprint(),
        "recgauge.judging": record.policies,
        "recgauge.leak": leak_mark(record.fit_on) or "",
        "recgauge.evaluate_on": record.evaluated_on,
        "recgauge.tuned": "" if record.search is None else str(record.search),
        "recgauge.search": "" if record.search is None else record.search.sha256,
        "recgauge.incomparable": record.incomparable,
        "recgauge.candidates_sha256": record.candidates_sha256,
        "recgauge.guards": ", ".join(g.name for g in record.guards if g.fired),
        "recgauge.overridden": ", ".join(g.name for g in record.guards if g.overridden),
        "recgauge.selected_on": record.settings.get("guards", {}).get("selected_on") or "",
    }
    tags |= {f"definition.{metric}": definition for metric, definition in definitions(record).items()}
    return {key: value for key, value in tags.items() if value}


def run_note(record: RunRecord) -> str:
    """Return the run's note in Markdown, at most as long as MLflow keeps.

    MLflow shows its first lines: what marks the run, then the table with the metrics to read first.
    """
    names, data = record.names, record.dataset
    mark = leak_mark(record.fit_on)
    results = headline_first(record.results)
    marks = [f"> {line}" for line in mark_lines(record)] + ([f"> **Marked**: {mark}"] if mark else [])
    lines = [
        *([*marks, ""] if marks else []),
        *_table(results, {entry.key: _value(entry) for entry in results}),
        "",
        *_sanity_lines(results, record.sanity),
        f"**{names['model']}** on **{names['dataset']}**, split {names['split']}, seed {record.seed}",
        "",
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
