"""A run works wherever it is started: in containers, without a reader, under a wrong clock."""

import os
import subprocess
import sys

import pytest

from conftest import REPOSITORY

pytestmark = pytest.mark.e2e


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
