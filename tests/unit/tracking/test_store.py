"""Addresses: which are none, what is shown of them, and which a file may not name."""

import pytest

from recgauge.errors import TrackingError
from recgauge.tracking import Store
from recgauge.tracking.store import shown


@pytest.mark.parametrize(
    "uri",
    [
        "mlruns",
        "",
        "file:///mlruns",
        "ftp://host",
        "http://a\\@b",
        "sqlite://x",
        "http:/a",
    ],
)
def test_what_is_no_address_is_refused_with_what_is(uri):
    with pytest.raises(TrackingError, match="neither a database nor a server"):
        Store(uri)


def test_settings_name_a_store_or_none():
    assert Store.of({"uri": "sqlite:///a.db", "experiment": 2026, "_target_": "x", "lease": 3}) == Store(
        "sqlite:///a.db", "2026"
    )
    assert Store.of({}) is None
    assert Store.of(None) is None
    with pytest.raises(TrackingError, match=r"tracking\.experiment"):
        Store("sqlite:///a.db", "")


SECRETS = [
    "postgresql://ann:hunter2@host/db",
    "postgresql:/ann:hunter2@host/db",
    "postgresql://ann:a/b?c#d@hunter2@host/db",
    "postgresql:ann:hunter2@host/db",
    "postgresql+psycopg2://host/db?hunter2",
    "postgresql://host/db?sslpassword=hunter2&x=hunter2",
    "mssql+pyodbc:///?odbc_connect=PWD%3Dhunter2",
    "https://hunter2@host/mlflow",
    "https://host/ann:hunter2@mlflow",
    "https://host/mlflow;hunter2",
    "https://host/#hunter2",
    "ann:hunter2@host",
    "sqlite:///a.db?key=hunter2",
]


@pytest.mark.parametrize("uri", SECRETS)
def test_no_secret_of_an_address_is_shown(uri):
    assert "hunter2" not in shown(uri)
    try:
        store = Store(uri)
        told = f"{store!r} {store.plain()}"
    except TrackingError as error:
        told = str(error)
    assert "hunter2" not in told


@pytest.mark.parametrize("uri", ["https://host:5000/mlflow", "sqlite:////a/b@c.db", "postgresql://host/db"])
def test_what_is_not_secret_is_shown(uri):
    assert shown(uri) == uri
