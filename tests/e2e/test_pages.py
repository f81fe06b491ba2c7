"""Every block of code in README.md and docs/ runs, page by page, or its page says why not.

A page's blocks run in their order, in one empty folder. A fenced ``bash`` block or an indented one holds
commands, ``python`` is executed, and ``text`` shows lines of what the commands before it printed: each is the
beginning of a printed line, where ``...`` stands for anything. Comments, which a reader does not see, say
what else there is:

``<!-- not run: WHY -->``
    The next block cannot run in a test.
``<!-- file: PATH -->``
    The next block is a file.
``<!-- needs: NAME, ... -->``
    The next block runs, if there are these packages, these data sets in the mirror, or an "environment of" a
    library in the cache folder; otherwise it is skipped. Data sets that are not named here are the demo data.
``<!-- ends with CODE: WHY -->``
    Each command of the next block ends with this exit code.
``<!-- without TEXT: WHY -->``
    Lines of the next block that have this text cannot run in a test.
``<!-- writes: FILE, ... -->``
    The next block writes these files, which may be patterns.
``<!-- first: COMMAND -->``
    What the page takes for done at this point: the test does it.

RUN_ID, outputs/... and the like stand for the newest runs and the newest sweep of the folder, and ratings.csv
for the demo data; where there is none, the test makes it first.
"""

import re
import shlex
import shutil
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

from conftest import REPOSITORY
from e2e.program import Workplace
from recgauge.cli.commands.cli import main
from recgauge.datasets.demo import Demo

pytestmark = pytest.mark.e2e
DOCS = REPOSITORY / "docs"
PAGES = {page.stem: page for page in [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md"))]}
QUICK = {"metrics"}
"""What the default tests run: a second or two; the other pages are slow."""

DATA = r"\b(ml_100k|ml_1m|ml_10m|ml_20m|ml_latest_small|gowalla)\b"
KINDS = {"bash", "python", "text"}
MARK = r"<!-- (?:not run|file|needs|ends with \d+|without [^:\n]+|writes): [^\n]+ -->\n+"
BLOCK = re.compile(
    r"^<!-- first: (?P<first>[^\n]+) -->$|"
    rf"(?P<marks>(?:^{MARK})*)"
    r"(?:^```(?P<kind>\S*)\n(?P<fenced>.*?)^```$|(?P<indented>(?<=\n\n)(?: {4}[^\n]*\n|\n(?= {4}))+))",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    """Code of a page, and what the comments before it say."""

    kind: str
    text: str
    marks: dict[str, str] = field(default_factory=dict)

    def commands(self) -> list[str]:
        """Return the lines of commands, without comments and what cannot run."""
        without = [key.removeprefix("without ") for key in self.marks if key.startswith("without ")]
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [
            shlex.join(words)
            for line in lines
            if not any(text in line for text in without) and (words := shlex.split(line, comments=True))
        ]


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page, without those that build the site."""
    found = []
    for match in BLOCK.finditer(text):
        if match["first"]:
            found.append(Block("bash", match["first"] + "\n"))
            continue
        marks = dict(re.findall(r"<!-- ([^:]+): (.+) -->", match["marks"]))
        fenced, kind = match["fenced"], match["kind"] or ""
        if fenced is None:
            fenced, kind = re.sub(r"(?m)^ {4}", "", match["indented"]), "bash"
        if kind != "{toctree}":
            found.append(Block(kind, fenced, marks))
    return found


def not_understood(page: Path) -> list[str]:
    """Return what of a page neither runs nor says why not; runs nothing."""
    text, found = page.read_text(encoding="utf-8"), []
    for block in blocks(text):
        if block.marks.keys() & {"not run", "file"}:
            continue
        if block.kind not in KINDS:
            found.append(f"a block that is {block.kind or 'of no kind'}:\n{block.text}")
        elif block.kind == "bash":
            found += [line for line in block.commands() if not runner_of(shlex.split(line))]
    marks = re.findall(rf"^{MARK}", text, re.MULTILINE)
    if len(marks) > sum(len(block.marks) for block in blocks(text)):
        found.append("a comment for a block that does not follow it")
    shown = sum(line.lstrip().startswith("```") for line in text.splitlines())
    fenced = len(re.findall(r"^```\S*\n.*?^```$", text, re.MULTILINE | re.DOTALL))
    return found if shown == 2 * fenced else [*found, "a fence that is indented or has no end"]


class Reader:
    """Does in an empty folder what a page says."""

    def __init__(self, workplace: Workplace, request: pytest.FixtureRequest):
        self.workplace, self.request = workplace, request
        self.capsys = request.getfixturevalue("capsys")
        self.monkeypatch = request.getfixturevalue("monkeypatch")
        self.names: dict[str, object] = {}
        self.environment: dict[str, str] = {}
        self.printed: list[str] = []
        self.lacking: list[str] = []
        self.code, self.needs = 0, ""

    def follow(self, page: Path) -> None:
        left_out = False  # what shows the output of a block that was left out is left out, too
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.kind != "text" or block.marks.keys() & {"not run", "needs", "file"}:
                left_out = "not run" in block.marks or self.lacks(block.marks.get("needs", ""))
            if not left_out:
                self.code = next((int(key[10:]) for key in block.marks if key.startswith("ends with")), 0)
                self.needs = block.marks.get("needs", "")
                self.do(block, page.name)

    def lacks(self, needs: str) -> bool:
        """Whether a data set or package is not here; where data are meant, let commands find the mirror."""
        lacking = [name for name in re.split(r",\s*", needs) if name and not self.has(name)]
        self.lacking += lacking
        return bool(lacking)

    def has(self, name: str) -> bool:
        if re.fullmatch(DATA, name):
            try:
                mirror = self.request.getfixturevalue("mirror")
            except pytest.skip.Exception:
                return False
            self.set("RECGAUGE_MIRROR", mirror)
            return (Path(mirror) / f"{name.replace('_', '-')}.zip").is_file()
        return find_spec(name) is not None

    def do(self, block: Block, page: str) -> None:
        if "file" in block.marks:
            path = Path(block.marks["file"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            exec(compile(self.filled(block.text), page, "exec"), self.names)
            self.printed = self.capsys.readouterr().out.splitlines()
        elif block.kind == "text":
            self.compare(block, page)
        else:
            self.printed = []
            for line in block.commands():
                words = shlex.split(self.filled(line))
                run = runner_of(words)
                assert run, f"{page}: say why this is not run, or what it is: {line}"
                run(self, words)
            for name in re.findall(r"[^,\s]+", block.marks.get("writes", "")):
                assert list(Path().glob(self.filled(name))), f"{page}: {name} was not written"

    def compare(self, block: Block, page: str) -> None:
        for line in filter(str.strip, block.text.splitlines()):
            pattern = re.escape(line.strip()).replace(r"\.\.\.", ".*")
            there = any(re.match(pattern, one.strip()) for one in self.printed)
            assert there, f"{page} shows {line!r}, it was:\n" + "\n".join(self.printed)

    def set(self, name: str, value: str) -> None:
        self.environment[name] = value
        self.monkeypatch.setenv(name, value)
        if name == "PYTHONPATH":
            self.monkeypatch.syspath_prepend(value)

    def export(self, words: list[str]) -> None:
        for word in words[1:]:
            self.set(*word.split("=", 1))

    def run(self, words: list[str]) -> None:
        done = self.workplace.run(*words[2:], **self.environment)
        assert done.code == self.code, f"{shlex.join(words)}\n{done.out}{done.err}"
        self.printed += (done.out + done.err).splitlines()

    def command(self, words: list[str]) -> None:
        code = main(words[1:])
        out = self.capsys.readouterr()
        assert code == self.code, f"{shlex.join(words)}\n{out.out}{out.err}"
        self.printed += (out.out + out.err).splitlines()

    def copy(self, words: list[str]) -> None:
        """Copy a file, or a folder of the checkout."""
        *sources, target = words[1:]
        for source in sources:
            if Path(source).is_file():
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
            else:
                shutil.copytree(REPOSITORY / source, Path(target) / source)

    def activate(self, words: list[str]) -> None:
        """The tests run in the environment."""

    def make(self, words: list[str]) -> None:
        """Look whether there is such a target: the targets are this checkout's own."""
        targets = re.findall(r"(?m)^([\w-]+)(?=[^=\n]*:)", (REPOSITORY / "Makefile").read_text())
        assert set(words[1:]) <= set(targets), shlex.join(words)

    def filled(self, text: str) -> str:
        """Put the folder's own runs and sweep in place of RUN_ID, outputs/... and the like."""
        if not re.search(DATA, self.needs):
            text = re.sub(rf"{DATA}(,{DATA})*", "demo", text)
        if "ratings.csv" in text and not Path("ratings.csv").exists():
            rows = Demo().load().interactions
            named = {"user": rows.user, "item": rows.item, "rating": rows.value, "time": rows.timestamp}
            pd.DataFrame(named).to_csv("ratings.csv", index=False)
        if re.search(r"\bRUN_ID\b|\bRUN\b|outputs/(\.\.\.|\d)|SWEEP\b", text):
            if not self.sweeps():
                self.run(shlex.split("recgauge run -m model=popularity,svd save_model=true"))
            ids = [run.info.run_id for run in self.workplace.runs()][::-1]
            *_, other, sweep = [None, *self.sweeps()]
            text = re.sub(r"\bOTHER_SWEEP\b", str(other), text)
            text = re.sub(r"outputs/\.\.\./RUN\b", f"{sweep}/0", text)
            text = re.sub(r"\bRUN_ID RUN_ID\b|\bRUN RUN\b", " ".join(ids[:2]), text)
            text = re.sub(r"\b(RUN_ID|RUN)\b", ids[0], text)
            text = re.sub(r"outputs/\.\.\.|outputs/\d[\d/-]+\d|\bSWEEP\b", str(sweep), text)
        return text

    def sweeps(self) -> list[Path]:
        return sorted(path.parent for path in Path("outputs").glob("*/*/0"))


RUNNERS = {
    ("recgauge", "run"): Reader.run,
    ("recgauge",): Reader.command,
    ("export",): Reader.export,
    ("make",): Reader.make,
    ("source",): Reader.activate,
    ("cp",): Reader.copy,
}
"""What runs a command that begins with these words; the first that fits."""


def runner_of(words: list[str]):
    return next((run for start, run in RUNNERS.items() if tuple(words[: len(start)]) == start), None)


def marked(name: str):
    """Return a page with the marks of the `make` targets that run it."""
    also = {"other_libraries": [pytest.mark.isolated], "clusters": [pytest.mark.clusters]}
    return name if name in QUICK else pytest.param(name, marks=[pytest.mark.slow, *also.get(name, [])])


@pytest.mark.parametrize("name", [marked(name) for name in PAGES])
def test_a_page_does_what_it_says(name, workplace, monkeypatch, request):
    monkeypatch.chdir(workplace.folder)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", workplace.uri)
    reader = Reader(workplace, request)
    reader.set("RECGAUGE_CACHE", str(workplace.folder / "cache"))
    reader.follow(PAGES[name])
    if reader.lacking:
        pytest.skip(f"all but what needs {', '.join(dict.fromkeys(reader.lacking))}")


@pytest.mark.parametrize("name", PAGES)
def test_every_block_of_a_page_runs_or_says_why_not(name):
    assert not_understood(PAGES[name]) == []
