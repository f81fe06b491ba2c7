"""Writes what a run leaves behind, so that anyone can recompute every number with another tool."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from omegaconf import OmegaConf

from recgauge.app.files.list_files import HITS, LISTS, which_lists, write_lists
from recgauge.data.interactions import Interactions
from recgauge.errors import ModelError
from recgauge.evaluation.inputs import EvaluationInputs
from recgauge.evaluation.predict import RatingPredictions
from recgauge.metrics.curves.averaged import full_ranking_curves
from recgauge.metrics.curves.full_ranking import FullRankings
from recgauge.models.saved import ABOUT, ARRAYS
from recgauge.report.conventions import ConventionValue, convention_values, spread_lines
from recgauge.report.data_card.build import data_card, split_settings
from recgauge.report.data_card.page import write_card
from recgauge.runs.record import RunRecord
from recgauge.runs.result import RankingResult, RunResult
from recgauge.runs.settings import RunSettings, stores_model
from recgauge.utils.arrow import arrow_table
from recgauge.utils.checks import LongArray
from recgauge.utils.files import digest_of
from recgauge.utils.progress import NoProgress, Progress, Timings

CHECKSUMS = "SHA256SUMS"
CONVENTIONS = "conventions.csv"
RECORD, PER_USER = "record.json", "per_user.parquet"
MODEL = "model"
"""The folder of the fitted model."""
MODEL_FILES = (f"{MODEL}/{ABOUT}", f"{MODEL}/{ARRAYS}")


@dataclass(frozen=True, slots=True)
class Written:
    """What `write_run` did.

    Parameters
    ----------
    record : RunRecord
        The one that was written, with the time that the files took.
    files : list of Path
        SHA256SUMS last.
    said : list of str
        What the user should read of them.
    unsaved : str or None
        Why the fitted model, which was asked for, is not among them.
    """

    record: RunRecord
    files: list[Path]
    said: list[str]
    unsaved: str | None = None


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """Yield a new hidden folder in `folder` to write files in; `finish` moves them to `folder`.

    It is removed at the end with all that is in it, so that an error leaves no half-written file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    hidden = Path(mkdtemp(prefix=".unfinished-", dir=folder))
    try:
        yield hidden
    finally:
        rmtree(hidden, ignore_errors=True)


def finish(files: Sequence[Path], hidden: Path, folder: Path) -> list[Path]:
    """Move files that are complete from `hidden` to `folder`, in their order, and return them there.

    Parameters
    ----------
    files : sequence of Path
        Inside `hidden`, with SHA256SUMS; those of an earlier run in `folder` are replaced.
    hidden, folder : Path
        As of `unfinished`.
    """
    (folder / CHECKSUMS).unlink(missing_ok=True)  # it would speak of files that change now
    sums = read_checksums(hidden / CHECKSUMS)
    for name in (LISTS, HITS, *MODEL_FILES):  # another run's lists must not look like those of this one
        old = folder / name
        if old.is_file() and file_digest(old) != sums.get(name):
            old.unlink()
    moved = [folder / file.relative_to(hidden) for file in files]
    for file, target in zip(files, moved, strict=True):
        target.parent.mkdir(exist_ok=True)
        file.replace(target)
    return moved


def write_run(
    result: RunResult, record: RunRecord, settings: RunSettings, folder: Path, progress: Progress
) -> Written:
    """Write all files of a run, the digests of the others last.

    Parameters
    ----------
    result : RunResult
    record : RunRecord
        As far as it is known before the files are written.
    settings : RunSettings
        Which tables, lists and figures are wanted.
    folder : Path
    progress : Progress

    Returns
    -------
    Written
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
    record = replace(record, seconds=record.seconds | timings.seconds)
    files += _write_record(record, folder)
    return Written(record, [*files, write_checksums(files, folder)], said, unsaved)


def write_tables(result: RunResult, folder: Path, lists: str, progress: Progress) -> list[Path]:
    """Write the run's tables as parquet, all with the publisher's ids.

    Parameters
    ----------
    result : RunResult
    folder : Path
        Gets test.parquet (user_id, item_id, rating), per_user.parquet (user_id, one column per metric),
        and recommendations.parquet (user_id, item_id, rank from 1, score), or hits.parquet, and
        predictions.parquet (user_id, item_id, rating, predicted, impossible); and, with metrics of full
        rankings or figures, the curves roc.parquet and precision_recall.parquet.
    lists : {"true", "relevant_k", "false"}
        Which rows of the lists are written.
    progress : Progress
        Notified of the size of large lists before they are written.
    """
    ids = result.dataset.interactions
    tables = {"test": _held_out(result.split.test), "per_user": _per_user(result)}
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
        split_settings=split_settings(record.settings["split"], record.seed),
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


def _write_record(record: RunRecord, folder: Path) -> list[Path]:
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


def write_checksums(files: Sequence[Path], folder: Path) -> Path:
    """Write SHA256SUMS, a line per file as ``sha256sum`` writes and checks it.

    Parameters
    ----------
    files : sequence of Path
        Inside `folder`.
    folder : Path
    """
    lines = (f"{file_digest(file)}  {file.relative_to(folder).as_posix()}\n" for file in files)
    path = folder / CHECKSUMS
    path.write_text("".join(lines), encoding="utf-8")
    return path


def read_checksums(path: Path) -> dict[str, str]:
    """Return ``{name: digest}`` of a file that `write_checksums` wrote; of a damaged one, what is left."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def file_digest(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as stream:
        return digest_of(stream)


def _held_out(test: Interactions) -> pa.Table:
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
