"""What an experiment ends with: files in the output folder, the page, one summary run a content."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from recgauge.runs.folder import CHECKSUMS, read_checksums, read_folder
from recgauge.studies import BEGIN, END, Study, marked_part, read_results
from recgauge.sweeps.ending import conclude_study
from recgauge.sweeps.sweep import Sweep
from recgauge.tracking import Deliveries, Store


@dataclass(frozen=True)
class Fixed(Study):
    """A study whose rows are given."""

    needs_runs: ClassVar[bool] = False
    name: str
    text: str = "table"
    value: str = "1"

    def rows(self, runs, source):
        return [{"model": "svd", "verdict": "reproduced", "value": self.value}]

    def markdown(self, rows):
        return self.text


@dataclass(frozen=True)
class Timed(Fixed):
    """A study with a column that is measured."""

    measured: ClassVar[tuple[str, ...]] = ("seconds",)
    seconds: str = ""

    def rows(self, runs, source):
        return [row | {"seconds": self.seconds} for row in super().rows(runs, source)]

    def markdown(self, rows):
        return f"{rows[0]['value']} in {rows[0]['seconds']} s"


class Submitted(Deliveries):
    """Keeps what is submitted, and sends it nowhere."""

    def __init__(self):
        super().__init__()
        self.summaries = []

    def submit(self, folder, store):
        self.summaries.append((read_folder(folder), set(read_checksums(folder / CHECKSUMS))))

    def run_address(self, folder):
        return None


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to run in, with an experiment as it was published elsewhere."""
    published = tmp_path / "installed" / "x"
    published.mkdir(parents=True)
    (published / "README.md").write_text(f"# X\n{BEGIN}\n{END}\nWhat we learn\n")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr("recgauge.sweeps.places.FOLDER", published.parent)
    return here


def run(study, place, *words):
    """Conclude a study, and return the summary that is submitted with the names of its files."""
    deliveries, store = Submitted(), Store("sqlite:///none.db")
    sweep = Sweep(place / "outputs", store, words=["experiment=x", *words])
    conclude_study(study, [], sweep, deliveries)
    (summary,) = deliveries.summaries
    return summary


def checkout(place, text=f"# X\n{BEGIN}\n{END}\nWhat we learn\n"):
    """Make the current folder a checkout, whose experiment has a page."""
    page = place / "experiments" / "x"
    page.mkdir(parents=True)
    (page / "README.md").write_text(text)
    return page


def test_files_page_and_summary(place):
    checkout(place)
    summary, files = run(Fixed("x"), place, "force=true", "tracking.uri=a", "data.mirror=b", "figures=true")
    for folder in ("outputs", "experiments/x"):
        readme = (place / folder / "README.md").read_text()
        assert marked_part(readme) == "table"
        assert readme.endswith("What we learn\n")
        assert read_results(place / folder / "results.csv")[0]["model"] == "svd"
    assert summary.note == "table"
    assert summary.values == {"verdicts/reproduced": 1.0}
    assert files == {"results.csv", "results.md", "summary.json"}
    assert (summary.subject, summary.job.experiment, summary.job.name) == ("x", "x", "summary x")


def test_other_seconds_alone_change_no_committed_file(place):
    page = checkout(place)
    run(Timed("x", seconds="1.5"), place)
    first = {file.name: file.read_bytes() for file in page.iterdir()}
    run(Timed("x", seconds="2.5"), place)
    assert {file.name: file.read_bytes() for file in page.iterdir()} == first
    assert read_results(place / "outputs" / "results.csv")[0]["seconds"] == "2.5"
    run(Timed("x", value="2", seconds="3.5"), place)
    assert read_results(page / "results.csv")[0]["seconds"] == "3.5"


@pytest.mark.parametrize("word", ["seed=1", "+model.x=1", "tune=tpe", "study.tolerance=1"])
def test_another_experiment_leaves_the_page_alone(place, word, capsys):
    page = checkout(place)
    run(Fixed("x"), place, word)
    assert marked_part((page / "README.md").read_text()) == ""
    assert [file.name for file in page.iterdir()] == ["README.md"]
    assert (place / "outputs" / "results.csv").exists()
    assert f"{word} makes another experiment" in capsys.readouterr().out
