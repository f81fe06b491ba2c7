"""A run works wherever it is started: in containers, without a reader, under a wrong clock."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_a_terminal_that_knows_only_ascii(workplace):
    done = workplace.succeed("model=popularity", "tracking=off", PYTHONIOENCODING="ascii")
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
