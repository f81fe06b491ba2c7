"""Looks at a tracking address before MLflow does, since MLflow retries for minutes where it cannot work."""

import os
import shlex
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recgauge.app.places import program, store_of_user
from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking.servers import check_server, plain_reason
from recgauge.errors import TrackingError
from recgauge.utils.files import exclusive, irregular

if TYPE_CHECKING:
    from sqlalchemy import Engine

SQLITE = "sqlite:///"
_SECONDS = 10  # until a server that does not answer is given up
_LOCK = 5_278_143_906  # any number, as long as all versions of recgauge take the same
_WITH_TIMEOUT = ("psycopg2", "psycopg", "pymysql", "mysqldb")  # drivers that know the option
_PACKAGES = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary", "MySQLdb": "mysqlclient"}
WORTH_SHARING = 1_000_000  # bytes


def check_store(uri: str, *, connect: bool = True, write: bool = True) -> None:
    """Say at once what is wrong with a tracking address.

    Parameters
    ----------
    uri : str
        As for MLflow.
    connect : bool
        Whether to ask servers, too.
    write : bool
        Whether a file that does not exist may be begun, to see whether it can be written.

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
    if uri.startswith(SQLITE):
        _check_sqlite(uri, write=write)
    elif scheme in ("http", "https"):
        if connect:
            check_server(uri)
    elif scheme.split("+", 1)[0] not in ("sqlite", "postgresql", "mysql", "mssql", "databricks"):
        raise TrackingError(
            f"tracking.uri: {uri!r} is neither a database nor a server. Use sqlite:///FILE.db, "
            "http://HOST:PORT, another database's address, or run with tracking=off."
        )
    elif connect and scheme != "databricks":
        _check_database(uri)


def serving(uri: str) -> str:
    """Return the command that serves a database's pages; it names the database unless that is the usual one.

    Examples
    --------
    >>> serving("sqlite:////elsewhere/runs.db")
    'recgauge ui --uri sqlite:////elsewhere/runs.db'
    """
    usual = store_of_user()
    both = [database_file(one).absolute() if one.startswith(SQLITE) else one for one in (uri, usual)]
    return program("ui") if both[0] == both[1] else f"recgauge ui --uri {shlex.quote(without_secrets(uri))}"


def check_there(uri: str) -> None:
    """Refuse a store that worked and does not any more, before much is asked of it.

    Raises
    ------
    TrackingError
        If the file of an SQLite store is gone, which opening it would create again; if a server or a
        database does not answer.
    """
    if not uri.startswith(SQLITE):
        check_store(uri)
    elif not has_database(uri):
        raise TrackingError(
            f"tracking.uri={uri}: {database_file(uri)} was there before and is gone. Put it back, then "
            "run again with reuse=true, or `recgauge sync`."
        )


def has_database(uri: str) -> bool:
    """Whether an SQLite store has its file, so that reading does not create an empty one; True of others."""
    path = database_file(uri)
    return not uri.startswith(SQLITE) or (path.is_file() and path.stat().st_size > 0)


@contextmanager
def explained(uri: str, doing: str) -> Iterator[None]:
    """Turn whatever the store at an address raises into one message; ours pass."""
    try:
        yield
    except TrackingError:
        raise
    except Exception as error:
        # SQLAlchemy may begin with when it sent a statement, in parentheses, and then says what is wrong
        lines = [
            line
            for line in plain_reason(str(error)).splitlines()
            if line.strip() and not line.startswith("(raised as")
        ]
        reason = (lines or [type(error).__name__])[0].strip().rstrip(".")
        raise TrackingError(
            f"tracking.uri={uri}: cannot {doing}: {reason}. "
            "Check the address, or run without tracking: tracking=off."
        ) from error


@contextmanager
def store_lock(uri: str) -> Iterator[None]:
    """Let one job at a time create or migrate a store in an SQLite or PostgreSQL database.

    A PostgreSQL server frees the lock when the connection of its holder ends, however it ends.
    """
    if uri.startswith(SQLITE):
        path = database_file(uri)
        with exclusive(path.with_name(path.name + ".lock"), waiting=lambda: None):
            yield
    elif uri.startswith(("postgresql:", "postgresql+")):
        from sqlalchemy import text

        with _engine(uri).connect() as connection:
            connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _LOCK})
            try:
                yield
            finally:
                connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _LOCK})
    else:
        yield


def create_database(uri: str, create: Callable[[str], object]) -> None:
    """Create an SQLite store that does not exist yet, whole or not at all.

    A job that is stopped while tables are made would leave a file that no later run can use, so the
    file gets its name only when it is complete.

    Parameters
    ----------
    uri : str
        As for MLflow; nothing is done for other stores or where the file has content.
    create : callable
        Makes the tables of the store at the address that it is given.
    """
    if has_database(uri):
        return
    path = database_file(uri)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    create(f"{SQLITE}{unfinished}")
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)


def artifact_folder(uri: str) -> str | None:
    """Return the folder of runs' files, ``mlruns`` next to an SQLite store; None for servers, which have one.

    Examples
    --------
    >>> print(artifact_folder("sqlite:////some/folder/runs.db"), artifact_folder("https://host"))
    /some/folder/mlruns None
    """
    return str(database_file(uri).absolute().parent / "mlruns") if uri.startswith(SQLITE) else None


def check_artifact_folder(location: str) -> None:
    """Say at once that an experiment's files cannot be stored, as where a store was moved.

    Raises
    ------
    TrackingError
        If the location is a folder that cannot be made.
    """
    if (folder := local_folder(location)) is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrackingError(
            f"tracking.experiment: its files belong in {folder}, which cannot be written ({error.strerror}). "
            "MLflow keeps that address from when the experiment was made. If the store was moved, choose a "
            "new name: tracking.experiment=NAME."
        ) from error


def share_files(files: Sequence[Path], root: Path, location: str) -> None:
    """Let large files in an output folder and their copies in a local store be one file under two names.

    The file then takes space on the disk once. Removing either name leaves the other. Where it cannot
    be done, as between two disks, the copies stay.

    Parameters
    ----------
    files : sequence of Path
        In the output folder.
    root : Path
        The output folder.
    location : str
        Where the store keeps the run's copies of them.
    """
    folder = local_folder(location)
    for file in files:
        if folder is None or file.suffix not in (".parquet", ".npz") or file.stat().st_size < WORTH_SHARING:
            continue
        link = file.with_name(f".{file.name}.link")
        with suppress(OSError):
            link.unlink(missing_ok=True)
            link.hardlink_to(folder / file.relative_to(root))
            link.replace(file)


def local_folder(location: str) -> Path | None:
    """Return the folder that a location of files names, None if it is on a server."""
    path = location.removeprefix("file://")
    return Path(path) if Path(path).is_absolute() and "://" not in path else None


def database_file(uri: str) -> Path:
    """Return the file of an SQLite store."""
    return Path(uri.removeprefix(SQLITE).split("?", 1)[0])


def _check_sqlite(uri: str, *, write: bool) -> None:
    path = database_file(uri)
    if not path.parent.is_dir():
        raise TrackingError(
            f"tracking.uri={uri}: the folder {path.parent} does not exist. Make it, or use another address."
        )
    if kind := irregular(path):
        raise TrackingError(
            f"tracking.uri={uri}: {path} cannot be opened: it is not a regular file but a {kind}. "
            "Use another address, or run with tracking=off."
        )
    if not write and not path.exists():
        return
    try:
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as error:
        raise TrackingError(
            f"tracking.uri={uri}: {path} cannot be opened for writing ({error}). "
            "Check the file's permissions, use another address, or run with tracking=off."
        ) from error


def _check_database(uri: str) -> None:
    """Connect once: MLflow would ask again for two minutes."""
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    shown = without_secrets(uri)
    try:
        engine = _engine(uri)
    except ImportError as error:
        raise TrackingError(
            f"tracking.uri={shown}: the database's driver {error.name} is not installed. Install it: "
            f"pip install '{_PACKAGES.get(str(error.name), error.name)}'."
        ) from error
    except (ArgumentError, ValueError) as error:
        raise TrackingError(
            f"tracking.uri={shown} is no address of a database. Write DATABASE://USER:PASSWORD@HOST:PORT/NAME."
        ) from error
    try:
        engine.connect().close()
    except SQLAlchemyError as error:
        # the driver's own words, on one line, without SQLAlchemy's name and link around them
        reason = " ".join(str(getattr(error, "orig", None) or error).split()).rstrip(".")
        reason = reason.replace(str(engine.url.password), "***")
        raise TrackingError(
            f"tracking.uri={shown}: no connection to the database: {reason}. Check host, name and password, "
            "or run with tracking=off."
        ) from None


def _engine(uri: str) -> "Engine":
    from sqlalchemy import create_engine, make_url
    from sqlalchemy.pool import NullPool

    url = make_url(uri)
    options = {"connect_timeout": _SECONDS} if url.get_driver_name() in _WITH_TIMEOUT else {}
    return create_engine(url, poolclass=NullPool, connect_args=options)
