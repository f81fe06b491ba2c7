"""What a run shows in MLflow: params, tags, metrics, inputs, a note; what people compare by is in front."""

import colorsys
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from recgauge.evaluation import Evaluation
from recgauge.metrics import HEADLINE
from recgauge.metrics.names import headline_cutoff, split_key
from recgauge.models.recommend import leak_mark
from recgauge.report.blocks import Lines, lines, render_markdown
from recgauge.report.run_tables import filter_points, mark_lines, run_blocks
from recgauge.runs.folder import Failure, Summary
from recgauge.runs.record import JobFacts, RunRecord, coverage_counts
from recgauge.runs.settings import (
    FOLDS,
    LOCAL_DATASET_SETTINGS,
    LOCAL_ISOLATED_SETTINGS,
    NUMERIC,
    flat_settings,
    is_isolated,
    part,
)
from recgauge.tracking.writing import LONGEST

NOTE_TAG = "mlflow.note.content"
FINGERPRINT_TAG, FILES_TAG, SUMMARY_TAG = "recgauge.fingerprint", "recgauge.files_sha256", "recgauge.summary"
EVALUATED_TAG = "recgauge.evaluated"
"""Of a run whose evaluator has stored values of users by id: their file."""
SWEEP_TAG = "recgauge.sweep"
SEARCH_TAG, TRIAL_TAG, PARENT_TAG = "recgauge.search", "recgauge.trial", "mlflow.parentRunId"
NORMAL_95 = 1.959964  # quantile of the normal distribution
_SHARES = ("ndcg", "recall", "map", "mrr", "hit_rate", "f1", "precision")  # in [0, 1]
BY_CUTOFF = "by_cutoff/"
"""Before the names of metrics that are drawn against the cutoff: their newest value is that of the last."""
COUNTS = ("users_evaluated", "test_rows_dropped")
"""Metrics that are no measure of a model."""
LONGEST_ERROR, LONGEST_METRIC = 5_000, 250  # of a text, and of a metric's name
JUDGING_TAG, TRUTH_TAG = "recgauge.judging", "recgauge.truth"


def experiment_tag(experiment: str) -> str:
    """Return the tag of an experiment's runs; one each, since experiments may share a run."""
    return f"recgauge.experiment.{experiment}"


@dataclass(frozen=True, slots=True)
class Entry:
    """All that MLflow is told of a folder besides its files."""

    job: JobFacts
    status: str
    tags: Mapping[str, str]
    params: Mapping[str, str] = field(default_factory=dict)
    metrics: Sequence[tuple[str, float, int]] = ()
    inputs: Sequence[Mapping[str, str]] = ()


def entry_of(content: RunRecord | Failure | Summary) -> Entry:
    """Return what MLflow is told of a run, of a job that failed, or of a summary."""
    if isinstance(content, Summary):
        job = content.job
        own = {
            SUMMARY_TAG: content.subject,
            FINGERPRINT_TAG: content.fingerprint,
            NOTE_TAG: content.note,
        }
        values = [(key, value, 0) for key, value in content.values.items()]
        return Entry(job, "FINISHED", _job_tags(job) | own, metrics=values)
    names, settings = content.names, content.settings
    facts = content.job or JobFacts(f"{names['model']} · {names['dataset']}", 0.0)
    tags = _job_tags(facts) | _made_by(content.command, content.environment)
    tags["mlflow.runColor"] = colour(facts.name, names.get("dataset", ""))
    params = _params(settings, names, content.seed) if names else {}
    if isinstance(content, Failure):
        return Entry(facts, content.status, tags | {"error": content.error[:LONGEST_ERROR]}, params)
    metrics = [(key, value, 0) for key, value in metric_values(content).items()]
    metrics += [(name, value, k) for name, k, value in curve_points(content)]
    return Entry(facts, "FINISHED", tags | final_tags(content), params, metrics, dataset_inputs(content))


def trial_entries(record: RunRecord, parent: str) -> dict[str, Entry]:
    """Return what MLflow is told of each trial of a search, by number from 1: a run below the final one."""
    entries: dict[str, Entry] = {}
    if (search := record.search) is None or record.job is None:
        return entries
    began = record.job.ended - search.seconds  # as if one had followed the other up to the end of the job
    for trial in search.trials:
        number, ended = str(trial.number + 1), began + trial.seconds
        pruned = "pruned at " * (trial.state == "pruned")
        value = [] if trial.value is None else [f"{pruned}{trial.value:.4f}"]
        of = [record.names["model"], f"seed {record.seed}", record.names["dataset"]]
        name = " · ".join([f"{'best: ' * (trial == search.chosen)}trial {number}", *value, *of])
        tags = _job_tags(record.job) | {SEARCH_TAG: search.sha256, TRIAL_TAG: number, PARENT_TAG: parent}
        tags |= {f"recgauge.{group}": chosen for group, chosen in record.names.items()}
        tags |= {"recgauge.seed": f"{record.seed}", "recgauge.state": trial.state}
        tags |= {"error": trial.reason[:LONGEST_ERROR]} if trial.reason else {}
        key, epochs = f"validation/{search.metric}", [int(epoch) for epoch in trial.by_epoch]
        points = [(key, value, int(epoch)) for epoch, value in trial.by_epoch.items()]
        points += [] if trial.value is None else [(key, trial.value, max(epochs, default=0))]
        entries[number] = Entry(
            replace(record.job, name=name, started=began, ended=ended),
            "FAILED" if trial.state == "failed" else "FINISHED",
            tags,
            {f"model.{setting}": str(value) for setting, value in trial.settings.items()},
            [*points, ("seconds", trial.seconds, 0)],
        )
        began = ended
    return entries


def _job_tags(job: JobFacts) -> dict[str, str]:
    tags = {"mlflow.user": job.user, "mlflow.source.type": "LOCAL", SWEEP_TAG: job.sweep}
    if job.experiment:
        tags[experiment_tag(job.experiment)] = "true"
    return {key: value for key, value in tags.items() if value}


def _made_by(command: str, environment: Mapping[str, Any]) -> dict[str, str]:
    if not environment:
        return {}
    packages = {"python": environment["python"], **environment["packages"]}
    tags = {
        "recgauge.version": environment["recgauge"],
        "recgauge.versions": ", ".join(f"{key} {version}" for key, version in packages.items() if version),
        "recgauge.command": command,
        "mlflow.source.name": command.split(" ")[-1 if " " not in command else 1],
    }
    if theirs := environment.get("model_environment"):
        tags["recgauge.model_environment"] = ", ".join(
            f"{name} {version}" for name, version in theirs.items()
        )
    if environment["git_commit"]:
        tags["recgauge.git_dirty"] = str(environment["git_dirty"]).lower()
        tags["mlflow.source.git.commit"] = environment["git_commit"]
    return tags


def _params(settings: dict[str, Any], names: Mapping[str, str], seed: int) -> dict[str, str]:
    """Return the params: what people compare by, and every setting that can change a number."""
    split = settings.get("split") or {}
    fold = next((str(split[name]) for name in FOLDS if split.get(name) is not None), None)
    local = {f"dataset.{key}" for key in LOCAL_DATASET_SETTINGS if key != "path"}
    if is_isolated(settings.get("model")):
        local |= {f"model.{key}" for key in LOCAL_ISOLATED_SETTINGS}
    params = {
        key: value
        for key, value in flat_settings(part(settings, *NUMERIC)).items()
        if ".".join(key.split(".")[:2]) not in local
        and not key.endswith("_target_")
        and key != f"metrics.{value}"
    }
    return params | {**names, "seed": str(seed)} | ({} if fold is None else {"fold": fold})


PALETTE = {
    "popularity": "#7f7f7f", "random": "#b9b9b9", "svd": "#1f77b4", "item_knn": "#ff7f0e",
    "ease": "#2ca02c", "ials": "#d62728", "bpr": "#0d0df2", "slim": "#f65adc", "rp3beta": "#790640",
    "user_knn": "#d4bf54", "surprise_nmf": "#0b4bcb", "p3alpha": "#0bcbab", "biased_mf": "#794006",
    "svd_pp": "#f87ca5", "rating_knn": "#295629", "implicit_als": "#ba91e3", "lenskit": "#0dccf2",
    "recbole": "#f8a57c", "irspack": "#cc0df2", "surprise": "#762287", "cornac": "#667906",
    "rectools": "#abcb0b", "bias": "#9ec78a", "knn_means": "#f20d80", "knn_basic": "#294056",
    "knn_baseline": "#0bcb0b", "surprise_slope_one": "#ac5353",
    "surprise_co_clustering": "#067979", "implicit_bpr": "#563829",
    "implicit_item_item": "#464691", "implicit_lmf": "#a85af6",
    "random_rating": "#5a8ef6", "recorded": "#917846",
}  # fmt: skip
"""Colours of the built-in models, each as far from those before it as can be (CIELAB)."""


def colour(name: str, dataset: str) -> str:
    """Return a colour for a run's bars, which runs of one model share on all data sets, folds and seeds.

    A built-in model as it comes has its own of `PALETTE`, and a tuned one a darker one; with other settings,
    and of other models, the hue follows from the name.
    """
    parts = name.split(" · ")
    alike = [part for part in parts if part != dataset and not part.startswith(("seed ", "fold ", "window "))]
    if len(alike) == 1 and alike[0] in PALETTE:
        return PALETTE[alike[0]]
    if alike[1:] == ["tuned"] and (own := PALETTE.get(alike[0])):
        return "#" + "".join(f"{int(int(own[at : at + 2], 16) * 0.6):02x}" for at in (1, 3, 5))
    digest = sha256(" · ".join(alike).encode()).digest()
    hue, lightness = int.from_bytes(digest[:2], "big") / 65536, 0.35 + digest[2] % 3 * 0.13
    rgb = colorsys.hls_to_rgb(hue, lightness, 0.65)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def metric_values(record: RunRecord) -> dict[str, float]:
    """Return the numbers of a run under their names in MLflow, those to read first at the front.

    These are the metrics (``ndcg_at_10``), the ends of the 95 % intervals of the first ones
    (``ndcg_at_10_low``, ``..._high``: the mean over users ± 1.96 standard errors), what they are of
    (``users_evaluated``, ``test_rows_dropped``) and, where requested, the sanity rows
    (``sanity/chance_ndcg_at_10``). Standard errors are in the note and in record.json; other counts and times
    are tags; guards' values are in guards.json.
    """
    headline = headline_cutoff(entry.k for entry in record.results)
    order = {name: rank for rank, name in enumerate(HEADLINE)}
    ordered = sorted(
        record.results,
        key=lambda entry: (entry.k not in (headline, None), order.get(entry.name, len(order))),
    )
    values = {_shown(record, entry.key): entry.value for entry in ordered}
    for entry in ordered:
        if entry.name in HEADLINE and entry.k in (headline, None) and entry.stderr is not None:
            values |= interval_ends(_shown(record, entry.key), entry.value, NORMAL_95 * entry.stderr)
    values |= {_shown(record, name): n for name, n in coverage_counts(record).items() if name in COUNTS}
    if record.sanity is not None:
        for name, row in (("chance", record.sanity.chance), ("oracle", record.sanity.oracle)):
            values |= {_shown(record, f"sanity/{name}_{key}"): value for key, value in row.items()}
    return {key: float(value) for key, value in values.items() if math.isfinite(value)}


def interval_ends(key: str, mean: float, half: float) -> dict[str, float]:
    """Return the ends of an interval, half of whose width is given, by their names in MLflow.

    Those of metrics that lie in [0, 1] by definition end there.

    Examples
    --------
    >>> interval_ends("ndcg_at_10", 0.5, 0.25)
    {'ndcg_at_10_low': 0.25, 'ndcg_at_10_high': 0.75}
    >>> interval_ends("recall_at_10", 0.75, 0.5)
    {'recall_at_10_low': 0.25, 'recall_at_10_high': 1.0}
    """
    low, high = mean - half, mean + half
    if 0 <= mean <= 1 and split_key(key.rpartition("/")[2])[0] in _SHARES:
        low, high = max(low, 0.0), min(high, 1.0)
    return {f"{key}_low": low, f"{key}_high": high}


def metric_name(text: str) -> str:
    """Return a text as a name of a metric that MLflow takes.

    Examples
    --------
    >>> metric_name("ndcg@10/svd, k=8")
    'ndcg_10/svd_ k_8'
    """
    name = re.sub(r"[^\w .:/-]", "_", text)
    if len(name) <= LONGEST_METRIC:
        return name
    return f"{name[: LONGEST_METRIC - 9]} {sha256(text.encode()).hexdigest()[:8]}"  # ends tell names apart


def _shown(record: RunRecord, name: str) -> str:
    """Keep numbers of validation rows apart from those of test rows."""
    return f"validation/{name}" if record.evaluated_on == "validation" else name


def curve_points(record: RunRecord) -> list[tuple[str, int, float]]:
    """Return ``(name, k, value)`` to draw every metric with cutoffs against k: ``by_cutoff/ndcg``.

    The counts after each filter are curves, too: ``filters/rows`` against the number of filters; and so is a
    search, against the trials' numbers: ``search/ndcg_at_10``, the value of each on validation rows, and
    ``search/best_ndcg_at_10``, the best so far. ``search/importance_NAME`` says how much a setting mattered.
    """
    return [
        *(
            (_shown(record, f"{BY_CUTOFF}{entry.name}"), entry.k, entry.value)
            for entry in record.results
            if entry.k is not None
        ),
        *filter_points(record),
        *(("train/loss", point.epoch, point.loss) for point in record.learned),
        *((f"validation/{p.metric}", p.epoch, p.value) for p in record.learned if p.value is not None),
        *_search_points(record),
    ]


def _search_points(record: RunRecord) -> list[tuple[str, int, float]]:
    """Return the trials of a search as curves, and which settings mattered."""
    if (search := record.search) is None:
        return []
    points, finished = [], list[float]()
    for trial in search.trials:
        if trial.value is not None:
            points.append((f"search/{search.metric}", trial.number + 1, trial.value))
            finished += [trial.value] if trial.state == "finished" else []
        if trial.value is not None and finished:
            best = (max if search.higher_is_better else min)(finished)
            points.append((f"search/best_{search.metric}", trial.number + 1, best))
    return points + [(f"search/importance_{name}", 0, share) for name, share in record.importances.items()]


def final_tags(record: RunRecord) -> dict[str, str]:
    """Return the tags of what came out: note, digests, counts, seconds, marks, definitions."""
    data = record.dataset
    sizes = [f"{data.n_rows:,} rows", f"{data.n_users:,} users", f"{data.n_items:,} items"]
    sizes += [
        f"{name} {part.rows:,} rows of {part.users:,} users" for name, part in record.split.parts.items()
    ]
    counts = [f"{count:,} {name.replace('_', ' ')}" for name, count in record.counts.items()]
    tags = {
        NOTE_TAG: run_note(record),
        "recgauge.data": ", ".join([*sizes, f"{record.split.dropped_rows:,} rows dropped"]),
        "recgauge.counts": ", ".join(counts),
        "recgauge.seconds": ", ".join(f"{stage} {value:.2f}" for stage, value in record.seconds.items()),
        "recgauge.peak_bytes": str(record.memory.get("peak_bytes", "")),
        "recgauge.dataset_sha256": data.sha256,
        FINGERPRINT_TAG: record.fingerprint(),
        JUDGING_TAG: record.policies,
        "recgauge.ineligible": "" if record.ineligible is None else record.ineligible.sentence,
        "recgauge.list_order": record.list_order,
        "recgauge.leak": leak_mark(record.fit_on) or "",
        "recgauge.evaluate_on": record.evaluated_on,
        "recgauge.tuned": record.tuned,
        SEARCH_TAG: "" if record.search is None else record.search.sha256,
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

    MLflow shows its first lines: what marks the run, then the table.
    """
    notes = [f"command  {record.command}", *(f"{name}: {text}" for name, text in definitions(record).items())]
    blocks = run_blocks(record, notes)[1:]
    leak = leak_mark(record.fit_on)
    marks = lines([*mark_lines(record), *([leak] if leak else [])])
    rest = [block for block in blocks if not (isinstance(block, Lines) and block.look == "marks")]
    return shortened(spaced(render_markdown([*marks, *rest])).split("\n"), "record.json")


def spaced(markdown: str) -> str:
    r"""Return Markdown with space between the columns of tables, which MLflow draws without any.

    Examples
    --------
    >>> print(spaced("| run | @1 |\n| --- | ---: |\n| svd | 0.2 |"))
    | run | &emsp;@1 |
    | --- | ---: |
    | svd | &emsp;0.2 |
    """
    return re.sub(r"(?<=.\|) (?!---)", " &emsp;", markdown)


def definitions(record: RunRecord | Evaluation) -> dict[str, str]:
    """Return the definition of each metric, with ``@k`` for its cutoffs."""
    return {
        entry.name: entry.definition if entry.k is None else entry.definition.replace(f"@{entry.k}", "@k", 1)
        for entry in record.results
    }


def shortened(lines: Sequence[str], file: str, longest: int = LONGEST) -> str:
    r"""Join lines; of a text that MLflow would cut, keep the first whole lines and name a file with the rest.

    Examples
    --------
    >>> shortened(["a", "b"], "record.json")
    'a\nb'
    >>> shortened(["first", "x" * 8000], "record.json").splitlines()
    ['first', '', 'The rest is in record.json.']
    """
    text = "\n".join(lines)
    if len(text) <= longest:
        return text
    end = f"\n\nThe rest is in {file}."
    return text[: longest - len(end)].rpartition("\n")[0] + end


def dataset_inputs(record: RunRecord) -> list[dict[str, str]]:
    """Describe the train and the evaluated part as MLflow's inputs, each with the digest of its rows."""
    data = record.dataset
    return [
        {
            "name": data.name,
            "digest": part.sha256[:36],
            "source_type": "http" if data.source.startswith("http") else "code",
            "source": json.dumps({"uri": data.source, "sha256": data.sha256}),
            "profile": json.dumps({"num_rows": part.rows, "num_users": part.users}),
            "context": name,
        }
        for name, part in (("train", record.split.train), (record.split.evaluated, record.split.test))
    ]
