"""The files of a run, by its id in the tracking store or by its output folder."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

from recgauge.app.tracking.addresses import has_database
from recgauge.app.tracking.store import MlflowTracker
from recgauge.errors import SchemaError, TrackingError
from recgauge.runs.stored import StoredRun


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
    try:
        if not has_database(uri):
            raise TrackingError(f"{run}: is no folder, and the tracking store {uri} does not exist.")
        folder = Path(mkdtemp(prefix="recgauge-"))
        MlflowTracker(uri).download(run, names, folder)
    except TrackingError as error:
        reason = str(error).removesuffix("Check the address, or run without tracking: tracking=off.")
        raise TrackingError(
            f"{reason.rstrip()} Name the store that has the run, --uri=ADDRESS, or give the run's output "
            "folder."
        ) from error
    return folder


def stored_runs(sources: Sequence[str], uri: str, names: Sequence[str]) -> list[StoredRun]:
    """Return the finished runs of folders and ids.

    Parameters
    ----------
    sources : sequence of str
        Output folders of runs, folders that hold such folders (a sweep's), or ids in the tracking store.
    uri : str
        The tracking store.
    names : sequence of str
        Files beside record.json that are copied from the store.

    Raises
    ------
    TrackingError
        If there is no such run.
    SchemaError
        If a folder holds no finished run.
    """
    found = []
    for source in sources:
        folder = run_folder(source, uri, ["record.json", *names])
        places = [folder] if (folder / "record.json").is_file() else _below(folder)
        if not places:
            raise SchemaError(
                f"{source}: there is no finished run in this folder (a record.json). Give the output folder "
                "of a run or of a sweep."
            )
        found += [StoredRun.read(place) for place in places]
    return found


def _below(folder: Path) -> list[Path]:
    """Return the folders of runs below a sweep's, in the order of its jobs."""
    places = [path.parent for path in folder.rglob("record.json") if "artifacts" not in path.parts]

    def order(place: Path) -> list[tuple[int, str]]:
        parts = place.relative_to(folder).parts
        return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]

    return sorted(places, key=order)
