"""A sweep tells the truth about its jobs whatever ends early: the store, a job, or the user."""

import csv
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from recgauge.cli.commands.cli import main

pytestmark = pytest.mark.e2e

# A class of the user's own that does something to the store in the middle of a sweep.
MEDDLER = """
import os, time
from dataclasses import dataclass
from recgauge.models.popularity import Popularity

@dataclass(eq=False)
class Meddler(Popularity):
    number: int = 0

    def fit(self, train, *, rng):
        if self.number == 1:
            {action}
        return super().fit(train, rng=rng)
"""


def sweep(workplace, action, *arguments, **environment):
    (workplace.folder / "meddler.py").write_text(MEDDLER.format(action=action))
    return workplace.run(
        "-m",
        "hydra.sweep.dir=sweep",
        "model=popularity",
        "model._target_=meddler.Meddler",
        "+model.number=0,1,2",
        "allowed_targets=[meddler]",
        "cutoffs=[5]",
        *arguments,
        PYTHONPATH=str(workplace.folder),
        **environment,
    )


def summary(workplace) -> list[dict[str, str]]:
    with (workplace.folder / "sweep" / "summary.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def is_complete(folder: Path) -> bool:
    return all(
        (folder / name).is_file() for name in ("record.json", "recommendations.parquet", "per_user.parquet")
    )


def check_not_tracked(workplace, done):
    """A store that went away in the middle costs no result, and the table says which it lacks."""
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "bug of recgauge" not in done.err
    statuses = [row["status"] for row in summary(workplace)]
    assert set(statuses[:1]) <= {"done", "not tracked"}
    assert statuses[1:] == ["not tracked"] * 2
    assert all(float(row["ndcg_at_5"]) > 0 for row in summary(workplace))
    for number in range(3):
        assert is_complete(workplace.folder / "sweep" / str(number))
    for number in (1, 2):
        assert f"sweep/{number}" in done.out


@pytest.mark.usefixtures("has_store")
def test_a_database_moved_away_in_the_middle(workplace, capsys, monkeypatch):
    # the first job has been delivered by then
    action = """while not os.path.exists('outputs/sweep/0/delivered.json'):
                time.sleep(0.1)
            os.rename('mlflow.db', 'moved.db')"""
    done = sweep(workplace, action, "hydra.sweep.dir=outputs/sweep")
    (workplace.folder / "sweep").symlink_to("outputs/sweep")
    check_not_tracked(workplace, done)
    monkeypatch.chdir(workplace.folder)
    (workplace.folder / "mlflow.db").unlink(missing_ok=True)
    (workplace.folder / "moved.db").rename("mlflow.db")
    assert main(["sync", "--uri", workplace.uri]) == 0, capsys.readouterr().err
    finished = [run for run in workplace.runs() if run.info.status == "FINISHED"]
    assert len({run.data.tags["recgauge.fingerprint"] for run in finished}) == len(finished) == 3
    assert all(run.data.tags["recgauge.sweep"].endswith("sweep") for run in finished)
    assert main(["sync", "--uri", workplace.uri]) == 0
    assert len([run for run in workplace.runs() if run.info.status == "FINISHED"]) == 3


@pytest.mark.slow
def test_a_server_killed_in_the_middle(workplace):
    with server(workplace.folder) as (address, process):
        action = f"os.kill({process.pid}, 9)"
        done = sweep(workplace, action, f"tracking.uri={address}", MLFLOW_HTTP_REQUEST_MAX_RETRIES="1")
    check_not_tracked(workplace, done)


class server:  # noqa: N801 - a context
    """A real MLflow server on a free port."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        import socket

        import requests

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = [
            "--backend-store-uri",
            f"sqlite:///{self.folder}/server.db",
            "--port",
            str(port),
            "--workers",
            "1",
        ]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", *words],
            cwd=self.folder,
            env=os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},  # processes that outlive it
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        address, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 240
        while time.monotonic() < deadline:
            try:
                if requests.get(f"{address}/health", timeout=5).ok:
                    return address, self.Group(os.getpgid(self.process.pid))
            except requests.RequestException:
                time.sleep(0.2)
        self.__exit__()  # which is not called where this raises
        raise TimeoutError(address)

    class Group:
        """The server's processes, killed as one."""

        def __init__(self, group):
            self.pid = -group

    def __exit__(self, *_):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=60)


def test_a_sweep_in_an_old_folder_shows_its_own_jobs_only(workplace):
    first = workplace.run(
        "-m", "hydra.sweep.dir=sweep", "model=random,popularity", "cutoffs=[5]", "tracking=off"
    )
    assert first.code == 0, first.err
    again = workplace.run("-m", "hydra.sweep.dir=sweep", "model=random", "cutoffs=[5]", "tracking=off")
    assert again.code == 0, again.err
    assert "1 done, 0 failed" in again.out
    assert len(summary(workplace)) == 1


def test_a_component_that_ends_the_program_ends_only_its_job(workplace):
    done = sweep(workplace, "raise SystemExit(0)", "tracking=off")
    assert done.code == 1
    assert [row["status"] for row in summary(workplace)] == ["done", "failed", "done"]
    assert done.err.count("a component ended the program") == 1


def test_one_wrong_value_and_missing_data_stop_only_their_jobs(workplace):
    done = workplace.run(
        "-m", "hydra.sweep.dir=sweep", "model.n_factors=4,0", "dataset=demo,ml_1m", "cutoffs=[5]",
        "tracking=off", "data.offline=true", "data.mirror=null", "data.cache=empty",
    )  # fmt: skip
    assert done.code == 1
    assert "Traceback" not in done.err
    assert [row["status"] for row in summary(workplace)] == ["done", "no data", "failed", "failed"]
    assert "[1/4] svd on demo, model.n_factors=4" in done.out
    assert done.err.count("has no ml-1m.zip") == 1  # before the first job
    assert "has no ml-1m.zip" not in done.out
    assert "n_factors must be a whole number >= 1" in summary(workplace)[2]["reason"]


def test_batches_of_a_sweep_end_with_one_table_and_one_exit_code(workplace):
    words = ["model=popularity", "seed=0,-1,2", "cutoffs=[5]", "tracking=off", "hydra.sweep.dir=sweep"]
    done = workplace.run("-m", *words, "hydra.sweeper.max_batch_size=2")
    assert done.code == 1
    assert done.out.count("2 done, 1 failed") == 1
    assert [row["status"] for row in summary(workplace)] == ["done", "failed", "done"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["model=random,nosuch"], "model=nosuch: model has no such option"),
        (["model=random,popularity", "split.nosuch=1"], "split.nosuch"),
        (["seed=0,1", "tracking.uri=sqlite:////nowhere/at/all/mlflow.db"], "does not exist"),
    ],
)
def test_a_wrong_word_stops_the_sweep_before_it_begins(workplace, words, message):
    done = workplace.run("-m", "hydra.sweep.dir=sweep", *words)
    assert done.code == 1
    assert done.err.count("error: ") == 1
    assert done.err.count(message) == 1
    assert "Traceback" not in done.err
    assert "demo" not in done.out
    assert not (workplace.folder / "mlflow.db").exists()
