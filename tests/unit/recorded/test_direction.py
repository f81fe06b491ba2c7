"""Lists that stand upside down: what is told, and what is not."""

import re
import shlex
from pathlib import Path
from random import Random

import pandas as pd
import pytest

import recgauge
from recgauge.cli.commands.cli import main
from recgauge.errors import SchemaError
from recgauge.runs.finished import FinishedRun

N_USERS, N_ITEMS, LENGTH = 60, 60, 20


def write(folder: Path, name: str, *, skill: float, upside_down: bool, column: str = "rank") -> None:
    """Write lists of a model that puts relevant items first, the more so the greater its skill."""
    random, rows = Random(3), [f"user,item,{column}"]
    for user in range(N_USERS):
        items = random.sample(range(N_ITEMS), LENGTH)
        items.sort(key=lambda item: -skill * ((item + user) % 5 == 0) - random.random())
        if upside_down:
            items.reverse()
        best = range(1, LENGTH + 1) if column == "rank" else [1 / (n + 2) for n in range(LENGTH)]
        rows += [f"u{user},i{item},{number}" for item, number in zip(items, best, strict=True)]
    (folder / name).write_text("\n".join(rows) + "\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The relevant items: of each user every fifth."""
    monkeypatch.chdir(tmp_path)
    pairs = [
        f"u{user},i{item}" for user in range(N_USERS) for item in range(N_ITEMS) if (item + user) % 5 == 0
    ]
    (tmp_path / "test.csv").write_text("\n".join(["user,item", *pairs]) + "\n")
    other = [
        f"u{user},i{item}" for user in range(N_USERS) for item in range(N_ITEMS) if (item + user) % 7 == 1
    ]
    rows = ["user,item", *pairs, *(pair for pair in other if pair not in set(pairs))]
    (tmp_path / "all.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


COMMAND = ["evaluate", "--truth", "test.csv", "--metrics", "ndcg@10", "--run"]


@pytest.mark.parametrize(
    ("skill", "upside_down", "column", "words"),
    [
        (2, True, "rank", "--score rank"),
        (2, True, "score", "-pandas.to_numeric("),
        (2, False, "rank", ""),
        (0, True, "rank", ""),
    ],
)
def test_lists_that_are_better_from_their_end_are_told(
    folder, capsys, skill, upside_down, column, words
) -> None:
    write(folder, "lists.csv", skill=skill, upside_down=upside_down, column=column)
    assert main([*COMMAND, "lists.csv"]) == 0
    out = capsys.readouterr().out
    assert ("better from their end" in out) == bool(words)
    assert words in out


@pytest.mark.parametrize("column", ["rank", "score"])
def test_the_words_read_them_the_other_way(folder, capsys, column) -> None:
    write(folder, "lists.csv", skill=2, upside_down=True, column=column)
    write(folder, "right.csv", skill=2, upside_down=False)
    assert main([*COMMAND, "right.csv"]) == 0
    number = capsys.readouterr().out.split("ndcg@10")[1].split()[0]
    words = ["lists.csv", "--score", "rank", "--keep", "rising_scores"]
    if column == "score":  # as distances are, which are no ranks
        assert main([*COMMAND, "lists.csv", "--rank", "score"]) == 1
        exec(shlex.split(re.search("python -c '[^']*'", capsys.readouterr().err)[0])[2])
        words = ["lists_new.csv", "--keep", "rising_scores"]  # the worst stands first
        assert main([*COMMAND, "lists_new.csv"]) == 1
        frame = pd.read_csv("lists.csv").rename(columns={"score": "rank"})
        with pytest.raises(SchemaError, match=r"frame\['score'\] = -frame.pop\('rank'\)"):
            recgauge.evaluate(frame, {"u1": ["i1"]})
    assert main([*COMMAND, *words]) == 0
    out = capsys.readouterr().out
    assert "better from their end" not in out
    assert out.split("ndcg@10")[1].split()[0] == number


def test_a_run_warns_and_a_comparison_says_what_ordered_the_lists(folder, capsys) -> None:
    write(folder, "ranks.csv", skill=2, upside_down=True)
    write(folder, "scores.csv", skill=2, upside_down=False, column="score")
    settings = ["dataset=table", "dataset.path=all.csv", "split=published", "split.test=test.csv"]
    settings += ["model=recorded", "metrics=[ndcg]", "cutoffs=[10]", "tracking=off"]
    for name in ("ranks", "scores"):
        recgauge.run(*settings, f"model.path={name}.csv", f"hydra.run.dir={folder / name}")
    guards = {guard.name: guard for guard in FinishedRun.read(folder / "ranks").record.guards}
    assert guards["lists_reversed"].fired
    assert "model.columns.score=rank" in guards["lists_reversed"].message
    guards = {guard.name: guard for guard in FinishedRun.read(folder / "scores").record.guards}
    assert not guards["lists_reversed"].fired
    capsys.readouterr()
    for command in (["compare", "ranks", "scores"], [*COMMAND, "ranks.csv", "scores.csv"]):
        assert main(command) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "rank, rising (rank)" in out
        assert "score, falling (score)" in out


def test_lists_in_python_are_looked_at_as_well(folder) -> None:
    write(folder, "lists.csv", skill=2, upside_down=True)
    frame, truth = pd.read_csv("lists.csv"), pd.read_csv("test.csv")
    (warning,) = recgauge.evaluate(frame, truth, metrics="ndcg", cutoffs=(10,)).warnings()
    assert "better from their end" in warning
    assert "ordered by rank, rising (rank)" in warning
    lists = {user: own["item"].tolist() for user, own in frame.groupby("user")}
    (warning,) = recgauge.evaluate(lists, truth, metrics="ndcg", cutoffs=(10,)).warnings()
    assert "ordered by row" in warning
    turned = {user: items[::-1] for user, items in lists.items()}
    assert not recgauge.evaluate(turned, truth, metrics="ndcg", cutoffs=(10,)).warnings()
    scored = {user: {item: 1 / (n + 2) for n, item in enumerate(items)} for user, items in lists.items()}
    (warning,) = recgauge.evaluate(scored, truth, metrics="ndcg", cutoffs=(10,)).warnings()
    assert "ordered by score, falling (scores in the cells)" in warning
