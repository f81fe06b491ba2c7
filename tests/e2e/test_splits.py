"""Splits from the command line: held-out users over several folds, and files of one's own."""

import json

import pytest

pytestmark = pytest.mark.e2e


def test_folds_of_users_are_a_sweep_and_the_fold_in_rows_are_recorded(workplace):
    done = workplace.run(
        "-m", "split=k_fold_users", "split.fold=0,1", "model=svd", "metrics=ranking", "cutoffs=[10]"
    )
    assert done.code == 0, done.err
    assert "mean ± deviation of 2" in done.out
    assert {run.data.params["split.fold"] for run in workplace.runs()} == {"0", "1"}
    first, second = (
        json.loads((folder / "record.json").read_text())["split"] for folder in workplace.output("*/*/*")
    )
    for split in (first, second):
        assert split["test"]["users"] == 200
        assert split["fold_in"]["rows"] > 3 * split["test"]["rows"]
        assert split["test_cold_users"] == 0
    assert first["train"]["rows"] != second["train"]["rows"]


def test_files_say_what_is_test_and_a_wrong_file_is_explained(workplace):
    pairs = [(user, item) for user in range(20) for item in range(10) if (user + item) % 7 != 6]
    rows = [f"user{user},item{item},{1 + (user * item) % 5}" for user, item in pairs]
    (workplace.folder / "all.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n")
    (workplace.folder / "test.csv").write_text("user,item\nuser0,item3\nuser7,item9\n")
    (workplace.folder / "wrong.csv").write_text("user,item\nuser0,item99\n")
    common = ("dataset=table", "dataset.path=all.csv", "model=popularity", "metrics=ranking", "tracking=off")
    done = workplace.run(*common, "split=published", "split.test=test.csv")
    assert done.code == 0, done.err
    (folder,) = workplace.output()
    split = json.loads((folder / "record.json").read_text())["split"]
    assert (split["train"]["rows"], split["test"]["rows"], split["test"]["users"]) == (len(pairs) - 2, 2, 2)
    refused = workplace.run(*common, "split=published", "split.test=wrong.csv")
    assert refused.code == 1
    assert "user 'user0' and item 'item99' (test)" in refused.out + refused.err
    assert "Traceback" not in refused.out + refused.err
