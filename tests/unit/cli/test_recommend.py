"""``recgauge recommend``: tables, files, and what it refuses."""

import json

import numpy as np
import pandas as pd
import pytest

from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.models import SavedModel
from recgauge.models.svd import SVD


@pytest.fixture
def run(tmp_path, monkeypatch):
    """An output folder with the model of four users."""
    monkeypatch.chdir(tmp_path)
    users, items = ["ann", "ann", "bob", "eve", "all", "all", "all"], list("xyxzxyz")
    train = Interactions.from_ids(users, items)
    model = SVD(n_factors=1).fit(train, rng=np.random.default_rng(0))
    seen = CandidateItems(excluded=train.to_csr())
    titles = np.array(["X [1]", "Y, why", "Z \u2603"], dtype=object)
    SavedModel(model, train.user_ids, train.item_ids, seen, titles).save(tmp_path / "run" / "model")
    return tmp_path / "run"


def test_a_table_per_user_is_printed(run, command):
    code, out, err = command("recommend", run, "--users", "bob, ann,bob", "--k", "2")
    assert (code, err) == (0, "")
    assert out.count("user bob") == out.count("user ann") == 1
    assert out.index("user bob") < out.index("user ann")
    assert "Y, why" in out
    assert out.split()[2:6] == ["rank", "item_id", "title", "score"]


def test_unknown_users_are_named_in_one_line(run, command):
    names = [f"u{number}" for number in range(12)]
    code, out, err = command("recommend", run, "--users", ",".join([*names, "ann"]))
    assert code == 0
    assert "user ann" in out
    assert err.count("\n") == 1
    assert "u0, u1, " in err
    assert err.endswith("u9 and 2 more\n")


def test_a_user_without_candidates_is_told(run, command):
    _, out, _ = command("recommend", run, "--users", "all,ann")
    assert "user all: no item is left to recommend" in out  # the word means everybody only alone
    assert "user bob" not in out
    _, again, _ = command("recommend", run, "--users", "all,,ann")
    assert again == out


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_files_hold_every_bit(run, command, kind):
    file = run.parent / "new" / f"lists.{kind}"
    code, out, _ = command("recommend", run, "--users", "all", "--out", file)
    assert code == 0
    assert "5 rows of 4 users" in out
    read = {
        "csv": pd.read_csv,
        "parquet": pd.read_parquet,
        "json": lambda f: json.loads(f.read_text("utf-8")),
    }
    frame = pd.DataFrame(read[kind](file))
    saved = SavedModel.load(run / "model")
    rows = saved.rows(saved.user_ids)
    assert list(frame) == list(rows)
    for name, column in rows.items():
        assert frame[name].astype(column.dtype).tolist() == column.tolist()
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--users", "zoe"], "not in the training data, so without a list: zoe. Ids look like all."),
        (["--users", "ann", "--out", "lists.xlsx"], "must end in one of .csv, .parquet, .json"),
        (["--users", "ann", "--out", "run/model/model.json/lists.csv"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_refused(run, command, words, reason):
    code, out, err = command("recommend", run, *words)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert reason in err


def test_a_run_without_a_model_says_how_to_make_one(run, command):
    (run / "model" / "arrays.npz").unlink()
    code, _, err = command("recommend", run, "--users", "ann")
    assert code == 1
    assert "no saved model. Run it again with save_model=true" in err


def test_models_of_other_packages_need_leave(run, command):
    file = run / "model" / "model.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"class": "somewhere.models.Nice"}))
    _, _, err = command("recommend", run, "--users", "ann")
    assert "somewhere.models.Nice is not of recgauge" in err
    assert "--allow somewhere" in err
    _, _, err = command("recommend", run, "--users", "ann", "--allow", "somewhere")
    assert "No module named 'somewhere'" in err
