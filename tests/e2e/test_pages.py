"""The code of the tutorial and of docs/tuning.md runs; the tutorial prints what the page shows.

A fenced ``bash`` block or an indented one holds commands, ``python`` is executed, and ``text`` shows lines of
what the commands before it printed: each is the beginning of a printed line. A comment before a block says
what else it is: ``<!-- not run: WHY -->`` or ``<!-- file: PATH -->``.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import REPOSITORY
from recgauge.app.commands.cli import main

pytestmark = pytest.mark.e2e
DOCS = REPOSITORY / "docs"
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>not run|file): (?P<said>[^\n]+) -->\n+)?"
    r"(?:^```(?P<kind>\w*)\n(?P<fenced>.*?)^```$|(?P<indented>(?<=\n\n)(?: {4}[^\n]*\n|\n(?= {4}))+))",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    kind: str
    text: str
    mark: str | None
    said: str | None


def blocks(text: str) -> list[Block]:
    found = []
    for match in BLOCK.finditer(text):
        fenced, kind = match["fenced"], match["kind"] or ""
        lines = fenced if fenced is not None else re.sub(r"(?m)^ {4}", "", match["indented"])
        kind = kind if fenced is not None else "bash"
        if kind != "{toctree}":
            found.append(Block(kind, lines, match["mark"], match["said"]))
    return found


HOW_TOS = ("tuning",)
"""How-tos that run here; of the others, own_model has tests of its own (test_own_model.py)."""


class Reader:
    """Does in an empty folder what a page says."""

    def __init__(self, workplace, capsys):
        self.workplace, self.capsys = workplace, capsys
        self.names: dict[str, object] = {}
        self.environment: dict[str, str] = {}
        self.printed: list[str] = []

    def follow(self, page: Path) -> None:
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.mark == "not run":
                continue
            if block.mark == "file":
                path = Path(block.said)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.kind == "python":
                exec(compile(block.text, page.name, "exec"), self.names)
                self.printed = self.capsys.readouterr().out.splitlines()
            elif block.kind == "text":
                for line in filter(str.strip, block.text.splitlines()):
                    there = any(one.strip().startswith(line.strip()) for one in self.printed)
                    assert there, f"{page.name} shows {line!r}, printed was:\n" + "\n".join(self.printed)
            elif block.kind == "bash":
                self.run_all(block.text)
            else:
                raise AssertionError(f"{page.name}: say what this block is:\n{block.text}")

    def run_all(self, text: str) -> None:
        self.printed = []
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(self.filled(line), comments=True)
            if not words:
                continue
            if words[0] == "export":
                self.environment.update([words[1].split("=", 1)])
            elif words[:2] in (["python", "run.py"], ["recgauge", "run"]):
                done = self.workplace.run(*words[2:], **self.environment)
                assert done.code == 0, f"{line}\n{done.err}"
                self.printed += (done.out + done.err).splitlines()
            else:
                assert words[0] == "recgauge", f"say why this is not run: {line}"
                assert main(words[1:]) == 0, line
                out = self.capsys.readouterr()
                self.printed += (out.out + out.err).splitlines()

    def filled(self, line: str) -> str:
        """Put the folder's own runs and sweep in place of RUN_ID, outputs/... and the like."""
        line = re.sub(r"dataset=(ml_100k|ml_1m|ml_20m)(,\w+)*", "dataset=demo", line)
        if re.search(r"RUN_ID|\bRUN\b|outputs/|SWEEP", line):
            ids = [run.info.run_id for run in self.workplace.runs()][::-1]
            sweep = sorted(path.parent for path in Path("outputs").glob("*/*/0"))[-1]
            line = re.sub(r"\bRUN_ID RUN_ID\b|\bRUN RUN\b", " ".join(ids[:2]), line)
            line = re.sub(r"\bRUN_ID\b", ids[0], line)
            line = re.sub(r"outputs/\.\.\./RUN\b", f"{sweep}/0", line)
            line = re.sub(r"outputs/\.\.\.|outputs/\d[\d/-]+|\b(OTHER_)?SWEEP\b", str(sweep), line)
        return line


@pytest.fixture
def reader(workplace, monkeypatch, capsys):
    monkeypatch.chdir(workplace.folder)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", workplace.uri)
    return Reader(workplace, capsys)


def test_the_tutorial_prints_what_it_shows(reader):
    reader.follow(DOCS / "tutorial.md")


def test_every_block_of_a_page_is_found():
    text = "A\n\n    recgauge runs\n\n<!-- not run: long -->\n```bash\nmake\n```\n\n- b\n\n```text\nc\n```\n"
    assert [(one.kind, one.text, one.mark) for one in blocks(text)] == [
        ("bash", "recgauge runs\n", None),
        ("bash", "make\n", "not run"),
        ("text", "c\n", None),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", HOW_TOS)
def test_the_commands_of_a_how_to_run(reader, name):
    """After a sweep whose runs the page may name; on the demo data where the page downloads some."""
    done = reader.workplace.run("-m", "model=popularity,svd", "save_model=true")
    assert done.code == 0, done.err
    reader.follow(DOCS / f"{name}.md")
