"""Writes what a run leaves behind, so that anyone can recompute every number with another tool."""

import csv
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from omegaconf import OmegaConf

from recgauge.data.interactions import Interactions
from recgauge.errors import ModelError
from recgauge.evaluation.inputs import EvaluationInputs
from recgauge.evaluation.predict import RatingPredictions
from recgauge.metrics.curves.full_ranking import FullRankings, full_ranking_curves
from recgauge.report.conventions import ConventionValue, convention_values, spread_lines
from recgauge.report.data_card import data_card, write_card
from recgauge.runs.folder import MODEL, MODEL_FILES, write_checksums
from recgauge.runs.list_files import which_lists, write_lists
from recgauge.runs.record import RunRecord
from recgauge.runs.result import RankingResult, RunResult
from recgauge.runs.settings import RunSettings, stores_model
from recgauge.utils.arrow import arrow_table
from recgauge.utils.checks import LongArray
from recgauge.utils.progress import NoProgress, Progress, Timings

CONVENTIONS = "conventions.csv"
PER_USER = "per_user.parquet"


def write_run(
    result: RunResult, record: RunRecord, settings: RunSettings, folder: Path, progress: Progress
) -> tuple[RunRecord, list[Path], list[str], str | None]:
    """Write all files of a run, the digests of the others last.

    Returns the record with the seconds of the writing, the files, what the user should read of them, and why
    the model is not saved.
    """
    files = write_tables(result, folder, which_lists(settings.artifacts.lists), progress)
    said: list[str] = []
    unsaved = None
    timings = Timings(NoProgress())
    with timings.stage("card"):
        files += _write_card(result, record, folder)
    if settings.figures:
        with timings.stage("figures"):
            files += _draw(result, record.names, folder)
    if settings.conventions_table and result.ranking is not None:
        with timings.stage("conventions"):
            values = _write_convention_table(result, result.ranking, settings.cutoffs, folder)
        files.append(folder / CONVENTIONS)
        said = [*spread_lines(values), f"         every value and definition: {CONVENTIONS}"]
    if stores_model(settings):
        try:
            with timings.stage("model"):
                result.saved_model().save(folder / MODEL)
            files += [folder / name for name in MODEL_FILES]
        except ModelError as error:  # the numbers are good all the same
            unsaved = str(error)
    job = record.job and replace(record.job, ended=time.time())
    record = replace(record, seconds=record.seconds | timings.seconds, job=job)
    files += write_record(record, folder)
    return record, [*files, write_checksums(files, folder)], said, unsaved


def write_tables(result: RunResult, folder: Path, lists: str, progress: Progress) -> list[Path]:
    """Write the run's tables as parquet, all with the publisher's ids: rows, lists, values, curves."""
    ids = result.dataset.interactions
    tables = {"test": held_out_rows(result.split.test), "per_user": _per_user(result)}
    if result.rating is not None:
        tables["predictions"] = _predictions(result.rating.predictions, ids)
    if result.ranking is not None and result.ranking.rankings is not None:
        tables |= _curves(result.ranking.rankings, np.diff(result.ranking.relevant.start))
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
    files = [folder / f"{name}.parquet" for name in tables]
    if result.ranking is not None:
        files += write_lists(result.ranking, ids, folder, lists, progress)
    return files


def _write_card(result: RunResult, record: RunRecord, folder: Path) -> list[Path]:
    """Write data_card.json and data_card.md of the run's data and split."""
    card = data_card(
        result.dataset,
        result.split,
        split_settings={**record.settings["split"], "seed": record.seed},
        digests={name: part.sha256 for name, part in record.split.parts.items()},
    )
    return write_card(card, folder)


def _draw(result: RunResult, names: Mapping[str, str], folder: Path) -> list[Path]:
    from recgauge.report.figures.run import run_figures
    from recgauge.report.figures.style import save_png

    figures = run_figures(result, names["model"], names["dataset"])
    return [save_png(figure, folder / "figures" / f"{name}.png") for name, figure in figures]


def _write_convention_table(
    result: RunResult, ranking: RankingResult, cutoffs: Sequence[int], folder: Path
) -> tuple[ConventionValue, ...]:
    """Write conventions.csv, the same lists under every convention, and return its values."""
    users = result.split.test_users
    lists = EvaluationInputs(
        ranking.top_k, ranking.relevant, result.split.test.user_ids, users, ranking.catalogue
    )
    names = list(dict.fromkeys(entry.name for entry in ranking.evaluation.results))
    values = convention_values(names, lists, cutoffs=cutoffs)
    with (folder / CONVENTIONS).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["metric", "convention", "value", "definition"])
        writer.writerows(
            [v.key, v.convention, "" if v.value is None else v.value, v.definition] for v in values
        )
    return values


def write_record(record: RunRecord, folder: Path) -> list[Path]:
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
    return [folder / name for name in texts]


def held_out_rows(test: Interactions) -> pa.Table:
    """Return the rows of a test part as test.parquet has them."""
    return arrow_table(
        {"user_id": test.user_ids[test.user], "item_id": test.item_ids[test.item], "rating": test.value}
    )


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
    columns = {"user_id": everybody}
    for evaluation in result.evaluations:
        rows = np.searchsorted(everybody, evaluation.users)
        for entry in evaluation.results:
            if entry.per_user is not None:
                columns[entry.key] = np.full(len(everybody), np.nan)
                columns[entry.key][rows] = entry.per_user
    return arrow_table(columns)
