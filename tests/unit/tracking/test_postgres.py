"""A PostgreSQL server of its own: refusals come at once, and first runs do not get in each other's way."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from recgauge.errors import TrackingError
from recgauge.tracking import Store
from recgauge.tracking.store import open_store

pytest.importorskip("psycopg2", reason="needs psycopg2 (psycopg2-binary)")
pytestmark = pytest.mark.slow

OPEN = "import sys; from recgauge.tracking.store import *; open_store(Store(sys.argv[1]))"


def binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    if not found and named is None:
        pytest.skip("needs the programs of a PostgreSQL server (initdb, pg_ctl)")
    return found[-1].parent if found else Path(str(named)).parent


@pytest.fixture(scope="module")
def database():
    """Start a server with an empty database; returns its address with "{}" for the password."""
    programs = binaries()
    # the server refuses to run as the superuser
    as_user = (
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    )
    folder = Path(tempfile.mkdtemp(prefix="recgauge-pg-"))
    (folder / "password").write_text("right\n")
    if as_user:
        for path in (folder, folder / "password"):
            shutil.chown(path, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = str(folder / "data")
    login = ["-U", "postgres", "-A", "scram-sha-256", f"--pwfile={folder}/password"]
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    subprocess.run([*as_user, programs / "initdb", "-D", data, "-N", *login], check=True, capture_output=True)
    control = [*as_user, str(programs / "pg_ctl"), "-D", data, "-w"]
    subprocess.run(
        [*control, "-o", options, "-l", f"{folder}/log", "start"], check=True, stdout=subprocess.DEVNULL
    )
    try:
        yield f"postgresql+psycopg2://postgres:{{}}@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, capture_output=True)
        shutil.rmtree(folder)


def test_a_wrong_password_is_told_at_once_and_not_shown(database):
    begin = time.monotonic()
    with pytest.raises(TrackingError, match="password authentication failed") as caught:
        open_store(Store(database.format("wrongsecret")))
    assert time.monotonic() - begin < 20
    assert "wrongsecret" not in str(caught.value)


def test_a_server_that_is_not_there_is_told_at_once():
    with pytest.raises(TrackingError, match=r"cannot connect to the database: .*refused"):
        open_store(Store("postgresql+psycopg2://ann:secret@127.0.0.1:1/db"))


def test_a_new_database_gets_its_tables_and_its_experiment(database):
    uri = database.format("right")
    assert open_store(Store(uri, "first")).experiment_id
    subprocess.run([sys.executable, "-c", OPEN, uri], check=True)
