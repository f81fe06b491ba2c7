"""``recgauge evaluate``: what it prints, writes and refuses."""

import json
import subprocess
import sys

import pandas as pd
import pytest

from recgauge import evaluate, evaluate_ratings
from recgauge.cli.commands.cli import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.csv").write_text("user,item,rank\n1,x,1\n1,y,2\n2,x,1\n2,z,2\n")
    (tmp_path / "two.csv").write_text("user,item,rank\n1,y,1\n1,x,2\n2,z,1\n2,x,2\n")
    (tmp_path / "test.csv").write_text("user,item,rating\n1,y,4\n2,z,5\n2,x,2\n")
    return tmp_path


def run(*words):
    return main(["evaluate", "--truth", "test.csv", *words])


def test_values_are_those_of_evaluate(files, capsys):
    words = ["--relevant-from", "4", "--metrics", "ndcg@2,recall@1,map", "--out", "o.json", "u.parquet"]
    assert run("--run", "one.csv", *words) == 0
    lists, truth = {1: ["x", "y"], 2: ["x", "z"]}, {1: {"y": 4}, 2: {"z": 5}}
    ours = evaluate(lists, truth, metrics=("ndcg", "recall", "map"), cutoffs=(1, 2, None)).values()
    stored = json.loads((files / "o.json").read_text())["runs"]["one"]
    assert stored["values"] == {key: ours[key] for key in ("ndcg_at_2", "recall_at_1", "map")}
    out = capsys.readouterr().out
    assert "ndcg@2" in out
    assert "few_users: fewer than 20" in out
    users = pd.read_parquet(files / "u.parquet")
    assert users["user_id"].tolist() == [1, 2]
    assert users["map"].mean() == pytest.approx(ours["map"])


def test_few_users_and_few_of_those_there_are_are_told(files, capsys):
    users = range(50)
    for name in ("one.csv", "two.csv"):
        (files / name).write_text("user,item,rank\n" + "".join(f"{user},x,1\n" for user in users[1:-1]))
    grades = {user: 5 if user < 24 else 1 for user in users}
    (files / "test.csv").write_text(
        "user,item,rating\n" + "".join(f"{user},x,{grade}\n" for user, grade in grades.items())
    )
    assert run("--run", "one.csv", "two.csv", "--metrics", "recall@1", "--relevant-from", "4") == 0
    out = capsys.readouterr().out
    assert "coverage: 24 of 50 users" in out
    assert out.count("users_without_list 1:") == 1  # for both runs; another user has no relevant item
    assert "few_users" not in out
    assert run("--run", "one.csv", "--metrics", "recall@1", "--relevant-from", "1") == 0
    assert "coverage" not in capsys.readouterr().out


def test_several_runs_are_compared(files, capsys):
    words = ["--metrics", "ndcg@2", "--confidence", "0.9", "--out", "o.json", "u.parquet"]
    assert run("--run", "one.csv", "two.csv", *words) == 0
    assert "its 90 % interval" in capsys.readouterr().out
    assert json.loads((files / "o.json").read_text())["comparison"]
    assert set(pd.read_parquet(files / "u.parquet")["run"]) == {"one", "two"}


def test_many_runs_of_a_small_file_are_not_compared_in_pairs(files, capsys):
    rows = [f"{user} Q0 {item} 1 1.0 tag{tag}\n" for tag in range(60) for user, item in ((1, "y"), (2, "z"))]
    (files / "tags.run").write_text("".join(rows))
    words = ["--run", "tags.run", "--metrics", "ndcg@2", "--out", "o.json"]
    assert run(*words) == 0
    assert "60 runs, at most 50 are compared in pairs" in capsys.readouterr().out
    assert "comparison" not in json.loads((files / "o.json").read_text())
    assert run(*words, "--baseline", "tag7") == 0
    assert json.loads((files / "o.json").read_text())["comparison"]


def test_several_runs_of_predicted_ratings_are_compared_by_user(files, capsys):
    for name, guess in (("p.csv", 3.5), ("q.csv", 1)):
        (files / name).write_text(f"user,item,est\n1,y,{guess}\n2,x,2\n2,z,3\n")
    assert run("--run", "p.csv", "q.csv", "--metrics", "rmse", "--out", "o.json", "u.parquet") == 0
    assert pd.read_parquet(files / "u.parquet").empty  # RMSE is over all ratings, and no mean over users
    assert "No difference shown between p and q" in capsys.readouterr().out
    words = ["--metrics", "mae,kendall", "--conventions", "lenskit", "--out", "o.json"]
    assert run("--run", "p.csv", "q.csv", *words) == 0
    said = capsys.readouterr().out
    assert "2 runs, 2 users" in said
    assert "not compared: kendall; one value for all users" in said
    assert json.loads((files / "o.json").read_text())["comparison"]


def test_predicted_ratings(files, capsys):
    (files / "p.csv").write_text("user,item,est\n1,y,3.5\n2,x,2\n2,z,3\n")
    assert run("--run", "p.csv", "--metrics", "rmse,mae", "--out", "o.json") == 0
    stored = json.loads((files / "o.json").read_text())["runs"]["p"]["values"]
    assert stored == evaluate_ratings([4, 5, 2], [3.5, 3, 2], metrics=("rmse", "mae")).values()
    assert "3 ratings of 2 users" in capsys.readouterr().out
    (files / "p.csv").write_text("user,item,est\n1,y,3.5\n2,x,2\n")
    assert run("--run", "p.csv", "--metrics", "rmse") == 1
    assert "user 2, item 'z'. without_prediction: 1" in capsys.readouterr().err
    assert run("--run", "p.csv", "--metrics", "rmse", "--keep", "without_prediction") == 0
    assert "without_prediction 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--run", "one.csv", "--metrics", "rmse,ndcg@2"], "two commands"),
        (["--run", "one.csv", "--metrics", "rmse"], "no scores"),
        (["--run", "one.csv", "--train", "/dev/zero"], "not a regular file but a device"),
        (["--run", "one.csv", "--separator", ";"], "(--separator TEXT).\n"),
        (["--run", "one.csv", "--metrics", "ndcg@2", "map"], "are one text: --metrics ndcg@2,map."),
    ],
)
@pytest.mark.usefixtures("files")
def test_wrong_words_are_one_message(capsys, words, said):
    assert run(*words) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert said in error


@pytest.mark.usefixtures("files")
def test_it_is_light():
    code = (
        "import sys; from recgauge.cli.commands.cli import main; "
        "main(['evaluate', '--run', 'one.csv', '--truth', 'test.csv']); "
        "print([name for name in ('hydra', 'omegaconf', 'mlflow', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("written", "theirs"),
    [("I1", "i1"), ("i1\u200b", "i1"), ("10.0", "10"), ("007", "7"), ("\ufb01x", "fix")],
)
def test_some_ids_in_another_spelling_are_told(tmp_path, monkeypatch, capsys, written, theirs):
    """Lists that name an item in two spellings meet the whole truth, and miss half of it."""
    monkeypatch.chdir(tmp_path)
    lists = {f"u{user}": [written if user % 2 else theirs] for user in range(8)}
    rows = [f"{user},{item},1" for user, (item,) in lists.items()]
    (tmp_path / "lists.csv").write_text("\n".join(["user,item,rank", *rows]) + "\n", "utf-8")
    test = [f"{user},{theirs}" for user in lists]
    (tmp_path / "test.csv").write_text("\n".join(["user,item", *test]) + "\n")
    assert run("--run", "lists.csv", "--metrics", "recall@1") == 0
    out = capsys.readouterr().out
    assert "1 item of the lists is in the truth in another spelling" in out
    assert "items: 1 in both, of 1 in the truth (100 %) and of 2 in the lists (50 %)" in out
    truth = {user: [theirs] for user in lists}
    train = {**truth, "u0": [written]}
    result = evaluate(truth, truth, train=train, metrics="recall", cutoffs=(1,))
    assert sum("in another spelling" in warning for warning in result.warnings()) == 2


@pytest.mark.parametrize(("grade", "told"), [(1, True), (0, False)])
def test_lists_of_the_rows_of_the_truth_are_told_unless_some_are_no_hits(
    tmp_path, monkeypatch, capsys, grade, told
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lists.csv").write_text("user,item,rank\na,x,1\na,y,2\nb,x,1\n")
    (tmp_path / "test.csv").write_text(f"user,item,grade\na,x,1\na,y,{grade}\nb,x,1\n")
    assert run("--run", "lists.csv", "--metrics", "recall@1") == 0
    assert ("the very rows of the truth" in capsys.readouterr().out) == told
