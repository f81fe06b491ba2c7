"""Looks at a tracking address before MLflow does, since MLflow retries for minutes where it cannot work."""

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from recgauge.app.settings import program
from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking.databases import check_database, database_lock
from recgauge.errors import TrackingError
from recgauge.utils.files import exclusive, irregular

_SQLITE = "sqlite:///"
WORTH_SHARING = 1_000_000  # bytes


def check_store(uri: str) -> None:
    """Say at once what is wrong with a tracking address.

    Parameters
    ----------
    uri : str
        As for MLflow.

    Raises
    ------
    TrackingError
        If a database cannot be opened and written, a server does not answer, or the kind of address is
        unknown.

    Examples
    --------
    >>> check_store("mlruns")
    Traceback (most recent call last):
        ...
    recgauge.errors.TrackingError: tracking.uri: 'mlruns' is neither a database nor a server...
    """
    scheme = uri.split("://", 1)[0] if "://" in uri else ""
    if uri.startswith(_SQLITE):
        _check_sqlite(uri)
    elif scheme in ("http", "https"):
        _check_server(uri)
    elif scheme.split("+", 1)[0] not in ("sqlite", "postgresql", "mysql", "mssql", "databricks"):
        raise TrackingError(
            f"tracking.uri: {uri!r} is neither a database nor a server. Use sqlite:///FILE.db, "
            "http://HOST:PORT, another database's address, or run with tracking=off."
        )
    elif scheme != "databricks":
        check_database(uri, without_secrets(uri))


def check_there(uri: str) -> None:
    """Refuse an SQLite store whose file is gone, which opening it would make anew.

    Raises
    ------
    TrackingError
        If there is no file, or an empty one.
    """
    if not uri.startswith(_SQLITE):
        return
    path = _database(uri)
    if not path.is_file() or path.stat().st_size == 0:
        raise TrackingError(
            f"tracking.uri={uri}: {path} was there when the sweep began and is gone. Put it back, then run "
            "again with reuse=true."
        )


@contextmanager
def store_lock(uri: str) -> Iterator[None]:
    """Let one job at a time create or migrate a store in a database."""
    if not uri.startswith(_SQLITE):
        with database_lock(uri):
            yield
        return
    path = _database(uri)
    with exclusive(path.with_name(path.name + ".lock"), waiting=lambda: None):
        yield


def create_database(uri: str, create: Callable[[str], object]) -> None:
    """Create an SQLite store that does not exist yet, whole or not at all.

    A job that is stopped while tables are made would leave a file that no later run can open or mend, so the
    file gets its name only when it is complete.

    Parameters
    ----------
    uri : str
        As for MLflow; nothing is done for other stores or where the file has content.
    create : callable
        Makes the tables of the store at the address that it is given.
    """
    if not uri.startswith(_SQLITE):
        return
    path = _database(uri)
    if path.exists() and path.stat().st_size > 0:
        return
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    create(f"{_SQLITE}{unfinished}")
    unfinished.replace(path)


def artifact_folder(uri: str) -> Path | None:
    """Return where files of runs go: the folder ``mlruns`` beside an SQLite store; servers have a place.

    Examples
    --------
    >>> print(artifact_folder("sqlite:////some/place/runs.db"), artifact_folder("https://host"))
    /some/place/mlruns None
    """
    return _database(uri).absolute().parent / "mlruns" if uri.startswith(_SQLITE) else None


def check_artifact_folder(location: str) -> None:
    """Say at once that an experiment's files cannot be stored, as where a store was moved.

    Raises
    ------
    TrackingError
        If the location is a folder that cannot be made.
    """
    folder = _local(location)
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrackingError(
            f"tracking.experiment: its files belong in {folder}, which cannot be written ({error.strerror}). "
            "MLflow keeps that address from when the experiment was made. If the store was moved, choose a "
            "new name: tracking.experiment=NAME."
        ) from error


def share_files(files: Sequence[Path], location: str) -> None:
    """Let large tables in an output folder and their copies in a local store be one file under two names.

    The table then takes its place on the disk once. Removing either name leaves the other. Where it cannot
    be done, as between two disks, the copies stay.

    Parameters
    ----------
    files : sequence of Path
        In the output folder.
    location : str
        Where the store keeps the run's copies of them.
    """
    folder = _local(location)
    for file in files:
        if folder is None or file.suffix != ".parquet" or file.stat().st_size < WORTH_SHARING:
            continue
        link = file.with_name(f".{file.name}.link")
        with suppress(OSError):
            link.unlink(missing_ok=True)
            link.hardlink_to(folder / file.name)
            link.replace(file)


def _local(location: str) -> Path | None:
    """Return the folder that a location of files names, None if it is on a server."""
    path = location.removeprefix("file://")
    return Path(path) if Path(path).is_absolute() and "://" not in path else None


def _database(uri: str) -> Path:
    return Path(uri.removeprefix(_SQLITE).split("?", 1)[0])


def quiet_logs() -> None:
    """Keep MLflow's and Alembic's own messages off the terminal; a failing store is told in one of ours."""
    for name in ("alembic", "mlflow"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _check_sqlite(uri: str) -> None:
    path = _database(uri)
    if not path.parent.is_dir():
        raise TrackingError(
            f"tracking.uri={uri}: the folder {path.parent} does not exist. Make it, or use another address."
        )
    if kind := irregular(path):
        raise TrackingError(
            f"tracking.uri={uri}: {path} cannot be opened: it is not a regular file but a {kind}. "
            "Use another address, or run with tracking=off."
        )
    try:
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as error:
        raise TrackingError(
            f"tracking.uri={uri}: {path} cannot be opened for writing ({error}). "
            "Check the file's permissions, use another address, or run with tracking=off."
        ) from error


def _check_server(uri: str) -> None:
    import requests

    try:
        answer = requests.get(f"{uri.rstrip('/')}/health", timeout=10)
    except requests.RequestException as error:
        raise TrackingError(
            f"tracking.uri={uri}: the server does not answer ({type(error).__name__}). "
            f"Start it (`{program('ui')}`), correct the address, or run with tracking=off."
        ) from error
    if answer.status_code >= 500:
        raise TrackingError(f"tracking.uri={uri}: the server answers with status {answer.status_code}.")
