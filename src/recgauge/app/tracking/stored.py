"""Finds finished runs and reads them back: the record, the lists and what was relevant."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow.parquet as pq

from recgauge._version import NUMERIC_VERSION
from recgauge.app.files.artifacts import CHECKSUMS, file_digest, finish, read_checksums, unfinished
from recgauge.app.files.list_files import LISTS, holds
from recgauge.app.tracking.addresses import has_database
from recgauge.app.tracking.store import MlflowTracker
from recgauge.app.tracking.tracker import FILES_TAG, Tracker
from recgauge.errors import MissingDataError, SchemaError, TrackingError
from recgauge.evaluation.inputs import EvaluationInputs, convert
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import fingerprint
from recgauge.utils.progress import Progress

NEEDED = ("record.json", LISTS, "test.parquet")


def run_folder(run: str, uri: str) -> Path:
    """Return a folder with a run's files.

    Parameters
    ----------
    run : str
        An output folder, or the id of a run in the tracking store.
    uri : str
        The tracking store.

    Raises
    ------
    MissingDataError
        If the run did not store lists.
    TrackingError
        If there is no such run, or the store cannot be opened.
    """
    folder = Path(run)
    if not folder.is_dir():
        if not has_database(uri):
            raise TrackingError(f"{run}: is no folder, and the tracking store {uri} does not exist.")
        folder = Path(mkdtemp(prefix="recgauge-"))
        MlflowTracker(uri).download(run, NEEDED, folder)
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if missing == [LISTS] and not holds(load_record(folder).settings, "true"):
        stored = str(load_record(folder).settings["artifacts"]["lists"]).lower()
        raise MissingDataError(
            f"{run}: the run has stored no whole lists, since it was run with artifacts.lists={stored}. "
            "Run it again with artifacts.lists=true."
        )
    if missing:
        raise MissingDataError(
            f"{run}: the run has stored no {', '.join(missing)}. Only finished runs with metrics of lists "
            "have them: run again with metrics=ranking."
        )
    return folder


def load_record(folder: Path) -> RunRecord:
    """Read the record of a run's folder."""
    return RunRecord.from_json((folder / "record.json").read_text(encoding="utf-8"))


def load_lists(folder: Path, relevant_from: float | None) -> EvaluationInputs:
    """Read lists and relevance of a run's folder.

    Parameters
    ----------
    folder : Path
    relevant_from : float or None
        Lowest rating that is relevant; None: every row, with gain 1.
    """
    lists = pq.read_table(folder / LISTS).to_pandas()
    test = pq.read_table(folder / "test.parquet").to_pandas()
    everybody = test["user_id"].unique()
    # as in the run: every test row is judged, those below relevant_from with grade 0
    grade = 1.0 if relevant_from is None else test["rating"].where(test["rating"] >= relevant_from, 0.0)
    # an item that a user has in several rows is judged once, with the highest of their grades
    judged = test.assign(grade=grade).sort_values("grade", ascending=False, kind="stable")
    judged = judged.drop_duplicates(["user_id", "item_id"]).sort_index()
    names = {"user_id": "user", "item_id": "item"}
    return convert(
        lists.rename(columns=names)[["user", "item", "score"]],
        test.assign(grade=grade).rename(columns=names)[["user", "item", "grade"]],
        train=None,
        item_features=None,
        n_items=None,
        scores=None,
        users=list(everybody),
        threshold=0.0,
    )


def find_finished(
    settings: Mapping[str, Any],
    data_sha256: str,
    sources: Mapping[str, str],
    *,
    tracker: Tracker,
    artifacts: Sequence[str],
    folder: Path,
    progress: Progress,
) -> tuple[str, RunRecord] | None:
    """Return id and record of a finished run with the same fingerprint, its files copied to the job's folder.

    Parameters
    ----------
    settings : mapping of str to Any
        The resolved configuration.
    data_sha256 : str
    sources : mapping of str to str
        Digests of what the run reads in addition to its data set.
    tracker : Tracker
        The store to search; runs that failed, were killed or are running do not count.
    artifacts : sequence of str
        Files that the run must have in addition to its record.
    folder : Path
        The job's output folder.
    progress : Progress
        Receives the reason why a run that was found is not used.

    Raises
    ------
    TrackingError
        If the store cannot be searched.
    """
    wanted = fingerprint(settings, data_sha256, NUMERIC_VERSION, sources)
    names = ("record.json", *artifacts)
    for run_id in tracker.find(wanted):
        with unfinished(folder) as temporary:
            tracker.download(run_id, (CHECKSUMS, *names), temporary)
            problem = _damage(temporary, names, tracker.tag(run_id, FILES_TAG))
            if problem is None:
                try:
                    record = load_record(temporary)
                except SchemaError:
                    problem = "its record.json is no record of this version of recgauge"
                else:
                    problem = _difference(record, wanted, settings)
            if problem is None:
                finish([temporary / name for name in (*names, CHECKSUMS)], temporary, folder)
                return run_id, record
        progress.note(f"run {run_id} is the same but cannot be reused: {problem}.")
    return None


def _difference(record: RunRecord, wanted: str, settings: Mapping[str, Any]) -> str | None:
    """Return why an undamaged record is not that of the job, None if it is."""
    if record.fingerprint() != wanted or record.seed != settings["seed"]:
        return "its record is that of another configuration"
    lists = settings.get("artifacts", {}).get("lists", True)
    if not holds(record.settings, lists):
        return f"it did not store the lists that artifacts.lists={str(lists).lower()} asks for"
    return None


def _damage(folder: Path, names: Sequence[str], digest: str | None) -> str | None:
    """Return what is wrong with a run's files, None if they are as they were stored."""
    if digest is None:
        return "it was stored without a digest of its files"
    sums = folder / CHECKSUMS
    missing = [name for name in (CHECKSUMS, *names) if not (folder / name).is_file()]
    if missing:
        return f"it has no {', '.join(missing)}"
    if file_digest(sums) != digest:
        return f"its {CHECKSUMS} has been changed"
    expected = read_checksums(sums)
    changed = [name for name in names if file_digest(folder / name) != expected.get(name)]
    return f"{', '.join(changed)} has been changed" if changed else None
