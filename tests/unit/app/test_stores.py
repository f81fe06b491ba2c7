import os
import socket
from pathlib import Path

import pytest

from recgauge.app.commands.cli import main
from recgauge.app.tracking.addresses import check_store, store_lock
from recgauge.app.tracking.mlflow_store import MlflowStore
from recgauge.app.tracking.store import MlflowTracker
from recgauge.errors import TrackingError


def test_an_experiment_may_be_called_by_a_number():
    assert MlflowTracker(experiment=2026).experiment == "2026"  # type: ignore[arg-type]


def test_a_new_database_in_an_existing_folder_is_fine(tmp_path):
    check_store(f"sqlite:///{tmp_path}/mlflow.db")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(TrackingError, match=r"folder .*nope does not exist"):
        check_store(f"sqlite:///{tmp_path}/nope/mlflow.db")


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("this is not a database, only some text" * 50)
    with pytest.raises(TrackingError, match=r"text\.db cannot be opened for writing"):
        check_store(f"sqlite:///{tmp_path}/text.db")


def test_a_folder_is_no_database(tmp_path):
    with pytest.raises(TrackingError, match="cannot be opened"):
        check_store(f"sqlite:///{tmp_path}")


def test_a_server_that_does_not_answer_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused at once
        port = taken.getsockname()[1]
        with pytest.raises(TrackingError, match="does not answer"):
            check_store(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize("uri", ["mlruns", "file:///tmp/mlruns", "ftp://somewhere"])
def test_other_addresses_are_refused(uri):
    with pytest.raises(TrackingError, match="neither a database nor a server"):
        check_store(uri)


def test_a_driver_that_is_not_installed_is_named():
    with pytest.raises(TrackingError, match=r"ann:\*\*\*@.* driver MySQLdb is not installed.*mysqlclient"):
        check_store("mysql://ann:secret@127.0.0.1/db")


def test_an_address_that_is_none_is_refused():
    with pytest.raises(TrackingError, match="is no address of a database"):
        check_store("postgresql://ann:secret@127.0.0.1:port/db")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are of Unix")
def test_pipes_and_devices_are_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "runs.db")
    for path, kind in ((tmp_path / "runs.db", "pipe"), (Path("/dev/zero"), "device")):
        with pytest.raises(TrackingError, match=f"not a regular file but a {kind}"):
            check_store(f"sqlite:///{path}")
    os.mkfifo(tmp_path / "other.db.lock")
    with pytest.raises(OSError, match=r"other\.db\.lock"), store_lock(f"sqlite:///{tmp_path}/other.db"):
        pass


def test_reading_a_run_makes_no_store(tmp_path, capsys):
    file = tmp_path / "m.db"
    assert main(["conventions", "NO_SUCH_RUN", "--uri", f"sqlite:///{file}"]) == 1
    told = capsys.readouterr().err
    assert "NO_SUCH_RUN" in told
    assert f"sqlite:///{file} does not exist" in told
    assert "give the run's output folder" in told
    assert not file.exists()


def test_only_the_making_of_a_store_does_not_wait_for_the_disk(tmp_path):
    store = MlflowStore(f"sqlite:///{tmp_path}/mlflow.db", "e")
    store.prepare()
    with store.client._tracking_client.store.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
    assert not (tmp_path / ".mlflow.db.unfinished").exists()


def test_rows_that_another_process_adds_at_the_same_time_do_no_harm(tmp_path):
    from sqlalchemy import event
    from sqlalchemy.orm import Session

    mine, other = (MlflowStore(f"sqlite:///{tmp_path}/mlflow.db", "e") for _ in range(2))
    runs = [store.create("run", {}) for store in (mine, other)]
    common = {"name": "ratings", "source_type": "code", "source": "{}", "profile": "{}"}
    data = [{**common, "digest": part, "context": part} for part in ("train", "test")]
    others = [
        lambda: other.add_files(runs[1], [], str(tmp_path), data),
        lambda: other.mark(runs[0], "seen"),
    ]
    writes = iter(())

    def other_is_first(*_):  # between MLflow's look and its write
        for write in writes:
            write()

    event.listen(Session, "before_flush", other_is_first)
    try:
        writes = iter(others[:1])
        mine.add_files(runs[0], [], str(tmp_path), data)
        writes = iter(others[1:])
        mine.mark(runs[0], "seen")
    finally:
        event.remove(Session, "before_flush", other_is_first)
    for run in runs:
        inputs = mine.client.get_run(run).inputs.dataset_inputs
        assert sorted(one.dataset.digest for one in inputs) == ["test", "train"]
    assert mine.tag(runs[0], "seen") == "true"
