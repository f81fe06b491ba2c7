"""The files of a run, by its id in the tracking store or by its output folder."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

from recgauge.app.tracking.addresses import has_database
from recgauge.app.tracking.store import MlflowTracker
from recgauge.errors import TrackingError


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
