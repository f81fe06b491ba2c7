"""Where runs go: the address of an MLflow store, what is shown of it, and MLflow's client for it."""

import logging
import os
import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, unquote

from recgauge.errors import TrackingError, printable, said
from recgauge.utils.checks import check_bool
from recgauge.utils.files import exclusive, irregular
from recgauge.utils.messages import print_note
from recgauge.utils.secrets import without_secrets

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment

SQLITE, HIDDEN = "sqlite:///", "***"
_UNREADABLE = re.compile(r"(%[0-9A-Fa-f]{2})|\?.*/")
"""What MLflow decodes, or takes for the beginning of options, in the path of an SQLite file."""
_ELSEWHERE = re.compile(r"(?!file:)[a-z][\w+.-]*://", re.IGNORECASE)
KINDS = ("sqlite", "postgresql", "mysql", "mssql", "http", "https", "databricks")
KIND = ("mlflow.experimentKind", "custom_model_development")
"""Tag of the experiment that lets MLflow 3 open its pages for model training."""
MLFLOW_DEFAULTS = {  # unless the environment says something else
    "MLFLOW_DISABLE_TELEMETRY": "true",  # MLflow would report its use to its makers
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    # a request that is sent twice could make two runs; what fails is delivered anew, which looks first
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER": "false",  # a proxy may ask for minutes
}
_BUSY_SECONDS = 30  # for which another process may hold an SQLite file
_LOGIN = (
    "Give the right MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN, or run "
    "with tracking=off."
)


@dataclass(frozen=True, slots=True, repr=False)
class Store:
    """An MLflow experiment in a tracking store.

    Examples
    --------
    >>> Store("mlruns")
    Traceback (most recent call last):
        ...
    recgauge.errors.TrackingError: tracking.uri: 'mlruns' is neither a database nor a server...
    """

    uri: str
    experiment: str = "recgauge"
    log_model: bool = False

    def __post_init__(self) -> None:
        check_bool("tracking.log_model", self.log_model)
        object.__setattr__(self, "uri", str(self.uri))
        object.__setattr__(self, "experiment", str(self.experiment))  # settings read 2026 as a number
        if not self.experiment:
            raise TrackingError("tracking.experiment: the name is empty; use tracking.experiment=NAME.")
        kind = self.uri.partition("://")[0].partition("+")[0] if "://" in self.uri else ""
        odd = not self.uri.startswith(SQLITE) and any(
            not "!" <= sign <= "~" or sign == "\\" for sign in self.uri
        )
        if kind not in KINDS or odd or (kind == "sqlite" and not self.uri.startswith(SQLITE)):
            raise TrackingError(
                f"tracking.uri: {self.shown!r} is neither a database nor a server. Use sqlite:///FILE.db, "
                "http://HOST:PORT, another database's address, or run with tracking=off."
            )
        if kind == "sqlite" and (sign := _UNREADABLE.search(self.uri)):
            raise TrackingError(
                f"tracking.uri={self.uri}: a path with {sign[1] or '?'} is another one for MLflow. Work in a "
                "folder without that in its name, or name a database elsewhere: "
                "tracking.uri=sqlite:////FOLDER/mlflow.db. Without tracking: tracking=off."
            )

    @property
    def shown(self) -> str:
        """The address as it may be printed and stored."""
        return shown(self.uri)

    @property
    def sync_command(self) -> str:
        """The command that delivers what waits; a server must be named by the user, not by a folder."""
        local = self.file is not None or self.uri.startswith("databricks")
        return "recgauge sync" if local else f"recgauge sync --uri {self.shown}"

    @property
    def file(self) -> Path | None:
        """The file of an SQLite store."""
        return Path(self.uri.removeprefix(SQLITE).split("?", 1)[0]) if self.uri.startswith(SQLITE) else None

    @property
    def files(self) -> Path | None:
        """The folder beside an SQLite store that has the files of its runs."""
        return None if self.file is None else self.file.absolute().parent / "mlruns"

    @property
    def exists(self) -> bool:
        """Whether there is a store; of a server, that it is assumed to be there."""
        return self.file is None or (self.file.is_file() and self.file.stat().st_size > 0)

    def plain(self) -> dict[str, Any]:
        """Return what a run's folder says of its store: no secret, and a file by its whole path."""
        uri = self.shown if self.file is None else f"{SQLITE}{self.file.absolute()}"
        return {"uri": uri, "experiment": self.experiment, "log_model": self.log_model}

    def with_login(self, named: Collection[str]) -> Self:
        """Return the store with the first of these addresses that is its own, which may have a login."""
        same = (uri for uri in named if self.file is None and shown(uri) == self.shown)
        return replace(self, uri=next(same, self.uri))

    def __repr__(self) -> str:
        return f"Store({self.shown!r}, {self.experiment!r}, log_model={self.log_model})"


def shown(uri: str) -> str:
    """Return an address without what may be secret: all before its last ``@``, and all options.

    Examples
    --------
    >>> shown("postgresql://ann:pa/ss@host/db?sslpassword=x"), shown("postgresql:/ann:pass@host/db")
    ('postgresql://***@host/db?***', 'postgresql:/***@host/db')
    """
    kind, colon, rest = uri.partition(":")
    if kind == "sqlite":
        return uri.partition("?")[0]
    if not colon:
        return uri.partition("?")[0].rpartition("@")[2]
    login, at, place = rest.lstrip("/").rpartition("@")
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    place = re.sub("([?#;]).*", rf"\1{HIDDEN}", place, flags=re.DOTALL)
    return f"{kind}:{slashes}{HIDDEN + at if login else ''}{place}"


@contextmanager
def explained(store: Store, doing: str) -> Iterator[None]:
    """Turn whatever MLflow raises into one line that names the address without secrets; ours pass."""
    try:
        yield
    except TrackingError:
        raise
    except Exception as error:
        root: BaseException = error
        while (cause := root.__cause__ or root.__context__) is not None:
            root = cause
        reason = said(root)[:200] or type(root).__name__
        for secret in sorted(_secrets(store.uri), key=len, reverse=True):
            reason = reason.replace(secret, HIDDEN)
        status = getattr(error, "get_http_status_code", lambda: 0)()
        remedy = (
            _LOGIN if status in (401, 403) else "Check the address, or run without tracking: tracking=off."
        )
        raise TrackingError(
            f"tracking.uri={store.shown}: cannot {doing}: {reason.rstrip('. ')}. {remedy}"
        ) from error


def _secrets(uri: str) -> set[str]:
    """Return what `shown` leaves out, in the forms in which libraries may say it."""
    login, at, _ = uri.partition(":")[2].lstrip("/").rpartition("@")
    words = {login, login.partition(":")[2]} if at else set()
    words |= {value for _, value in parse_qsl(uri.partition("?")[2], keep_blank_values=False)}
    return {form for word in words for form in (word, unquote(word)) if len(form) > 3}


@dataclass(frozen=True, slots=True)
class Opened:
    """An experiment of a store with MLflow's client of it."""

    client: "MlflowClient"
    experiment_id: str


def open_store(store: Store) -> Opened:
    """Return the experiment, which is made if there is none, as is the file of an SQLite store."""
    opened = _opened(store)
    check_still_there(store)
    return opened


@lru_cache(maxsize=8)
def _opened(store: Store) -> Opened:
    check_there(store)
    with explained(store, "open the store"):
        if store.file is None:
            return _experiment(store, client_of(store))
        lock = store.file.with_name(f"{store.file.name}.lock")
        with exclusive(lock):  # two first runs would race in making the tables
            _create(store.file)
            return _experiment(store, client_of(store))


def set_variables(variables: Mapping[str, str]) -> None:
    """Set variables that libraries read, where the environment lacks them."""
    os.environ.update({name: text for name, text in variables.items() if name not in os.environ})


def client_of(store: Store) -> "MlflowClient":
    """Return MLflow's client of a store; nothing is asked yet."""
    set_variables(MLFLOW_DEFAULTS)
    from mlflow import MlflowClient

    for name in ("alembic", "mlflow"):  # what fails is said in our own message
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return MlflowClient(tracking_uri=store.uri)


def _create(file: Path) -> None:
    """Make an SQLite store under another name: a job that is killed leaves none that is half made."""
    if file.is_file() and file.stat().st_size:
        return
    from sqlalchemy import Engine, event

    hidden = file.with_name(f".{file.name}.unfinished")
    hidden.unlink(missing_ok=True)
    event.listen(Engine, "connect", _do_not_sync)  # some hundred waits for the disk, for tables without rows
    try:
        client_of(Store(f"{SQLITE}{hidden.absolute()}")).search_experiments(max_results=1)
    finally:
        event.remove(Engine, "connect", _do_not_sync)
    with suppress(PermissionError):  # Windows keeps open files; the store is made under its own name then
        hidden.replace(file)


def _do_not_sync(connection: sqlite3.Connection, _: object) -> None:
    connection.execute("PRAGMA synchronous=OFF")


def _experiment(store: Store, client: "MlflowClient") -> Opened:
    stored = client.get_experiment_by_name(store.experiment)
    if stored is not None and stored.lifecycle_stage != "active":
        raise TrackingError(
            f"tracking.experiment: {store.experiment!r} was deleted in {store.shown}. "
            "Restore it, or choose another name with tracking.experiment=NAME."
        )
    files = store.files
    if stored is not None and files is not None:
        if _ELSEWHERE.match(stored.artifact_location):
            raise TrackingError(
                f"tracking.experiment: the database {store.shown}, not you, has the files of "
                f"{store.experiment!r} sent to {printable(without_secrets(stored.artifact_location))}, with "
                "passwords from your environment. Name another experiment, whose files lie beside the "
                "database: tracking.experiment=NAME."
            )
        stored = _of_this_project(store, client, stored, files)
    if stored is None:
        folder = None if files is None else str(files)
        return Opened(client, str(client.create_experiment(store.experiment, folder, dict([KIND]))))
    if stored.tags.get(KIND[0]) != KIND[1]:
        client.set_experiment_tag(stored.experiment_id, *KIND)
    return Opened(client, str(stored.experiment_id))


def _of_this_project(
    store: Store, client: "MlflowClient", experiment: "Experiment", files: Path
) -> "Experiment | None":
    """Return an experiment whose files are where those of the store are, or where a user wants them.

    One of a project that was copied or moved gets another name, since MLflow cannot change where its files
    go; if the project has come back, such as out of a container, its earlier one is returned.
    """
    before = local_folder(experiment.artifact_location)
    if before is None or before.name != files.name or before.resolve() == files.resolve():
        return experiment
    name = f"{store.experiment} of {before.parent}"
    client.rename_experiment(experiment.experiment_id, name)
    here = client.get_experiment_by_name(f"{store.experiment} of {files.parent}")
    if here is not None:
        client.rename_experiment(here.experiment_id, store.experiment)
    print_note(
        f"{store.shown} was copied or moved from {before.parent}: its runs so far are the experiment "
        f"{name!r}; new ones are {store.experiment!r}, with their files in {files.parent}."
    )
    return here


def local_folder(location: str) -> Path | None:
    """Return the folder that a location of files names, None if it is on a server."""
    path = location.removeprefix("file://")
    return Path(path) if Path(path).is_absolute() and "://" not in path else None


def check_still_there(store: Store) -> None:
    """Refuse a store that was opened before and is gone: what is written now would be lost."""
    if not store.exists:
        raise TrackingError(
            f"tracking.uri={store.shown}: {store.file} was there before and is gone. Put it back, then run "
            "`recgauge sync`."
        )
    check_there(store)


def check_there(store: Store) -> None:
    """Refuse at once what MLflow would try for minutes: a file or a database that cannot be opened."""
    if store.file is not None:
        _check_file(store, store.file)
    elif not store.uri.startswith(("http", "databricks")):
        _check_database(store)


def _check_file(store: Store, path: Path) -> None:
    if not path.parent.is_dir():
        raise TrackingError(
            f"tracking.uri={store.shown}: the folder {path.parent} does not exist. Make it, or use "
            "another address."
        )
    if kind := irregular(path):
        raise TrackingError(
            f"tracking.uri={store.shown}: {path} is not a regular file but a {kind}. Use another address."
        )
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            connection.rollback()
    except sqlite3.Error as error:
        raise TrackingError(
            f"tracking.uri={store.shown}: {path} cannot be opened for writing ({error}). Check "
            "the file's permissions and what else uses it, or run with tracking=off."
        ) from error
    if tables and "alembic_version" not in tables:  # MLflow would add its tables to those of others
        raise TrackingError(
            f"tracking.uri={store.shown}: {path} is a database, but not one of MLflow. Use another address."
        )


def _check_database(store: Store) -> None:
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    with explained(store, "connect to the database"):
        create_engine(store.uri, poolclass=NullPool).connect().close()
