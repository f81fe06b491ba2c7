"""compare, check and segments on tables of users' values, from the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from recgauge import compare_segments
from recgauge.cli.commands.cli import main
from recgauge.comparison import cut_groups

N = 400
PLAN = ("--by", "plan", "--users")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Values of two runs in one file and in two; a table of users in two formats."""
    folder = tmp_path_factory.mktemp("stored")
    rng = np.random.default_rng(3)
    own = rng.integers(0, 40, N)
    pd.DataFrame({"user": np.arange(N), "item": own}).to_parquet(folder / "truth.parquet")
    for name, hits in (("new", 0.5), ("old", 0.35)):
        items = np.array([rng.permutation(np.arange(40, 60))[:5] for _ in range(N)])
        hit = rng.random(N) < hits
        items[hit, rng.integers(0, 5, N)[hit]] = own[hit]
        lists = {
            "user": np.repeat(np.arange(N), 5),
            "item": items.ravel(),
            "rank": np.tile(np.arange(1, 6), N),
        }
        pd.DataFrame(lists).to_parquet(folder / f"{name}.parquet")
    users = pd.DataFrame({"user_id": np.arange(N - 9), "plan": rng.choice(["a", "b"], N - 9)})
    users["rows"] = rng.integers(1, 90, len(users))
    users.to_csv(folder / "users.csv", index=False)
    users.to_parquet(folder / "users.parquet", row_group_size=50)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        files = ["--run", "new.parquet", "old.parquet", "--truth", "truth.parquet"]
        files += ["--metrics", "ndcg@5,recall@5"]
        main(["evaluate", *files, "--out", "whole.parquet"])
        main(["evaluate", *files, "--work", "work", "--out", "parts.parquet"])
        for name in ("new", "old"):
            main(["evaluate", "--run", f"{name}.parquet", *files[3:], "--out", f"of_{name}.parquet"])
    return folder


@pytest.fixture(autouse=True)
def here(place, monkeypatch):
    monkeypatch.chdir(place)


def frame(name):
    return pd.read_parquet(f"of_{name}.parquet").set_index("user_id")


def rows(path, what="runs"):
    return pd.DataFrame(json.loads(Path(path).read_text())[what])


@pytest.mark.parametrize(
    "sources", [["whole.parquet"], ["parts.parquet"], ["of_new.parquet", "of_old.parquet"]]
)
def test_compare_says_the_same_of_every_storage(place, sources) -> None:
    quick = ["--interval", "normal", "--correction", "holm", "--out"]
    main(["compare", *sources, *quick, "stored.json"])
    values = pd.concat([frame(name).assign(model=name) for name in ("new", "old")]).rename_axis("user")
    values.reset_index().melt(["user", "model"], var_name="metric").to_csv("long.csv", index=False)
    main(["compare", "long.csv", *quick, "memory.json"])
    for what in ("runs", "pairs"):
        found, expected = rows("stored.json", what), rows("memory.json", what)
        found = found.replace({"of_new": "new", "of_old": "old"})
        assert_frame_equal(found, expected, rtol=1e-9)


def test_segments_of_tables_are_those_of_frames(place) -> None:
    groups = ["--by", "plan,rows", "--users", "users.parquet"]
    sources = {"one": ["whole.parquet"], "two": ["of_new.parquet", "of_old.parquet"]}
    for name, files in sources.items():
        main(["segments", *files, *groups, "--metric", "ndcg@5", "--out", f"{name}.json"])
    table = pd.read_csv("users.csv").set_index("user_id")
    values = pd.DataFrame({name: frame(name)["ndcg_at_5"] for name in ("new", "old")})
    known = [
        compare_segments(values, by, by=by.name, metric="ndcg@5").to_frame()
        for by in (table["plan"], cut_groups(table["rows"]).rename("rows"))
    ]
    expected = pd.concat(known, ignore_index=True)
    for name in sources:
        found = pd.DataFrame(json.loads((place / f"{name}.json").read_text()))
        found = found.replace({"of_new": "new", "of_old": "old"})
        assert_frame_equal(found, expected, check_dtype=False, rtol=1e-9)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["compare", "of_new.parquet", "other.parquet"], "the runs measure ndcg@5 differently"),
        (["segments", "whole.parquet", "--by", "plan"], "Add --users TABLE"),
        (["segments", "whole.parquet", *PLAN, "strange.csv"], "0 in both, of 1 in the table of users"),
        (["segments", "whole.parquet", *PLAN, "twice.parquet"], "in several rows; keep one"),
        (["segments", "of_new.parquet", *PLAN, "users.csv"], "expected columns user, model, value"),
        (["segments", "none.parquet", *PLAN, "users.csv"], "there is no such file"),
    ],
)
def test_bad_input_is_told_with_its_remedy(place, capsys, words, told) -> None:
    files = ["--run", "new.parquet", "--truth", "truth.parquet", "--metrics", "ndcg@5"]
    if not (place / "other.parquet").exists():
        main(["evaluate", *files, "--conventions", "recbole", "--out", "other.parquet"])
        pd.DataFrame({"user_id": ["x"], "plan": ["a"]}).to_csv("strange.csv", index=False)
        pd.DataFrame({"user_id": [1, 1], "plan": ["a", "b"]}).to_parquet("twice.parquet")
    assert main(words) == 1
    assert told in capsys.readouterr().err
