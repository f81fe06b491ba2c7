"""What a run says of the code and the machine that computed it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from recgauge.runs.environment import environment

CHECKOUT = Path(__file__).parents[3]


@pytest.mark.skipif(
    not (CHECKOUT / ".git").exists() or shutil.which("git") is None, reason="needs a git checkout"
)
def test_a_run_in_a_checkout_names_its_commit():
    command = ["git", "-C", str(CHECKOUT), "rev-parse", "HEAD"]
    head = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert environment()["git_commit"] == head
