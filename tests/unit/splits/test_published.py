import zipfile
from dataclasses import replace

import numpy as np
import pytest

from recgauge.datasets.gowalla import Gowalla
from recgauge.datasets.movielens import MovieLens
from recgauge.datasets.table import Table
from recgauge.errors import SchemaError
from recgauge.filters import apply_filters
from recgauge.splits.published import Published

RATINGS = [("007", "a", 5), ("007", "b", 3), ("007", "c", 4), ("9", "a", 2), ("9", "c", 4)]


@pytest.fixture
def folder(tmp_path):
    def write(name, rows):
        (tmp_path / name).write_text("userId,itemId,rating\n" + "".join(f"{u},{i},{r}\n" for u, i, r in rows))

    write("all.csv", RATINGS)
    write("train.csv", RATINGS[:2])
    write("test.csv", [RATINGS[2], RATINGS[4]])
    write("validation.csv", [RATINGS[3]])
    return tmp_path


@pytest.fixture(scope="module")
def ml_100k(mirror):
    return MovieLens("ml_100k", mirror=mirror, offline=True).load()


def publish(dataset, rules=(), overlap=False, **settings):
    kept, steps = apply_filters(dataset, rules)
    splitter = Published(**settings).for_dataset(kept)
    return splitter.split(kept.interactions, rng=np.random.default_rng(0), steps=steps, overlap=overlap)


def ids(part):
    return set(zip(part.user_ids[part.user].tolist(), part.item_ids[part.item].tolist(), strict=True))


def load(path):
    return Table(str(path)).load()


def test_files_say_which_rows_are_test(folder):
    split = publish(
        load(folder / "all.csv"), test=str(folder / "test.csv"), validation=str(folder / "validation.csv")
    )
    assert ids(split.test) == {("007", "c"), ("9", "c")}
    assert ids(split.validation) == {("9", "a")}
    assert ids(split.train) == {("007", "a"), ("007", "b")}
    assert split.test.value.tolist() == [4, 4]


def test_validation_rows_are_drawn_from_the_published_training_rows(ml_100k):
    published = publish(ml_100k, fold="u1")
    split = publish(ml_100k, fold="u1", validation_size=0.1)
    assert ids(split.test) == ids(published.test)
    assert ids(split.train) | ids(split.validation) == ids(published.train)
    assert not ids(split.train) & ids(split.validation)
    assert len(split.validation) == round(0.1 * len(published.train))
    rows = ml_100k.interactions
    turned = replace(ml_100k, interactions=rows.take(np.arange(len(rows))[::-1]))
    assert ids(publish(turned, fold="u1", validation_size=0.1).validation) == ids(split.validation)


def test_rows_that_no_file_names_are_counted(folder):
    files = {"test": str(folder / "test.csv"), "train": str(folder / "train.csv")}
    split = publish(load(folder / "all.csv"), **files)
    assert "does not name: 1 rows" in str(split.steps[0])
    assert len(split.train) == 2
    assert split.cold_counts()["test_cold_users"] == 1  # user 9; the test part stays as published
    split = publish(load(folder / "all.csv"), **files, cold_users="drop")
    assert ids(split.test) == {("007", "c")}
    assert split.steps[1].dropped_rows == 1


CHECK_INS = {
    "train.csv": ["1,a,10", "1,b,11", "1,a,12", "2,a,13", "2,c,14", "2,c,15"],
    "validation.csv": ["1,a,20", "2,b,21"],
    "test.csv": ["1,a,30", "1,a,31", "2,c,32", "2,d,33"],
}
"""Visits with their times: a pair may be in a part several times, and in several parts."""


@pytest.fixture
def visits(tmp_path):
    for name, lines in CHECK_INS.items():
        (tmp_path / name).write_text("user,item,timestamp\n" + "\n".join(lines) + "\n")
    return tmp_path


def load_visits(folder, *names):
    return Table([str(folder / name) for name in names]).load()


@pytest.mark.parametrize("names_train", [True, False])
def test_pairs_in_several_parts_stay_in_all_of_them_row_by_row(visits, names_train):
    files = {name: str(visits / f"{name}.csv") for name in ("train", "validation", "test")}
    if not names_train:
        del files["train"]
    split = publish(load_visits(visits, *CHECK_INS), overlap=True, **files)
    assert split.train.timestamp.tolist() == [10, 11, 12, 13, 14, 15]
    assert split.validation.timestamp.tolist() == [20, 21]
    assert split.test.timestamp.tolist() == [30, 31, 32, 33]
    assert not any(step.dropped_rows for step in split.steps)
    with pytest.raises(SchemaError, match=r"Split published: .*filters=\[duplicates\]"):
        publish(load_visits(visits, *CHECK_INS), **files)


def test_a_pair_that_two_files_name_needs_a_row_for_each(folder):
    with pytest.raises(SchemaError, match=r"2 of the 4 published pairs .*item 'c' \(train\).*needs two rows"):
        publish(load(folder / "all.csv"), test=str(folder / "test.csv"), train=str(folder / "test.csv"))


def test_a_part_gets_as_many_rows_of_a_pair_as_its_file_names(folder):
    (folder / "twice.csv").write_text((folder / "all.csv").read_text() + "007,a,1\n")
    twice = load(folder / "twice.csv")
    assert len(publish(twice, test=str(folder / "test.csv")).train) == 4
    (folder / "first.csv").write_text("userId,itemId\n007,a\n")
    split = publish(twice, overlap=True, test=str(folder / "first.csv"))
    assert split.test.value.tolist() == [1]  # the last of the two
    assert len(split.train) == 5
    (folder / "both.csv").write_text("userId,itemId\n007,a\n007,a\n")
    assert publish(twice, overlap=True, test=str(folder / "both.csv")).test.value.tolist() == [5, 1]


@pytest.mark.parametrize("fold", ["u1", "ub"])
def test_the_published_splits_of_ml_100k(mirror, ml_100k, fold):
    split = publish(ml_100k, fold=fold)
    with zipfile.ZipFile(f"{mirror}/ml-100k.zip") as archive:
        for part, ending in ((split.train, "base"), (split.test, "test")):
            published = np.loadtxt(archive.open(f"ml-100k/{fold}.{ending}"), dtype=np.int64)
            assert len(part) == len(published)
            assert ids(part) == set(map(tuple, published[:, :2].tolist()))


def test_gowalla_is_split_as_published(mirror):
    dataset = Gowalla(mirror=mirror, offline=True).load()
    rows = dataset.interactions
    assert (rows.n_users, rows.n_items, len(rows)) == (29_858, 40_981, 1_027_370)
    assert rows.timestamp is None
    assert dataset.feedback == "implicit"
    split = publish(dataset)
    assert (len(split.train), len(split.test)) == (810_128, 217_242)
    assert (rows.user_ids[0], rows.user_ids[-1], rows.item_ids[-1]) == (0, 29_857, 40_980)
    first = split.test.item_ids[split.test.item[split.test.user == 0]]
    assert first[:4].tolist() == [7580, 3730, 5983, 5990]
    assert "by their sha256" in dataset.provenance


@pytest.mark.parametrize("column", [0, 1])
def test_published_ids_in_another_spelling_are_refused_with_the_cause(tmp_path, column):
    rows = [[f"shop{n}", f"SKU{n}"] for n in range(1, 9)]
    write = lambda name, lines: (tmp_path / name).write_text("user,item\n" + "".join(lines))  # noqa: E731
    write("all.csv", [",".join(row) + "\n" for row in rows])
    for row in rows:
        row[column] = row[column].swapcase()
    write("test.csv", [",".join(row) + "\n" for row in rows[:3]])
    with pytest.raises(SchemaError, match="upper and lower case"):
        publish(load(tmp_path / "all.csv"), test=str(tmp_path / "test.csv"))
