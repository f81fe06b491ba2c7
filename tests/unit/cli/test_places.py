"""Where a run writes if the current folder, the home folder or the temporary one is of no use."""

import stat

import pytest

from recgauge.sweeps import places as folders
from recgauge.utils import files


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine of its own: folders home, work and tmp; those in the returned set cannot be written."""
    forbidden = set()
    for name in ("home", "work", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("MLFLOW_TRACKING_URI", "MPLCONFIGDIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "tmp"))
    real = files.is_writable

    def is_writable(folder):
        return folder.resolve().name not in forbidden and real(folder)

    for module in (files, folders):
        monkeypatch.setattr(module, "is_writable", is_writable)
    folders.work_folder.cache_clear()
    yield tmp_path, forbidden
    folders.work_folder.cache_clear()


def own(machine):
    return machine[0] / "tmp" / f"recgauge-{files.user_number()}"


def test_the_current_folder_is_used_without_a_word(machine, capsys):
    assert folders.store_of_user() == f"sqlite:///{machine[0]}/work/mlflow.db"
    assert folders.work_folder() == machine[0] / "work"
    assert capsys.readouterr().err == ""
    assert list((machine[0] / "home").iterdir()) == []


def test_else_a_folder_in_the_home_folder_which_is_said_once(machine, capsys):
    machine[1].add("work")
    assert folders.work_folder() == machine[0] / "home" / "recgauge"
    assert folders.store_of_user() == f"sqlite:///{machine[0]}/home/recgauge/mlflow.db"
    assert capsys.readouterr().err.count("cannot be written") == 1


def test_else_a_temporary_folder_that_only_the_user_can_enter(machine, capsys):
    machine[1].update({"work", "home"})
    assert folders.work_folder() == own(machine)
    assert stat.S_IMODE(own(machine).stat().st_mode) == 0o700
    assert str(own(machine)) in capsys.readouterr().err


OPEN, FILE = (lambda f: f.mkdir() or f.chmod(0o777)), (lambda f: f.write_text(""))


@pytest.mark.parametrize("prepare", [OPEN, FILE, lambda f: f.symlink_to(f.parents[1] / "home")])
def test_a_temporary_folder_that_others_made_or_can_write_is_not_used(machine, prepare):
    machine[1].update({"work", "home"})
    prepare(own(machine))
    assert files.user_temporary() is None
    assert folders.work_folder() == machine[0] / "work"  # whose error names it
