"""What an experiment ends with: files in the output folder, the page, one summary run a content."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest

from recgauge.app.places import experiment_folder
from recgauge.app.sweep.end import conclude_study
from recgauge.app.tracking.page import LONGEST
from recgauge.app.tracking.tracker import RunLog, Tracker
from recgauge.errors import MissingDataError
from recgauge.studies import BEGIN, END, Study, marked_part, read_results


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


@dataclass
class Remembering(Tracker):
    """Keeps summaries by their fingerprint."""

    kept: dict = field(default_factory=dict)

    def prepare(self):
        pass

    def find(self, fingerprint):
        return self.kept[fingerprint].run_id if fingerprint in self.kept else None

    @contextmanager
    def start(self, run):
        log = Log(f"run {len(self.kept)}")
        yield log
        self.kept[run.tags["recgauge.fingerprint"]] = log


class Log(RunLog):
    run_id = None

    def __init__(self, run_id):
        self.run_id = run_id

    def conclude(self, note, values, files):
        self.note, self.values, self.files = note, values, [file.name for file in files]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to run in, with an experiment as it was published elsewhere."""
    published = tmp_path / "installed" / "x"
    published.mkdir(parents=True)
    (published / "README.md").write_text(f"# X\n{BEGIN}\n{END}\nWhat we learn\n")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr("recgauge.app.places.experiments_folder", lambda: published.parent)
    return here


def run(study, tracker, place, *words):
    words = ["experiment=x", *words]
    conclude_study(study, [], tracker=tracker, words=words, folder=place / "outputs")


def checkout(place, text=f"# X\n{BEGIN}\n{END}\nWhat we learn\n"):
    """Make the current folder a checkout, whose experiment has a page."""
    page = place / "experiments" / "x"
    page.mkdir(parents=True)
    (page / "README.md").write_text(text)
    return page


def test_numbers_and_page_are_those_of_the_current_folder_if_it_has_some(place):
    assert experiment_folder("x") == place.parent / "installed" / "x"
    checkout(place)
    assert experiment_folder("x") == Path("experiments/x")
    (place / "experiments" / "y").mkdir()  # holds nothing
    assert experiment_folder("y") == place.parent / "installed" / "y"


def test_files_page_and_summary(place):
    checkout(place)
    tracker = Remembering()
    run(Fixed("x"), tracker, place, "force=true", "tracking.uri=a", "data.mirror=b")
    for folder in ("outputs", "experiments/x"):
        readme = (place / folder / "README.md").read_text()
        assert marked_part(readme) == "table"
        assert readme.endswith("What we learn\n")
        assert read_results(place / folder / "results.csv")[0]["model"] == "svd"
    (log,) = tracker.kept.values()
    assert log.note == "table"
    assert log.values == {"verdicts/reproduced": 1.0}
    assert log.files == ["results.csv", "results.md"]


def test_the_same_content_makes_no_second_summary(place):
    tracker = Remembering()
    for _ in range(2):
        run(Fixed("x"), tracker, place)
    assert len(tracker.kept) == 1
    run(Fixed("x", value="2"), tracker, place)
    assert len(tracker.kept) == 2


def test_own_words_around_the_markers_stay(place):
    page = checkout(place, f"mine {BEGIN}old{END} mine too")
    run(Fixed("x"), Remembering(), place)
    text = (page / "README.md").read_text()
    assert text.startswith("mine ")
    assert text.endswith(" mine too")
    assert marked_part(text) == "table"


@pytest.mark.parametrize("word", ["seed=1", "model=svd", "cutoffs=[5]", "+model.x=1", "study.tolerance=1"])
def test_another_experiment_leaves_the_page_alone(place, word, capsys):
    page = checkout(place)
    run(Fixed("x"), Remembering(), place, word)
    assert marked_part((page / "README.md").read_text()) == ""
    assert [file.name for file in page.iterdir()] == ["README.md"]
    assert (place / "outputs" / "results.csv").exists()
    assert f"{word} makes another experiment" in capsys.readouterr().out


@pytest.mark.parametrize(
    "word", ["reuse=true", "figures=true", "engine.memory_mib=64", "artifacts.lists=false"]
)
def test_settings_that_change_no_number_leave_the_experiment_as_it_is(place, word):
    page = checkout(place)
    run(Fixed("x"), Remembering(), place, word)
    assert marked_part((page / "README.md").read_text()) == "table"


def test_outside_a_checkout_only_the_output_folder_is_written(place, capsys):
    run(Fixed("x"), Remembering(), place)
    assert [path.name for path in place.iterdir()] == ["outputs"]
    assert marked_part((place / "outputs" / "README.md").read_text()) == "table"
    assert f"page     {place / 'outputs' / 'README.md'}" in capsys.readouterr().out


def test_the_terminal_shows_the_summary_not_the_page(place, capsys):
    run(Fixed("x", text="short\n\n![a](a.png)\n\n<details>folded</details>"), Remembering(), place)
    out = capsys.readouterr().out
    assert "short" in out
    assert "folded" not in out
    assert "folded" in (place / "outputs" / "results.md").read_text()


def test_a_note_is_cut_at_a_line_and_says_so(place):
    tracker = Remembering()
    lines = "\n".join(f"line {n}" for n in range(2000))
    run(Fixed("x", text=f"{lines}\n\n<details>folded</details>"), tracker, place)
    (log,) = tracker.kept.values()
    assert len(log.note) < LONGEST + 50
    *whole, _, last = log.note.splitlines()
    assert set(whole) <= set(lines.splitlines())
    assert last == "The rest is in results.md."


def test_an_experiment_without_a_page_is_named(place):
    with pytest.raises(MissingDataError, match="page is made from it"):
        run(Fixed("y"), Remembering(), place)
