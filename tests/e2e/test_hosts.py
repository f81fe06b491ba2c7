"""Nothing is sent to a host that a file names and the user does not: not even a signed request."""

import json
import socket
from pathlib import Path

import pytest

from recgauge.cli.commands.cli import main
from recgauge.packages import package
from recgauge.runs.folder import write_checksums

pytestmark = pytest.mark.e2e

GLOBAL = "# @package _global_\n"
ROWS = "user,item,rating\n" + "".join(f"u{row % 9},i{row % 7},{row % 5 + 1}\n" for row in range(60))
QUICK = ["model=popularity", "cutoffs=[1]", "tracking=off"]


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A host that must not be asked: its address; the working folder has a table and the user's keys."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2hunter2")
    (tmp_path / "rows.csv").write_text(ROWS)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.setblocking(False)
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(BlockingIOError):
            listening.accept()


FILES = {
    "table": ("dataset/mine.yaml", "defaults: [table, _self_]\npath: {}\n", ["dataset=mine"]),
    "test part": (
        "split/mine.yaml",
        "defaults: [published, _self_]\ntest: {}\n",
        ["split=mine", "dataset=table"],
    ),
    "lists": ("model/mine.yaml", "defaults: [recorded, _self_]\npath: {}\n", ["model=mine"]),
    "sweep": (
        "experiment/mine.yaml",
        GLOBAL
        + "hydra: {{mode: MULTIRUN, sweeper: {{params: {{dataset: table, dataset.path: '\"{}\"'}}}}}}\n",
        ["experiment=mine"],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_settings_sends_nothing_anywhere(host, capsys, name):
    file, text, words = FILES[name]
    path = Path("conf", file)
    path.parent.mkdir(parents=True)
    path.write_text(text.format(f"s3://bucket/rows?scheme=http&endpoint_override={host}"))
    more = ["dataset.path=rows.csv"] if "dataset=table" in words else []
    quick = [word for word in QUICK if word.partition("=")[0] not in str(words)]
    assert main(["run", "--config-dir=conf", *quick, *words, *more]) == 1
    assert "not you, names s3://bucket/rows" in capsys.readouterr().err


def moved(folder, host):
    """Let the record of a run name rows on a host."""
    record = json.loads((folder / "record.json").read_text())
    record["settings"]["dataset"]["path"] = f"s3://bucket/rows?scheme=http&endpoint_override={host}"
    (folder / "record.json").write_text(json.dumps(record))
    (folder / "SHA256SUMS").unlink()
    write_checksums(sorted(path for path in folder.iterdir() if path.is_file()), folder)


@pytest.fixture
def run(host):
    words = ["dataset=table", "dataset.path=rows.csv", "hydra.run.dir=run"]
    assert main(["run", *QUICK, *words]) == 0
    return Path("run")


@pytest.mark.parametrize("command", ["verify", "export"])
def test_a_record_sends_nothing_anywhere(run, host, capsys, command):
    moved(run, host)
    assert (
        main([command, str(run), *(["--as", "recbole", "--out", "out"] if command == "export" else [])]) == 1
    )
    assert "--allow 's3://bucket/rows" in capsys.readouterr().err


def test_a_package_sends_nothing_anywhere(run, host, capsys, tmp_path):
    import zipfile

    with zipfile.ZipFile(package(str(run), "package.zip")) as archive:
        archive.extractall("unpacked")
    (packed,) = Path("unpacked/runs").iterdir()
    moved(packed, host)
    Path("unpacked/SHA256SUMS").unlink()
    write_checksums(sorted(path for path in Path("unpacked").rglob("*") if path.is_file()), Path("unpacked"))
    for folder in ("unpacked", str(packed)):
        assert main(["verify", folder]) == 1
        assert "--allow 's3://bucket/rows" in capsys.readouterr().err
