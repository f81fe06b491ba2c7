"""When Python looks for garbage: not while a program starts."""

import subprocess
import sys

import pytest


def test_a_command_that_is_called_by_another_program_leaves_its_collection_alone():
    code = (
        "import gc; from recgauge.cli.commands.cli import main; main(['data', 'list']); print(gc.isenabled())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("True\n")


RUNNING = """
import gc, sys
from recgauge.cli import launching
from recgauge.cli.commands.cli import main

launching.run_alone = lambda config: print(gc.isenabled()) or True
launching.launch = lambda *sweep: print(gc.isenabled()) or []
sys.argv = ["recgauge", "run", "tracking=off", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("words", [[], ["-m", "seed=1,2"]])
def test_it_goes_on_before_jobs(tmp_path, words):
    command = [sys.executable, "-c", RUNNING, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "True\n"
