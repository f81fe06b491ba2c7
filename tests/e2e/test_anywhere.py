"""A run works wherever it is started: in containers, without a reader, under a wrong clock."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow import MlflowClient

from conftest import REPOSITORY

pytestmark = pytest.mark.e2e

SANDBOX = [
    "unshare",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "sh",
    str(Path(__file__).with_name("sandbox.sh")),
]
PYTHON = Path(sys.base_prefix).resolve()
OLD_CLOCK = """
import time
time.time, time.time_ns = (lambda: -86_400.0), (lambda: -86_400_000_000_000)
"""


def run_in_sandbox(folders, directory, command):
    """Run a shell command as an unknown user who can write only below /tmp."""
    sandbox = [*SANDBOX, *map(str, [PYTHON, *folders]), "--", str(directory)]
    try:
        tried = subprocess.run([*sandbox, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        pytest.skip(f"no sandbox: {error}")
    if tried.returncode:
        pytest.skip(f"no sandbox, which needs root and Linux: {tried.stderr.strip()}")
    return subprocess.run([*sandbox, "sh", "-c", command], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_make_run_in_a_read_only_checkout_as_a_user_without_name_and_home():
    if not (REPOSITORY / ".venv" / ".installed").exists():
        pytest.skip("the checkout has no environment of its own: `make install` makes it")
    steps = "! touch new 2>/dev/null && make run && cat /tmp/recgauge-12345/recgauge/outputs/*/*/record.json"
    done = run_in_sandbox([REPOSITORY], REPOSITORY, f"id -u && {steps}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("12345\n")
    assert "svd on demo" in done.stdout
    assert '"ndcg_at_10"' in done.stdout
    note = "the current folder cannot be written; outputs and tracked runs go to"
    assert done.stderr.splitlines()[0] == f"note: {note} /tmp/recgauge-12345/recgauge"
    assert "Traceback" not in done.stderr
    assert "cannot cache" not in done.stderr


@pytest.mark.slow
def test_a_package_of_root_without_kernels_runs_for_another_user(tmp_path):
    package = tmp_path / "site" / "recgauge"
    shutil.copytree(REPOSITORY / "src" / "recgauge", package, ignore=shutil.ignore_patterns("__pycache__"))
    for data in ("conf", "experiments"):
        shutil.copytree(REPOSITORY / data, package / data, dirs_exist_ok=True)
    shutil.copytree(REPOSITORY / "src" / "hydra_plugins", package.parent / "hydra_plugins")
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    run = (
        f'{sys.executable} -c "import sys; from recgauge.cli.commands.cli import main; sys.exit(main())" run'
    )
    steps = (
        f"export PYTHONPATH={package.parent} && {run} metrics=[ranking,rating] model=biased_mf && ls mlruns"
    )
    done = run_in_sandbox([sys.prefix, package.parent], "/tmp/work", f"{steps} && find /tmp -name '*.nbi'")
    assert done.returncode == 0, done.stderr
    assert "biased_mf on demo" in done.stdout
    assert "/tmp/recgauge-12345/.cache/numba/" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_only_ascii(workplace):
    done = workplace.run("model=popularity", "tracking=off", PYTHONIOENCODING="ascii")
    assert done.code == 0, done.err
    header, first = done.out.splitlines()[2:4]
    assert " +- ." in first
    assert len(header) == len(first)
    assert done.out.isascii()


def test_nobody_reads_the_output_and_the_store_lies_elsewhere(workplace, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    uri = f"sqlite:///{elsewhere}/runs.db"
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        command = [sys.executable, str(REPOSITORY / "run.py"), "model=popularity", f"tracking.uri={uri}"]
        done = subprocess.run(
            command, cwd=workplace.folder, stdout=nobody, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert all(line.startswith("note: ") for line in done.stderr.splitlines())  # a slow store is waited for
    workplace.uri = uri
    (run,) = workplace.runs()
    assert run.info.status == "FINISHED"
    assert run.info.artifact_uri == f"{elsewhere}/mlruns/{run.info.run_id}/artifacts"
    assert (elsewhere / "mlruns" / run.info.run_id / "artifacts" / "record.json").is_file()
    assert [path.name for path in workplace.folder.iterdir()] == ["outputs"]


@pytest.mark.slow
def test_a_clock_before_1970(workplace, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clock")
    (folder / "sitecustomize.py").write_text(OLD_CLOCK)
    done = workplace.run_fresh("model=popularity", PYTHONPATH=str(folder))
    assert done.code == 0, done.err
    (run,) = workplace.runs()
    assert run.info.status == "FINISHED"
    client = MlflowClient(tracking_uri=workplace.uri)
    assert client.get_metric_history(run.info.run_id, "ndcg_at_10")[0].timestamp == 0
