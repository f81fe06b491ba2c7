"""A run whose data, split and lists are folders of Parquet is found again while no byte of them changes."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from recgauge.cli.commands.cli import main

pytestmark = pytest.mark.e2e

N_USERS, N_ITEMS = 60, 40


def write(table, folder, n_files=4):
    """Divide a table among the files of a folder."""
    folder.mkdir()
    edges = [len(table) * at // n_files for at in range(n_files + 1)]
    for at, (begin, end) in enumerate(pairwise(edges)):
        parquet.write_table(table.slice(begin, end - begin), folder / f"part-{at}.parquet")


@pytest.fixture
def place(workplace):
    rng = np.random.default_rng(2)

    def pairs(n_items):
        item = rng.random((N_USERS, N_ITEMS)).argsort(axis=1)[:, :n_items].ravel()
        ids = {"user": [f"u{user}" for user in np.repeat(np.arange(N_USERS), n_items)], "item": item}
        return pa.table(ids)

    rows, lists = pairs(10), pairs(20)
    score = -np.sort(-rng.random((N_USERS, 20)), axis=1).ravel()
    held_out = rng.random(len(rows)) < 0.3
    tables = {
        "rows": rows.append_column("rating", pa.array(rng.integers(1, 6, len(rows)).astype(float))),
        "train": rows.filter(pa.array(~held_out)),
        "test": rows.filter(pa.array(held_out)),
        "lists": lists.append_column("score", pa.array(score)),
    }
    for name, table in tables.items():
        write(table.take(pa.array(rng.permutation(len(table)))), workplace.folder / name)
    return workplace


def run(place, *more):
    """Run with all four tables as folders."""
    named = ["dataset.path=rows", "split.train=train", "split.test=test", "model.path=lists"]
    chosen = ["dataset=table", "dataset.name=mine", "split=published", "model=recorded", "cutoffs=[5,10]"]
    return place.run(*chosen, *named, "tracking=off", *more)


def test_a_run_is_found_again_until_a_byte_of_a_file_changes(place, monkeypatch, capsys):
    monkeypatch.chdir(place.folder)
    assert run(place, "hydra.run.dir=first").code == 0
    assert "reused the run" in run(place, "hydra.run.dir=again", "reuse=true").out
    assert main(["verify", "first"]) == 0
    for number, name in enumerate(("lists", "rows", "train", "test")):
        file = place.folder / name / "part-2.parquet"
        before = file.read_bytes()
        parquet.write_table(parquet.read_table(file), file, compression="none")  # the same rows
        done = run(place, f"hydra.run.dir=changed{number}", "reuse=true")
        assert done.code == 0, done.err
        assert "reused the run" not in done.out
        file.write_bytes(before)
    file = place.folder / "lists" / "part-2.parquet"
    parquet.write_table(parquet.read_table(file).slice(1), file)
    capsys.readouterr()
    assert main(["verify", "first"]) == 1
    assert "not as stored" in capsys.readouterr().out
