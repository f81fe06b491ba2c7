"""What a run says of its code, and what it reads beside its data set: own classes, files of settings."""

import shutil
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

from conftest import REPOSITORY
from recgauge.datasets.table import Table
from recgauge.runs.environment import environment, read_beside


@pytest.fixture
def own_class(tmp_path, monkeypatch):
    path = tmp_path / "ownmodels.py"
    path.write_text("class Mine:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield path
    sys.modules.pop("ownmodels", None)


def sources(folder, target="ownmodels.Mine"):
    """Return the digest of a class's sources as a new process sees it."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("ownmodels", "helping")]:
        del sys.modules[name]
    settings = {"model": {"_target_": target}, "allowed_targets": [target.partition(".")[0]]}
    return read_beside(settings)[target]


@pytest.mark.parametrize("helper", ["beside.py", "helping/__init__.py", "helping/deep/scores.py"])
def test_what_a_class_may_import_from_its_folder_counts(own_class, helper):
    path = own_class.parent / helper
    for folder in reversed(path.relative_to(own_class.parent).parents[:-1]):
        (own_class.parent / folder).mkdir()
        (own_class.parent / folder / "__init__.py").touch()
    path.write_text("FACTOR = 1\n")
    before = sources(own_class.parent)
    path.write_text("FACTOR = -1\n")
    changed = sources(own_class.parent)
    path.write_text("FACTOR = 1\n")
    assert changed != before == sources(own_class.parent)


def test_files_that_settings_name_count_by_their_content(tmp_path):
    test_rows, more = tmp_path / "test.csv", tmp_path / "part-1.csv"
    test_rows.write_text("1")
    more.write_text("2")
    settings = {
        "split": {"test": [str(test_rows)], "train": f"{tmp_path}/part-*.csv"},
        "model": {"values": "rating"},
    }
    before = read_beside(settings)
    assert set(before) == {"recgauge", str(test_rows), str(more)}
    more.write_text("3")
    after = read_beside(settings)
    assert after[str(more)] != before[str(more)]
    assert after[str(test_rows)] == before[str(test_rows)]


def test_a_folder_of_parquet_counts_by_the_bytes_of_its_files(tmp_path):
    rows = pa.table({"user": ["a", "b"], "item": [1, 2], "rank": [1, 1]})
    parquet.write_table(rows, tmp_path / "0.parquet")
    settings = {"model": {"_target_": "recgauge.models.Recorded", "path": str(tmp_path)}}
    before = read_beside(settings), Table(str(tmp_path)).load().sha256
    parquet.write_table(rows, tmp_path / "0.parquet", compression="none")  # the same rows
    after = read_beside(settings), Table(str(tmp_path)).load().sha256
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_the_data_set_and_what_is_free_have_digests_elsewhere(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1")
    assert read_beside(
        {"dataset": {"path": str(path)}, "tracking": {"uri": str(path)}, "seed": 0}
    ).keys() == {"recgauge"}


@pytest.mark.skipif(
    not (REPOSITORY / ".git").exists() or shutil.which("git") is None, reason="needs a git checkout"
)
def test_a_run_in_a_checkout_names_its_commit():
    command = ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"]
    head = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert environment()["git_commit"] == head
