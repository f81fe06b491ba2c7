"""Every command of docs/articles.md runs, and leaves what the page says that it gives."""

import csv
import json
import math
import re
import shlex

import pytest

from articles_page import named_by_articles
from conftest import REPOSITORY

pytestmark = pytest.mark.e2e
NAMED = named_by_articles()
COMMANDS = tuple(dict.fromkeys(named.command for named in NAMED))
GRID = "recgauge run experiment=recmetrics_article"


def words_of(command):
    program, command, *words = shlex.split(command)
    assert (program, command) == ("recgauge", "run")
    return [*words, "tracking=off"]


def given(command, kind):
    return {one for named in NAMED if (named.command, named.kind) == (command, kind) for one in named.gives}


def test_the_page_has_these_commands():
    page = (REPOSITORY / "docs" / "articles.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^    (recgauge run .+)$", page, re.MULTILINE)) == set(COMMANDS)
    assert GRID in COMMANDS


def longest(command):
    """Return what has the command's words and more, which leaves what the command leaves."""
    return max((other for other in COMMANDS if other.startswith(command)), key=len)


@pytest.fixture(scope="module")
def finished(shared_workplace):
    """Each command but the grid's and those that others begin with, run in a folder of its own."""
    commands = [command for command in COMMANDS if command == longest(command) != GRID]
    done = shared_workplace.run_each([words_of(command) for command in commands])
    folders = [shared_workplace.folder / f"command{number}" for number in range(len(commands))]
    return {
        command: (one, *folder.glob("outputs/2*/*"))
        for command, one, folder in zip(commands, done, folders, strict=True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("command", [command for command in COMMANDS if command != GRID])
def test_a_command_runs_and_gives_what_the_page_says(finished, command):
    done, folder = finished[longest(command)]
    assert done.code == 0, done.err
    files = given(command, "plot") | given(command, "experiment")
    assert [name for name in sorted(files) if not (folder / name).is_file()] == []
    if metrics := given(command, "metric"):
        record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        assert record.get("refused", {}) == {}
        values = {entry["name"]: entry["value"] for entry in record["results"]}
        assert metrics <= set(values)
        assert all(math.isfinite(values[name]) for name in metrics)


@pytest.mark.slow
def test_the_grid_of_the_recmetrics_article_runs_and_draws(workplace, mirror):
    """Two of its eight arms on the smallest of its data sets; the page is of all of them."""
    few = ["dataset=ml_100k", "+experiment/recmetrics_article=article_popularity,honest_popularity"]
    workplace.succeed(*words_of(GRID), *few, RECGAUGE_MIRROR=mirror)
    (folder,) = (path for path in workplace.output() if (path / "results.csv").is_file())
    files = given(GRID, "plot") | given(GRID, "experiment")
    assert [name for name in sorted(files) if not (folder / name).is_file()] == []
    with (folder / "results.csv").open(encoding="utf-8") as file:
        measured = [row for row in csv.DictReader(file) if row["ours"]]
    assert {(row["protocol"], row["model"]) for row in measured} == {
        ("article", "popularity"),
        ("honest", "popularity"),
    }
