"""Stores: what is no address, what of one is shown, and what cannot be opened."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recgauge.cli.commands.cli import main
from recgauge.errors import TrackingError
from recgauge.tracking.store import Store, open_store, shown


@pytest.mark.parametrize("uri", ["mlruns", "", "file:///mlruns", "http://a\\@b", "sqlite://x"])
def test_what_is_no_address_is_refused_with_what_is(uri):
    with pytest.raises(TrackingError, match="neither a database nor a server"):
        Store(uri)


@pytest.mark.parametrize("folder", ["a%20b", "50%25", "why?"])
def test_a_path_that_mlflow_takes_for_another_is_refused_at_once(folder):
    with pytest.raises(TrackingError, match="another one for MLflow"):
        Store(f"sqlite:////home/ann/{folder}/mlflow.db")
    assert Store("sqlite:////home/ann/100% sure/mlflow.db?timeout=5").file == Path(
        "/home/ann/100% sure/mlflow.db"
    )


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


def test_what_is_no_database_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("this is not a database, only some text" * 50)
    with pytest.raises(TrackingError, match=r"text\.db cannot be opened for writing"):
        open_store(Store(f"sqlite:///{tmp_path}/text.db"))
    with pytest.raises(TrackingError, match="not a regular file but a folder"):
        open_store(Store(f"sqlite:///{tmp_path}"))
    with pytest.raises(TrackingError, match="the folder /no/such/folder does not exist"):
        open_store(Store("sqlite:////no/such/folder/a.db"))
    with pytest.raises(TrackingError, match="Connection refused"):
        open_store(Store("http://127.0.0.1:9"))


def test_a_database_of_another_program_stays_as_it_is(tmp_path, capsys):
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER)")
    before = file.read_bytes()
    assert main(["runs", "--uri", f"sqlite:///{file}"]) == 1
    assert "is a database, but not one of MLflow" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_an_address_of_a_database_that_cannot_work_is_told_without_its_password():
    with pytest.raises(TrackingError, match=r"\*\*\*@.* No module named 'MySQLdb'") as raised:
        open_store(Store("mysql://ann:secret@127.0.0.1/db"))
    assert "secret" not in str(raised.value)
    with pytest.raises(TrackingError, match="cannot connect to the database") as raised:
        open_store(Store("postgresql://ann:secret@127.0.0.1:port/db"))
    assert "secret" not in str(raised.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are of Unix")
def test_pipes_and_devices_are_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "runs.db")
    for path, kind in ((tmp_path / "runs.db", "pipe"), (Path("/dev/zero"), "device")):
        with pytest.raises(TrackingError, match=f"not a regular file but a {kind}"):
            open_store(Store(f"sqlite:///{path}"))
    os.mkfifo(tmp_path / "other.db.lock")
    with pytest.raises(TrackingError, match="not a regular file but a pipe"):
        open_store(Store(f"sqlite:///{tmp_path}/other.db"))


def test_a_deleted_experiment_is_told(store):
    opened = open_store(store)
    opened.client.delete_experiment(opened.experiment_id)
    with pytest.raises(TrackingError, match=r"'recgauge' was deleted.*tracking\.experiment=NAME"):
        open_store(Store(f"{store.uri}?timeout=5"))


def test_reading_a_run_makes_no_store(tmp_path, capsys):
    file = tmp_path / "m.db"
    assert main(["conventions", "NO_SUCH_RUN", "--uri", f"sqlite:///{file}"]) == 1
    told = capsys.readouterr().err
    assert "NO_SUCH_RUN" in told
    assert f"sqlite:///{file} does not exist" in told
    assert "give the run's output folder" in told
    assert not file.exists()


def test_a_database_that_sends_files_to_a_server_is_refused(tmp_path):
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    open_store(Store(uri, "shop"))
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as database, database:
        database.execute("UPDATE experiments SET artifact_location = 's3://bucket/x'")
    moved = f"sqlite:///{(tmp_path / 'mlflow.db').rename(tmp_path / 'unpacked.db')}"
    with pytest.raises(TrackingError, match="not you"):
        open_store(Store(moved, "shop"))
    open_store(Store(moved, "mine"))
