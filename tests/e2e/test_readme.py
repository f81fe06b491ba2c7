"""The README says what happens: its table is the run's, its code runs."""

import re

import pytest

from conftest import REPOSITORY
from recgauge.cli.commands.cli import main

pytestmark = pytest.mark.e2e
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_the_table_is_that_of_its_command(workplace):
    table = re.search(r"<!-- table: recgauge run -->\n(.*?)<!-- end -->", README, re.DOTALL).group(1)
    printed = [line.rstrip() for line in workplace.run("tracking=off").out.splitlines()]
    for line in table.splitlines():
        assert line.strip() in printed


def test_the_comparison_is_that_of_its_commands(workplace, monkeypatch, capsys):
    """Its numbers are; what a run took is another time on every machine."""
    block = re.search(r"<!-- table: recgauge compare -->\n(.*?)<!-- end -->", README, re.DOTALL).group(1)
    commands = re.search(r"    recgauge run (-m .*)\n    recgauge (compare .*)\n", README)
    workplace.succeed(*commands.group(1).split())
    monkeypatch.setenv("MLFLOW_TRACKING_URI", workplace.uri)
    assert main(commands.group(2).split()) == 0
    printed = without_costs(capsys.readouterr().out.splitlines())
    for line in without_costs([line[4:] for line in block.splitlines()]):
        assert line in printed


def without_costs(lines):
    """Return the lines up to where the columns of costs begin."""
    end = next(line.index("fit s") for line in lines if "fit s" in line)
    return [line if " is better than " in line else line[:end].rstrip() for line in lines]


def test_every_page_is_named_and_every_link_leads_somewhere():
    pages = sorted((REPOSITORY / "docs").glob("*.md"))
    index = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8")
    assert "](docs/index.md)" in README
    assert all(f"]({page.name}" in index for page in pages if page.name != "index.md")
    for page in (REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *pages):
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
