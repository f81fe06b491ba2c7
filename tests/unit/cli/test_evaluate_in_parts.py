"""``recgauge evaluate`` on folders of Parquet: the numbers of files that are read at once."""

import json
import subprocess
import sys
import time
from concurrent.futures import Executor, Future
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from recgauge.cli.commands.cli import main
from recgauge.errors import DataError
from recgauge.evaluation.parts import PartTask
from recgauge.evaluation.recorded_parts import StoredRuns, stored_parts
from recgauge.files.stored import find_stored
from recgauge.recorded import roles_of
from recgauge.utils.progress import Progress

METRICS = "ndcg@10,recall@5,map,catalog_coverage@10,gini@5,personalization@10"
N_USERS, LENGTH, N_ITEMS = 6_000, 30, 500


def write(table, folder, n_files=5, rows=10_000):
    """Divide a table among files."""
    folder.mkdir()
    edges = [len(table) * at // n_files for at in range(n_files + 1)]
    for at, (begin, end) in enumerate(pairwise(edges)):
        parquet.write_table(table.slice(begin, end - begin), folder / f"{at}.parquet", row_group_size=rows)


def with_text(table):
    ids = {
        name: pa.array([f"{name[0]}{one}" for one in table[name].to_pylist()]) for name in ("user", "item")
    }
    return pa.table({**ids, table.column_names[2]: table[2]})


def with_ranks(table):
    """Users with gaps between them, some below zero, and ranks if there were scores."""
    users = pa.array(table["user"].to_numpy() * 7 - 9_000)
    if "score" not in table.column_names:
        return table.set_column(0, "user", users)
    ranks = pa.array(np.arange(len(table)) % LENGTH + 1)
    return pa.table({"user": users, "item": table["item"], "rank": ranks})


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Lists and grades in every layout, as folders and as one file in the same order."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(5)
    user = np.repeat(np.arange(N_USERS), LENGTH)
    item = rng.random((N_USERS, N_ITEMS)).argsort(axis=1)[:, :LENGTH].ravel()
    score = -np.sort(-np.round(rng.random((N_USERS, LENGTH)), 2), axis=1).ravel()
    lists = pa.table({"user": user, "item": item, "score": score})
    relevant = rng.random((N_USERS, N_ITEMS)).argsort(axis=1)[:, :4].ravel()
    grades = rng.integers(0, 4, len(relevant)).astype(float)
    truth = pa.table({"user": np.repeat(np.arange(N_USERS) + 50, 4), "item": relevant, "grade": grades})
    for name, change in {
        "sorted": lambda table: table,
        "mixed": lambda table: table.take(pa.array(rng.permutation(len(table)))),
        "ranked": lambda table: with_ranks(table).take(pa.array(rng.permutation(len(table)))),
        "text": lambda table: with_text(table.take(pa.array(rng.permutation(len(table))))),
    }.items():
        for kind, table in (("lists", lists), ("truth", truth)):
            changed = change(table)
            write(changed, folder / f"{name}-{kind}")
            parquet.write_table(changed, folder / f"{name}-{kind}.parquet")
    return folder


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(data, name, ending, *more):
    files = ["--run", str(data / f"{name}-lists{ending}"), "--truth", str(data / f"{name}-truth{ending}")]
    return ["evaluate", *files, "--metrics", METRICS, "--n-items", str(N_ITEMS), *more]


def stored(file):
    (run,) = json.loads(Path(file).read_text())["runs"].values()
    return {name: run[name] for name in ("values", "stderrs", "definitions", "counts", "policies")} | {
        "found": {one["name"]: one["count"] for one in run["found"]}
    }


@pytest.mark.parametrize(
    ("name", "convention"),
    [("sorted", "trec"), ("mixed", "standard"), ("ranked", "recbole"), ("text", "trec")],
)
def test_folders_give_the_numbers_of_files_to_the_last_bit_by_any_number_of_processes(
    data, place, name, convention
) -> None:
    how = ["--conventions", convention, "--out"]
    assert main(words(data, name, ".parquet", *how, "whole.json", "whole.parquet")) == 0
    for mib, n_parts in (("16", 2), ("1000", 1)):
        in_parts = words(data, name, "", *how, "parts.json", "parts.parquet", "--jobs", str(n_parts))
        assert main([*in_parts, "--memory-mib", mib, "--work", mib]) == 0
        assert len(list(place.glob(f"{mib}/*/*part-*.npz"))) >= n_parts
        assert not list(place.glob(f"{mib}/*/divided"))
        assert stored("parts.json") == stored("whole.json")
        one, other = (
            parquet.read_table(file).sort_by("user_id").to_pandas()
            for file in ("parts.parquet", "whole.parquet")
        )
        assert one.equals(other)


def test_parts_fit_into_memory_however_large_row_groups_are(data, place) -> None:
    for kind in ("lists", "truth"):
        write(parquet.read_table(data / f"sorted-{kind}.parquet"), place / f"sorted-{kind}", 1, 10**6)
    assert main(words(place, "sorted", "", "--memory-mib", "16", "--work", "w", "--out", "parts.json")) == 0
    assert len(list(place.glob("w/*/*part-*.npz"))) > 1
    assert main(words(data, "sorted", ".parquet", "--out", "whole.json")) == 0
    assert stored("parts.json") == stored("whole.json")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_work_goes_on_at_its_finished_parts(data, place, jobs) -> None:
    command = [sys.executable, "-m", "recgauge", *words(data, "mixed", "", "--work", "work")]
    command += ["--memory-mib", "16", "--jobs", jobs, "--out", "killed.json"]

    def finished():
        return {file: file.stat().st_mtime_ns for file in place.glob("work/*/*part-*.npz")}

    seen = {}
    for n_parts in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not list(place.glob("work/*")):
            time.sleep(0.001)
        while process.poll() is None and len(finished()) < n_parts:
            time.sleep(0.001)
        process.kill()
        process.wait()
        assert seen.items() <= finished().items()  # no finished part is judged again
        seen = finished()
    subprocess.run(command, check=True, capture_output=True)
    assert seen.items() <= finished().items()
    assert main(words(data, "mixed", ".parquet", "--out", "whole.json")) == 0
    assert stored("killed.json") == stored("whole.json")
    assert not list(place.glob("work/*/divided"))


def test_changed_files_are_judged_anew(data, place) -> None:
    table = parquet.read_table(data / "sorted-lists.parquet")
    truth = str(data / "sorted-truth")
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(len(table))
        (place / "lists").mkdir(exist_ok=True)
        kept = table.take(pa.array(order[: 50_000 + seed]))
        parquet.write_table(kept, place / "lists" / "0.parquet")
        assert main(["evaluate", "--run", "lists", "--truth", truth, "--metrics", "ndcg"]) == 0
    assert len(list((place / "outputs" / "parts").iterdir())) == 2


def refused(capsys, *arguments):
    capsys.readouterr()
    assert main(["evaluate", *arguments]) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    return line


def test_bad_input_is_one_line_that_says_where(data, place, capsys) -> None:
    lists, truth = str(data / "sorted-lists"), str(data / "sorted-truth")
    assert "no file has such a column" in refused(capsys, "--run", lists, "--truth", truth, "--user", "usr")
    assert "there is no --train" in refused(capsys, "--run", lists, "--truth", truth, "--train", truth)
    line = refused(capsys, "--run", lists, "--truth", truth, "--metrics", "novelty@10")
    assert "novelty needs training rows" in line
    strangers = parquet.read_table(f"{truth}.parquet")
    write(
        strangers.set_column(0, "user", pa.array(strangers["user"].to_numpy() + 10**6)), place / "strangers"
    )
    line = refused(capsys, "--run", lists, "--truth", "strangers", "--metrics", "ndcg@5")
    assert "users: 0 in both, of 6,000 in the lists (0 %)" in line
    (place / "file").write_text("")
    assert "--work FOLDER" in refused(capsys, "--run", lists, "--truth", truth, "--work", "file")


def test_a_bad_row_is_named_and_finished_parts_are_kept(data, place, capsys) -> None:
    table = parquet.read_table(data / "mixed-lists.parquet")
    write(pa.concat_tables([table, table.slice(0, 1)]), place / "lists")  # twice in a list
    files = ["--run", "lists", "--truth", str(data / "mixed-truth")]
    command = [*files, "--metrics", "ndcg@5", "--memory-mib", "16", "--repeats", "refuse"]
    line = refused(capsys, *command)
    assert "repeats: 1" in line
    assert "lists (users of part" in line
    assert main(["evaluate", *command[:-2], "--keep", "repeats"]) == 0


def test_a_finished_part_that_is_damaged_is_named(data, place, capsys) -> None:
    command = words(data, "sorted", "", "--memory-mib", "16", "--work", "work")
    assert main(command) == 0
    first = next(place.glob("work/*/*part-0.npz"))
    first.write_bytes(first.read_bytes()[:100])
    assert "part-0.npz" in refused(capsys, *command[1:])
    first.unlink()
    assert main(command) == 0
    assert main([*command, "--out", "users.parquet"]) == 0  # whose parts have users' values
    assert len(parquet.read_table("users.parquet")) == N_USERS + 50


def test_several_runs_are_compared_part_by_part(data, place, capsys) -> None:
    truth = ["--truth", str(data / "sorted-truth"), "--metrics", "ndcg@10,gini@5", "--n-items", str(N_ITEMS)]
    table = parquet.read_table(data / "sorted-lists.parquet").to_pandas()
    table["item"] = (table["item"] + 1) % N_ITEMS
    write(pa.Table.from_pandas(table, preserve_index=False), place / "other")
    runs = ["evaluate", "--run", str(data / "sorted-lists"), "other"]
    assert main([*runs, *truth, "--memory-mib", "16", "--out", "o.json"]) == 0
    printed = capsys.readouterr()
    assert "not compared: gini_at_5" in printed.out
    comparison = json.loads((place / "o.json").read_text())["comparison"]
    assert {row["run"] for row in comparison["runs"]} == {"sorted-lists", "other"}
    assert comparison["runs"][0]["n_users"] > 4_000
    assert [pair["metric"] for pair in comparison["pairs"]] == ["ndcg_at_10"]
    assert main([*runs, *truth, "--memory-mib", "900", "--out", "whole.json"]) == 0
    assert json.loads((place / "whole.json").read_text())["comparison"] == comparison


def test_launchers_are_those_of_sweeps(data, place, capsys) -> None:
    files = words(data, "sorted", "", "--launcher")[1:]
    line = refused(capsys, *files, "nowhere")
    assert "submitit_slurm" in line
    assert "hydra.launcher.NAME" in refused(capsys, *files, "ray", "address=here")
    assert "Did you mean address" in refused(capsys, *files, "ray", "hydra.launcher.adress=here")
    assert "workers" in refused(capsys, *files, "dask", "hydra.launcher.workers=0")
    assert main(["evaluate", *files, "recgauge"]) == 0


class Mortal(Executor):
    """Works here, and dies the first times."""

    def __init__(self, deaths):
        self.deaths = deaths

    def submit(self, function, /, *arguments, **named):
        future = Future()
        self.deaths -= 1
        if self.deaths >= 0:
            future.set_exception(RuntimeError("the node is lost"))
        else:
            future.set_result(function(*arguments, **named))
        return future


def test_a_part_whose_worker_dies_is_named_and_judged_by_the_next_command(data, place) -> None:
    def runs(work):
        lists = find_stored(str(data / "sorted-lists"), roles_of("lists"), "--run")
        truth = find_stored(str(data / "sorted-truth"), roles_of("relevant"), "--truth")
        return StoredRuns([lists], truth, PartTask(("ndcg",), (10,)), place / work, 16)

    def value(runs, deaths):
        task = runs.judge([Mortal(deaths)], lambda work, *arguments: work(*arguments), Progress())
        return task.merge(stored_parts(runs.files["sorted-lists"])).values()

    with pytest.raises(DataError, match="a worker has ended") as error:
        value(runs("a"), 1)
    assert "the node is lost" in str(error.value)
    assert value(runs("a"), 0) == value(runs("b"), 0)


@pytest.mark.parametrize(
    "users",
    [
        np.arange(6_000) + 10**10,  # neighbours that 32 bits do not hold
        np.arange(6_000, dtype=np.uint64) + np.uint64(2**63 - 3_000),
        np.array([str(user) if user % 100 else f"0{user}" for user in range(6_000)], object),
        np.repeat([7, 8], 3_000),  # parts without a user
    ],
    ids=["far", "unsigned", "text and numbers", "few"],
)
def test_ids_of_any_kind_give_the_numbers_of_files(place, users) -> None:
    order = np.random.default_rng(3).permutation(len(users) * LENGTH)
    item = np.arange(len(order)) % 120_000 + 2**60  # neighbours that a fraction does not tell apart
    user = np.repeat(users, LENGTH)
    lists = {"user": user[order], "item": item[order].astype(np.uint64), "score": -order.astype(float)}
    truth = {"user": users[::-1], "item": item[::-LENGTH] + 3}
    for kind, columns in (("lists", lists), ("truth", truth)):
        table = pa.table({name: pa.array(column) for name, column in columns.items()})
        write(table, place / f"x-{kind}")
        parquet.write_table(table, place / f"x-{kind}.parquet")
    how = ["--metrics", "ndcg,personalization@10", "--n-items", "200000", "--out"]
    assert main(words(place, "x", ".parquet", *how, "whole.json", "whole.parquet")) == 0
    assert main(words(place, "x", "", "--memory-mib", "16", *how, "p.json", "p.parquet")) == 0
    assert stored("p.json") == stored("whole.json")
    one, other = (
        parquet.read_table(file).sort_by("user_id").to_pydict() for file in ("p.parquet", "whole.parquet")
    )
    assert one == other
