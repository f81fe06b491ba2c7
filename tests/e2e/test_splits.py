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


def test_visits_that_repeat_between_published_parts(workplace):
    """Refused; kept and counted if asked; or reduced to one row a pair, which says what each part lost."""
    train, test = ["1,a", "1,a", "1,b", "2,a", "2,c", "3,b"], ["1,a", "1,a", "2,c", "3,a"]
    for name, rows in (("train", train), ("test", test)):
        (workplace.folder / f"{name}.csv").write_text("\n".join(["user,item", *rows]) + "\n")
    files = [workplace.folder / f"{name}.csv" for name in ("train", "test")]
    common = ("dataset=table", f"dataset.path=[{files[0]},{files[1]}]", "split=published", "model=popularity")
    common += (
        f"split.test={files[1]}",
        "metrics=ranking",
        "cutoffs=[2]",
        "tracking=off",
        "hydra.run.dir=out",
    )
    kept = ("guards.override=[overlap]", "candidates.seen=none")
    commands = [common, (*common, *kept), (*common, *kept, f"split.train={files[0]}")]
    commands.append((*common, "filters=[duplicates]"))
    refused, *done = workplace.run_each(commands)
    assert refused.code == 1
    assert "3 of 4 test rows (75.0%)" in refused.err
    assert "3 in train, 1 an earlier test row" in refused.err
    assert "guards.override=[overlap] candidates.seen=none" in refused.err
    assert [one.code for one in done] == [0, 0, 0], [one.err for one in done]
    records = [
        json.loads((workplace.folder / f"command{number}/out/record.json").read_text())
        for number in (1, 2, 3)
    ]
    for record in records[:2]:  # a is in three training rows, b in two: everybody's list is a, b
        assert (record["split"]["train"]["rows"], record["split"]["test"]["rows"]) == (6, 4)
        values = {entry["key"]: entry["value"] for entry in record["results"]}
        assert values["precision_at_2"] == pytest.approx(1 / 3)
        assert values["recall_at_2"] == pytest.approx(2 / 3)
        (overlap,) = [guard for guard in record["guards"] if guard["name"] == "overlap"]
        assert (overlap["value"], overlap["overridden"]) == (0.75, True)
    assert (records[2]["split"]["train"]["rows"], records[2]["split"]["test"]["rows"]) == (3, 3)
    assert "before and after the filters: train 6 to 3, test 4 to 3" in done[2].out
