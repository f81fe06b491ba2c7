"""Reads a finished run back: its record, its lists and what was relevant."""

from pathlib import Path
from tempfile import mkdtemp

import pyarrow.parquet as pq

from recgauge.app.files.list_files import LISTS, holds
from recgauge.app.tracking.store import MlflowTracker
from recgauge.errors import MissingDataError
from recgauge.evaluation.inputs import EvaluationInputs, convert
from recgauge.runs.record import RunRecord

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
        If the run has not stored lists.
    TrackingError
        If there is no such run, or the store cannot be opened.
    """
    folder = Path(run)
    if not folder.is_dir():
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
