"""What `recgauge experiments` says without running anything."""

import re

import pytest

from recgauge.cli.commands import experiments as experiments_command
from recgauge.cli.commands.cli import main
from recgauge.cli.commands.experiments import experiment_names
from recgauge.models.adapters.cornac import Cornac
from recgauge.sweeps.places import program

NAMES = ("baselines", "metric_disagreement", "worked_examples")


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECGAUGE_CACHE", str(tmp_path / "cache"))
    for name in ("RECGAUGE_MIRROR", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(experiments_command, "experiment_names", lambda: NAMES)  # all of them take seconds


def test_the_list_names_every_experiment_with_what_it_found(capsys):
    assert set(NAMES) <= set(experiment_names())
    assert main(["experiments"]) == 0
    out = capsys.readouterr().out
    for name in NAMES:
        assert f"{program()} experiment={name}" in out
    assert "results  160 reproduced" in out
    assert "results  in the tracking store" in out  # of one without a study


def test_experiments_without_their_data_or_libraries_are_skipped_and_no_failures(monkeypatch, capsys):
    monkeypatch.setattr(
        experiments_command, "experiment_names", lambda: ("cornac_ml100k", "metric_disagreement")
    )
    monkeypatch.setattr(Cornac, "library", "no-such-package-of-recgauge")
    monkeypatch.setenv("RECGAUGE_OFFLINE", "1")
    assert main(["experiments", "--run"]) == 0
    out = capsys.readouterr().out
    assert "0 experiments ran" in out
    assert re.search(r"skipped +cornac_ml100k: .*pip install 'recgauge\[cornac\]'", out)
    assert "skipped  metric_disagreement: ml-100k.zip could not be found" in out
