"""Writes what a run leaves behind, so that anyone can recompute every number with another tool."""

import csv
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from omegaconf import OmegaConf

from recgauge.data.card import data_card
from recgauge.data.interactions import Interactions
from recgauge.data.lists import TopK
from recgauge.errors import ConfigError, ModelError
from recgauge.evaluation import described
from recgauge.evaluation.evaluate_ratings import RatingPredictions
from recgauge.evaluation.values import EvaluationInputs
from recgauge.metrics.curves.full_ranking import FullRankings, full_ranking_curves
from recgauge.models import Recommender
from recgauge.models.recommend import recommend, serving
from recgauge.report.card_tables import card_markdown
from recgauge.report.conventions import convention_values
from recgauge.runs.folder import MODEL
from recgauge.runs.record import RankingResult, RunRecord, RunResult
from recgauge.runs.settings import RunSettings, stores_model
from recgauge.runs.stored import LISTS, QUERIES, held_out_rows
from recgauge.utils.arrow import arrow_table, to_arrow
from recgauge.utils.checks import LongArray, check_bool
from recgauge.utils.progress import Progress, Timings

CONVENTIONS = "conventions.csv"
ROWS_OF_A_GROUP = 1_000_000


def write_run(
    result: RunResult, record: RunRecord, settings: RunSettings, folder: Path
) -> tuple[RunRecord, str | None]:
    """Write all files of a run but their digests.

    Returns the record with the seconds of the writing, and why the model is not saved.
    """
    write_tables(result, folder, lists=settings.artifacts.lists)
    unsaved = None
    timings = Timings(Progress())
    with timings.stage("card"):
        card = data_card(
            result.dataset,
            result.split,
            split_settings={**record.settings["split"], "seed": record.seed},
            digests={name: part.sha256 for name, part in record.split.parts.items()},
        )
        (folder / "data_card.json").write_text(card.to_json(), encoding="utf-8")
        (folder / "data_card.md").write_text(card_markdown(card), encoding="utf-8")
    if settings.figures:
        with timings.stage("figures"):
            _draw(result, record, folder)
    if settings.conventions_table and result.ranking is not None:
        with timings.stage("conventions"):
            _write_convention_table(result, result.ranking, settings.cutoffs, folder)
    if stores_model(settings):
        try:
            with timings.stage("model"):
                result.saved_model().save(folder / MODEL)
        except ModelError as error:  # the numbers are good all the same
            unsaved = str(error)
    job = record.job and replace(record.job, ended=time.time())
    record = replace(record, seconds=record.seconds | timings.seconds, job=job)
    write_record(record, folder)
    return record, unsaved


def write_tables(result: RunResult, folder: Path, *, lists: bool) -> None:
    """Write the run's tables as parquet, all with the publisher's ids: rows, lists, values, curves."""
    ids = result.split.test  # codes may be those of queries
    tables = {"test": held_out_rows(result.split.test), "per_user": _per_user(result)}
    if result.rating is not None:
        tables["predictions"] = _predictions(result.rating.predictions, ids)
    if result.ranking is not None and result.ranking.rankings is not None:
        tables |= _curves(result.ranking.rankings, np.diff(result.ranking.relevant.start))
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
    if result.ranking is not None and lists:
        _write_lists(result.ranking.top_k, ids, folder / LISTS)


def _draw(result: RunResult, record: RunRecord, folder: Path) -> None:
    from recgauge.report.figures.run import run_figures
    from recgauge.report.figures.style import save_png

    for name, figure in run_figures(record, result.split.train).items():
        save_png(figure, folder / "figures" / f"{name}.png")


def _write_convention_table(
    result: RunResult, ranking: RankingResult, cutoffs: Sequence[int], folder: Path
) -> None:
    """Write conventions.csv: the same lists under every convention.

    Some conventions count test users whom the run's own leaves out, so all test users have a list here.
    """
    users = result.split.test_users
    lists = EvaluationInputs(
        _lists_of_all(result, ranking), ranking.relevant, result.split.test.user_ids, users, ranking.catalogue
    )
    names = list(dict.fromkeys(entry.name for entry in ranking.evaluation.results))
    values = convention_values(names, lists, cutoffs=cutoffs)
    with (folder / CONVENTIONS).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["metric", "convention", "value", "definition"])
        writer.writerows(
            [v.key, v.convention, "" if v.value is None else v.value, v.definition] for v in values
        )


def _lists_of_all(result: RunResult, ranking: RankingResult) -> TopK:
    """Return the run's lists, with those of test users whom it has not listed."""
    listed, users = ranking.top_k, result.split.test_users
    rest = np.setdiff1d(users, listed.users)
    if len(rest) == 0 or not isinstance(result.model, Recommender):
        return listed
    k = listed.items.shape[1]
    more = recommend(
        serving(result.model, result.split), rest.astype(np.int32), k, candidates=ranking.candidates
    )
    order = np.argsort(np.concatenate((listed.users, rest)))
    rows = np.argsort(order)[: len(listed.users)]
    return TopK(
        users,
        np.concatenate((listed.items, more.items))[order],
        np.concatenate((listed.scores, more.scores))[order],
        None if listed.beyond is None else listed.beyond.spread(rows, len(users)),
    )


def write_record(record: RunRecord, folder: Path) -> None:
    """Write record.json, environment.json, guards.json and config.yaml."""
    guards = [asdict(guard) for guard in record.guards]
    texts = {
        "record.json": record.to_json(),
        "environment.json": json.dumps(record.environment, indent=2) + "\n",
        "guards.json": json.dumps(guards, indent=2, ensure_ascii=False) + "\n",
        "config.yaml": OmegaConf.to_yaml(OmegaConf.create(record.settings)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def _predictions(predictions: RatingPredictions, ids: Interactions) -> pa.Table:
    return arrow_table(
        {
            "user_id": ids.user_ids[predictions.user],
            "item_id": ids.item_ids[predictions.item],
            "rating": predictions.actual,
            "predicted": predictions.predicted,
            "impossible": predictions.impossible,
        }
    )


def _curves(rankings: FullRankings, n_relevant: LongArray) -> dict[str, pa.Table]:
    """Return the curves of the full rankings, as mean over users."""
    roc, over_k = full_ranking_curves(rankings, n_relevant)
    columns = {"k": over_k.k, "precision": over_k.precision, "recall": over_k.recall}
    tables = {"precision_recall": arrow_table(columns)}
    if roc is not None:
        columns = {
            "false_positive_rate": roc.false_positive_rate,
            "true_positive_rate": roc.true_positive_rate,
        }
        tables["roc"] = arrow_table(columns)
    return tables


def _per_user(result: RunResult) -> pa.Table:
    """Line up the per-user values of lists and ratings; NaN where a definition leaves a user out."""
    users = [evaluation.users for evaluation in result.evaluations if len(evaluation.users)]
    everybody = np.unique(np.concatenate(users))
    columns, higher, definitions = {"user_id": everybody}, {}, {}
    for evaluation in result.evaluations:
        rows = np.searchsorted(everybody, evaluation.users)
        for entry in evaluation.results:
            if entry.per_user is not None:
                columns[entry.key] = np.full(len(everybody), np.nan)
                columns[entry.key][rows] = entry.per_user
                if entry.pooled is not None and entry.k is not None:
                    columns[QUERIES] = entry.pooled.counts.astype(np.int64)
                higher[entry.key] = entry.higher_is_better
                definitions[entry.key] = f"{entry.definition}; {evaluation.policies}"
    table, about = arrow_table(columns), {"higher_is_better": higher, "definitions": definitions}
    return table.cast(described(table.schema, about))


# a quarter smaller than by default, see benchmarks/results.md
COLUMNS: dict[str, Any] = {
    "compression": "zstd",
    "use_dictionary": ["user_id", "item_id"],
    "column_encoding": {"rank": "DELTA_BINARY_PACKED", "score": "BYTE_STREAM_SPLIT"},
}


def check_study(settings: RunSettings, artifacts: Sequence[str]) -> None:
    """Refuse a setting ``artifacts.lists`` that is unknown or stores less than a study needs."""
    if not check_bool("artifacts.lists", settings.artifacts.lists) and LISTS in artifacts:
        raise ConfigError(
            f"artifacts.lists=false: the experiment's study needs {LISTS} of every run; leave it out."
        )


def _write_lists(top_k: TopK, ids: Interactions, file: Path) -> None:
    """Write recommendations.parquet: user_id, item_id, rank (from 1), score.

    A place of lists from outside that counts and hits nothing has no item_id.
    """
    user_ids, item_ids = to_arrow(ids.user_ids), to_arrow(ids.item_ids)
    schema = pa.schema(
        [
            ("user_id", user_ids.type),
            ("item_id", item_ids.type),
            ("rank", pa.int32()),
            ("score", to_arrow(top_k.scores[:0].ravel()).type),
        ]
    )
    size = max(1, ROWS_OF_A_GROUP // max(1, top_k.items.shape[1]))
    with pq.ParquetWriter(file, schema, **COLUMNS) as writer:
        for begin in range(0, max(1, len(top_k.users)), size):  # few users at a time: memory stays small
            part = slice(begin, begin + size)
            users, items, scores = top_k.users[part], top_k.items[part], top_k.scores[part]
            row, column = np.nonzero(items >= 0)
            codes = items[row, column]
            codes = pa.array(codes, mask=codes >= ids.n_items)  # a place that counts and hits nothing
            columns = (
                user_ids.take(to_arrow(users[row])),
                item_ids.take(codes),
                to_arrow((column + 1).astype(np.int32)),
                to_arrow(scores[row, column]),
            )
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
