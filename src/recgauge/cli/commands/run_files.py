"""The files of a run, by its id in the tracking store or by its output folder."""

from collections.abc import Sequence
from pathlib import Path

from recgauge.errors import MissingDataError, TrackingError
from recgauge.runs.folder import load_record
from recgauge.runs.list_files import LISTS, holds
from recgauge.tracking import RunStore

_REMEDY = "Name the store that has the run, --uri=ADDRESS, or give the run's output folder."


def run_folder(run: str, uri: str, names: Sequence[str]) -> Path:
    """Return a folder with those of a run's files that there are.

    Parameters
    ----------
    run : str
        An output folder, or the id of a run in the tracking store.
    uri : str
        The tracking store.
    names : sequence of str
        Files and folders that are copied from the store.

    Raises
    ------
    TrackingError
        If there is no such run, or the store cannot be opened.
    """
    folder = Path(run)
    if folder.is_dir():
        return folder
    store = RunStore(uri)
    if not store.exists:
        raise TrackingError(f"{run}: is no folder, and the tracking store {uri} does not exist. {_REMEDY}")
    stored = store.run(run)
    if stored is None:
        raise TrackingError(f"{run}: is no folder, and no run of the tracking store {uri}. {_REMEDY}")
    return store.folder(stored, names)


def require_stored(run: str, folder: Path, names: Sequence[str]) -> None:
    """Refuse a run that has not stored what is needed.

    Parameters
    ----------
    run : str
        As the user named it.
    folder : Path
        As of `run_folder`.
    names : sequence of str
        Files.

    Raises
    ------
    MissingDataError
        The message says how to run it again.
    """
    missing = [name for name in names if not (folder / name).is_file()]
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
