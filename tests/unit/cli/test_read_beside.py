"""What a run says of its code, and what it reads beside its data set: own classes, files of settings."""

import shutil
import subprocess
import sys

import pytest

from conftest import REPOSITORY
from recgauge.runs.environment import environment, read_beside


@pytest.fixture
def own_class(tmp_path, monkeypatch):
    path = tmp_path / "ownmodels.py"
    path.write_text("class Mine:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield path
    sys.modules.pop("ownmodels", None)


def test_a_class_of_the_users_counts_by_its_file(own_class):
    settings = {
        "model": {"_target_": "ownmodels.Mine"},
        "split": {"_target_": "recgauge.x.Y"},
        "allowed_targets": ["ownmodels"],
    }
    before = read_beside(settings)
    assert list(before) == ["ownmodels.Mine"]
    own_class.write_text("class Mine:\n    other = 1\n")
    assert read_beside(settings) != before


def test_a_class_without_source_or_that_cannot_be_imported_is_left_to_others():
    found = read_beside({"model": {"_target_": "math.nothing"}, "split": {"_target_": "nowhere.at.All"}})
    assert set(found.values()) == {"not importable"}


def test_files_that_settings_name_count_by_their_content(tmp_path):
    test_rows, more = tmp_path / "test.csv", tmp_path / "part-1.csv"
    test_rows.write_text("1")
    more.write_text("2")
    settings = {
        "split": {"test": [str(test_rows)], "train": f"{tmp_path}/part-*.csv"},
        "model": {"values": "rating"},
    }
    before = read_beside(settings)
    assert set(before) == {str(test_rows), str(more)}
    more.write_text("3")
    after = read_beside(settings)
    assert after[str(more)] != before[str(more)]
    assert after[str(test_rows)] == before[str(test_rows)]


def test_the_data_set_and_what_is_free_have_digests_elsewhere(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1")
    assert read_beside({"dataset": {"path": str(path)}, "tracking": {"uri": str(path)}, "seed": 0}) == {}


@pytest.mark.skipif(
    not (REPOSITORY / ".git").exists() or shutil.which("git") is None, reason="needs a git checkout"
)
def test_a_run_in_a_checkout_names_its_commit():
    command = ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"]
    head = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert environment()["git_commit"] == head
