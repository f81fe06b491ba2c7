"""Sweeps, and lists in parts, on two nodes of Ray, on Slurm, Dask and by submitit here: as in one process."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from clusters.slurm import Slurm, missing
from conftest import REPOSITORY
from e2e.program import Workplace
from recgauge.runs.folder import file_digest

pytestmark = pytest.mark.clusters
WORDS = ("-m", "model=random,popularity", "seed=0,1", "cutoffs=[5]")
PATIENCE = 600  # seconds, on a machine that does other work
RAY_STARTS = 5  # Ray itself gives a node 30 s to start

# A model of the user's own that kills a process when it is trained: 1 and 2 once, 3 always.
MORTAL = """
import os, signal, time
from dataclasses import dataclass
from pathlib import Path
from recgauge.models.popularity import Popularity

@dataclass(eq=False)
class Mortal(Popularity):
    number: int = 0

    def fit(self, train, *, rng):
        died = Path(f"died{self.number}")
        if self.number == 3 or (self.number and not died.exists()):
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(300)
        return super().fit(train, rng=rng)
"""


@dataclass
class Engine:
    """How a sweep is given to a cluster, and what the cluster should have left when it is over."""

    words: tuple[str, ...]
    slurm: Slurm | None = None

    def has_jobs(self) -> bool:
        return self.slurm is not None and self.slurm.command("squeue", "--me", "--noheader") != ""


@pytest.fixture
def workplace(tmp_path):
    return Workplace(tmp_path)


@pytest.fixture(scope="module")
def ray_address(tmp_path_factory):
    if find_spec("ray") is None:
        pytest.skip("ray is not installed: make clusters")
    log = tmp_path_factory.mktemp("ray") / "log.txt"
    for _ in range(RAY_STARTS):
        nodes = ray_nodes(log)
        if address := nodes.stdout.readline().strip():
            break
        nodes.communicate(timeout=PATIENCE)
    assert address, log.read_text()[-3000:]
    yield address
    nodes.communicate(timeout=PATIENCE)


def ray_nodes(log):
    with log.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("ray_nodes.py"))],
            env=os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        )


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    if find_spec("submitit") is None:
        pytest.skip("submitit is not installed: make clusters")
    if lacking := missing():
        pytest.skip(
            f"no Slurm can be started here, there is no {', '.join(lacking)}: apt install slurm-wlm munge"
        )
    with Slurm(tmp_path_factory.mktemp("slurm")) as daemons:
        yield daemons


@pytest.fixture(params=["ray", "slurm", "local", "dask"])
def engine(request, monkeypatch):
    if request.param == "ray":
        address = request.getfixturevalue("ray_address")
        return Engine(("hydra/launcher=ray", f"hydra.launcher.address={address}"))
    if request.param == "slurm":
        daemons = request.getfixturevalue("slurm")
        for name, text in daemons.environment.items():
            monkeypatch.setenv(name, text)
        return Engine(("hydra/launcher=submitit_slurm",), daemons)
    if request.param == "dask":
        if find_spec("distributed") is None:
            pytest.skip("distributed is not installed: make clusters")
        return Engine(("hydra/launcher=dask", "hydra.launcher.cpus_per_task=1"))
    if find_spec("submitit") is None:
        pytest.skip("submitit is not installed: make clusters")
    return Engine(("hydra/launcher=submitit_local", "hydra.launcher.array_parallelism=2"))


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    if find_spec("ray") is None and find_spec("submitit") is None:
        pytest.skip("neither ray nor submitit is installed: make clusters")
    workplace = Workplace(tmp_path_factory.mktemp("serial"))
    code, said = sweep(workplace, *WORDS)
    assert code == 0, said
    return workplace


def facts(workplace, job):
    """What must not depend on where a job ran."""
    folder = workplace.folder / "sweep" / str(job)
    record = json.loads((folder / "record.json").read_text())
    told = json.loads((folder / "delivered.json").read_text())
    (run,) = [run for run in workplace.runs() if run.info.run_id == told["run_id"]]
    assert run.info.status == "FINISHED"
    kept = {name: record[name] for name in ("results", "split", "dataset", "candidates_sha256", "settings")}
    del kept["settings"]["tracking"]  # the store is another one
    return kept | {
        "fingerprint": run.data.tags["recgauge.fingerprint"],
        "lists": file_digest(folder / "recommendations.parquet"),
    }


def statuses(workplace):
    with (workplace.folder / "sweep" / "summary.csv").open(newline="") as file:
        return [row["status"] for row in csv.DictReader(file)]


def sweep(workplace, *words):
    """Run a sweep in the folder "sweep"; return its exit code and all that it printed."""
    process = workplace.start_fresh(*words, "hydra.sweep.dir=sweep")
    out, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in err
    return process.returncode, out + err


def test_a_cluster_gives_what_one_process_gives(engine, serial, workplace):
    code, said = sweep(workplace, *WORDS, *engine.words)
    assert code == 0, said
    assert "4 done, 0 failed" in said
    assert "compared" in said
    for job in range(4):
        assert facts(workplace, job) == facts(serial, job)
    code, said = sweep(workplace, *WORDS, *engine.words, "reuse=true")
    assert code == 0, said
    assert "4 reused" in said


def test_the_job_of_a_process_that_is_killed_is_done_by_another(engine, workplace, monkeypatch):
    if engine.slurm is not None:
        pytest.skip("Slurm tells of it by its accounting, which this Slurm does not have")
    monkeypatch.setenv("PYTHONPATH", str(workplace.folder))
    (workplace.folder / "mortal.py").write_text(MORTAL)
    model = ["model=popularity", "model._target_=mortal.Mortal", "allowed_targets=[mortal]"]
    code, said = sweep(workplace, "-m", *model, "+model.number=0,1,2,3", "cutoffs=[5]", *engine.words)
    assert code == 1
    assert statuses(workplace) == ["done", "done", "done", "failed"], said
    assert "its process died twice" in said
    found = [run.info.status for run in workplace.runs()]
    assert found.count("FINISHED") == 3
    assert set(found) == {"FINISHED", "FAILED"}


def test_an_interruption_ends_the_jobs(engine, workplace):
    words = ["-m", "model=biased_mf", "model.n_epochs=1000000", "seed=0,1,2", "cutoffs=[5]"]
    process = workplace.start_fresh(*words, *engine.words, "hydra.sweep.dir=sweep")
    deadline = time.monotonic() + PATIENCE
    while len(list(workplace.folder.glob("sweep/*/log.txt"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.5)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "3 stopped" in out
    assert not list(workplace.folder.glob("sweep/*/record.json"))
    assert not engine.has_jobs()


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """Lists and relevant items in any order, so that they are spread first."""
    folder = tmp_path_factory.mktemp("lists")
    rng = np.random.default_rng(3)
    user = np.repeat(np.arange(20_000), 20)
    columns = {"user": user, "item": rng.permuted(np.tile(np.arange(20), (20_000, 1)), axis=1).ravel()}
    columns["rank"] = np.tile(np.arange(20), 20_000)
    truth = {"user": np.arange(20_000), "item": rng.integers(0, 40, 20_000)}
    for name, table in (("lists", pa.table(columns)), ("truth", pa.table(truth))):
        (folder / name).mkdir()
        parquet.write_table(table.take(pa.array(rng.permutation(len(table)))), folder / name / "0.parquet")
    return folder


def evaluated(workplace, lists, *words):
    """Judge the lists in parts, in the folder "parts", and return the results."""
    files = ["--run", lists / "lists", "--truth", lists / "truth", "--out", "out.json", "--n-items", "40"]
    metrics = "ndcg@10,recall@5,catalog_coverage@5,gini@5,personalization@5"
    command = [sys.executable, "-m", "recgauge", "evaluate", *files, "--metrics", metrics, *words]
    done = subprocess.run(
        [*command, "--memory-mib", "16", "--work", "parts"],
        cwd=workplace.folder, capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((workplace.folder / "out.json").read_text())["runs"].values()
    return run


def test_a_cluster_judges_parts_of_lists(engine, lists, workplace, tmp_path_factory):
    launcher, *settings = engine.words
    here = evaluated(Workplace(tmp_path_factory.mktemp("here")), lists)
    words = ["--launcher", launcher.removeprefix("hydra/launcher="), *settings]
    assert evaluated(workplace, lists, *words) == here
    finished = list(workplace.folder.glob("parts/*/*part-*.npz"))
    assert len(finished) > 2
    finished[0].unlink()
    known = {file: file.stat().st_mtime_ns for file in finished[1:]}
    assert evaluated(workplace, lists, *words) == here
    assert known == {file: file.stat().st_mtime_ns for file in finished[1:]}


EXAMPLES = {"ray_data": "ray", "spark": "pyspark"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_judges_parts_of_lists(name, request, lists, workplace):
    if find_spec(EXAMPLES[name]) is None:
        pytest.skip(f"{EXAMPLES[name]} is not installed: make clusters")
    if name == "spark" and not shutil.which("java"):
        pytest.skip("there is no Java, which Spark needs: apt install default-jre-headless")
    how = {"PYSPARK_PYTHON": sys.executable, "RAY_DATA_DISABLE_PROGRESS_BARS": "1"}
    if name == "ray_data":
        how["RAY_ADDRESS"] = request.getfixturevalue("ray_address")
    command = [sys.executable, str(REPOSITORY / f"examples/{name}_evaluate.py")]
    done = subprocess.run(
        [*command, str(lists / "lists"), str(lists / "truth"), "40"],
        cwd=workplace.folder, env=os.environ | how, capture_output=True, text=True, check=False,
        timeout=PATIENCE,
    )  # fmt: skip
    values = evaluated(workplace, lists, "--metrics", "ndcg@10,recall@10,gini@10")["values"]
    assert str(values) in done.stdout, done.stderr[-3000:]


def test_slurm_says_why_it_refuses_a_job(slurm, workplace, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
    words = ["hydra/launcher=submitit_slurm", "tracking=off"]
    code, printed = sweep(workplace, *WORDS, *words, "hydra.launcher.partition=nowhere")
    assert code == 1
    assert printed.count("error:") == 1
    assert "sbatch refuses the jobs: invalid partition specified: nowhere" in printed
