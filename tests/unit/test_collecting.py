"""When Python looks for garbage: not while a program starts."""

import subprocess
import sys

CODE = """
import gc
from recgauge.utils import collecting
collecting.go_on()
before = gc.isenabled(), gc.get_freeze_count()
collecting.pause()
paused = gc.isenabled()
collecting.go_on()
print(before, paused, gc.isenabled(), gc.get_freeze_count() > 1000)
frozen = gc.get_freeze_count()
collecting.go_on()
print(gc.get_freeze_count() == frozen)
"""


def test_it_is_paused_and_goes_on_among_new_objects():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["(True, 0) False True True", "True"]


def test_a_command_that_is_called_by_another_program_leaves_its_collection_alone():
    code = (
        "import gc; from recgauge.app.commands.cli import main; main(['data', 'list']); print(gc.isenabled())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("True\n")


PLANNING = """
import gc
from recgauge.app import main
from recgauge.app.sweep import begin
from recgauge.utils import collecting

begin.begin = lambda config: print(gc.isenabled())
collecting.pause()
main.SweepSummary().on_multirun_start(None)
"""


def test_it_goes_on_before_the_jobs_of_a_sweep_are_composed():
    done = subprocess.run([sys.executable, "-c", PLANNING], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
