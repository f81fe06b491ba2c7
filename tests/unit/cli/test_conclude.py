"""What an experiment ends with: files in the output folder and, in a checkout, the committed page."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from recgauge.studies import BEGIN, END, Study, marked_part, read_results
from recgauge.sweeps.conclusion import conclude_study
from recgauge.sweeps.sweep import Sweep
from recgauge.tracking.outbox import Deliveries


@dataclass(frozen=True)
class Timed(Study):
    """A study with a column that is measured."""

    needs_runs: ClassVar[bool] = False
    measured: ClassVar[tuple[str, ...]] = ("seconds",)
    name: str = "x"
    value: str = "1"
    seconds: str = "1.5"
    verdict: str = "reproduced"

    def rows(self, runs, source):
        return [{"model": "svd", "verdict": self.verdict, "value": self.value, "seconds": self.seconds}]

    def markdown(self, rows):
        return f"{rows[0]['value']} in {rows[0]['seconds']} s"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A checkout to run in, with the page of an experiment, which was published elsewhere, too."""
    for folder in (tmp_path / "installed" / "x", tmp_path / "here" / "experiments" / "x"):
        folder.mkdir(parents=True)
        (folder / "README.md").write_text(f"# X\n{BEGIN}\n{END}\nWhat we learn\n")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("recgauge.sweeps.places.FOLDER", tmp_path / "installed")
    return tmp_path / "here"


def run(study, place, *words):
    """Conclude a study without tracking."""
    conclude_study(study, [], Sweep(place / "outputs", None, words=["experiment=x", *words]), Deliveries())


def test_other_seconds_or_more_open_rows_alone_change_no_committed_file(place):
    page = place / "experiments" / "x"
    run(Timed(), place)
    readme = (page / "README.md").read_text()
    assert marked_part(readme) == "1 in 1.5 s"
    assert readme.endswith("What we learn\n")
    first = {file.name: file.read_bytes() for file in page.iterdir()}
    run(Timed(seconds="2.5"), place)
    assert {file.name: file.read_bytes() for file in page.iterdir()} == first
    assert read_results(place / "outputs" / "results.csv")[0]["seconds"] == "2.5"
    run(Timed(value="2", verdict="open"), place)
    assert {file.name: file.read_bytes() for file in page.iterdir()} == first
    run(Timed(value="2", seconds="3.5"), place)
    assert read_results(page / "results.csv")[0]["seconds"] == "3.5"


@pytest.mark.parametrize("word", ["seed=1", "study.tolerance=1"])
def test_another_experiment_leaves_the_page_alone(place, word, capsys):
    page = place / "experiments" / "x"
    run(Timed(), place, word)
    assert marked_part((page / "README.md").read_text()) == ""
    assert [file.name for file in page.iterdir()] == ["README.md"]
    assert (place / "outputs" / "results.csv").exists()
    assert f"{word} makes another experiment" in capsys.readouterr().out
