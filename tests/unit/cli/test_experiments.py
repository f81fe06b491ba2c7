"""What `recgauge experiments` says without running anything."""

import pytest

from recgauge.cli.commands import experiments as experiments_command
from recgauge.cli.commands.cli import main
from recgauge.cli.commands.experiments import describe, experiment_names
from recgauge.sweeps.places import program

NAMES = ("baselines", "metric_disagreement", "worked_examples")


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECGAUGE_CACHE", str(tmp_path / "cache"))
    for name in ("RECGAUGE_MIRROR", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(experiments_command, "experiment_names", lambda: NAMES)  # all of them take seconds


def test_missing_data_are_told_and_not_fetched():
    facts = describe("metric_disagreement", offline=True)
    assert list(facts.data) == ["ml_100k", "ml_1m"]
    assert all("offline is set" in reason for reason in facts.data.values())
    assert not facts.is_runnable


def test_the_list_names_every_experiment(capsys):
    assert set(NAMES) <= set(experiment_names())
    assert main(["experiments"]) == 0
    out = capsys.readouterr().out
    for name in NAMES:
        assert f"{program()} experiment={name}" in out
    assert "ml_100k missing, ml_1m missing" in out


@pytest.mark.parametrize(("codes", "ended"), [({}, 0), ({"baselines": 1}, 1), ({"baselines": 130}, 130)])
def test_all_are_run_but_those_without_data(codes, ended, monkeypatch, capsys):
    ran = []
    monkeypatch.setenv("RECGAUGE_OFFLINE", "1")
    monkeypatch.setattr(experiments_command, "_run", lambda name: ran.append(name) or codes.get(name, 0))
    assert main(["experiments", "--run"]) == ended
    out = capsys.readouterr().out
    if ended == 130:
        assert ran == ["baselines"]
        return
    assert ran == ["baselines", "worked_examples"]
    assert "skipped  metric_disagreement: ml_100k: ml-100k.zip could not be found" in out
    assert ("failed   baselines" in out) == bool(codes)
