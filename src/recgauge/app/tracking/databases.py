"""Connects once to a database server before MLflow does, and lets one job at a time make its tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recgauge.errors import TrackingError

if TYPE_CHECKING:
    from sqlalchemy import Engine

_SECONDS = 10  # until a server that does not answer is given up
_LOCK = 5_278_143_906  # any number, as long as all versions of recgauge take the same
# drivers that know the option
_WITH_TIMEOUT = ("psycopg2", "psycopg", "pymysql", "mysqldb")
_PACKAGES = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary", "MySQLdb": "mysqlclient"}


def check_database(uri: str, shown: str) -> None:
    """Say at once if a database server cannot be used: MLflow would ask again for two minutes.

    Parameters
    ----------
    uri : str
        As for MLflow.
    shown : str
        The same without a password.

    Raises
    ------
    TrackingError
        If the driver is not installed, the server does not answer, or it refuses the login.
    """
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

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
        reason = _reason(error).replace(str(engine.url.password), "***")
        raise TrackingError(
            f"tracking.uri={shown}: no connection to the database: {reason}. Check host, name and password, "
            "or run with tracking=off."
        ) from None


@contextmanager
def database_lock(uri: str) -> Iterator[None]:
    """Let one job at a time make or migrate the tables of a PostgreSQL store; does nothing for others.

    The server frees the lock when the connection of its holder ends, however it ends.
    """
    if not uri.startswith(("postgresql:", "postgresql+")):
        yield
        return
    from sqlalchemy import text

    with _engine(uri).connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _LOCK})
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _LOCK})


def _engine(uri: str) -> "Engine":
    from sqlalchemy import create_engine, make_url
    from sqlalchemy.pool import NullPool

    url = make_url(uri)
    options = {"connect_timeout": _SECONDS} if url.get_driver_name() in _WITH_TIMEOUT else {}
    return create_engine(url, poolclass=NullPool, connect_args=options)


def _reason(error: Exception) -> str:
    """Return the driver's own words, on one line, without SQLAlchemy's name and link around them."""
    words = str(getattr(error, "orig", None) or error)
    return " ".join(words.split()).rstrip(".")
