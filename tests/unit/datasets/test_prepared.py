"""What was read is kept: the same data set comes back, or the files are read; never anything else."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import RecordedProgress
from recgauge.datasets import prepared
from recgauge.datasets import table as table_module
from recgauge.datasets.movielens import MovieLens
from recgauge.datasets.table import Table
from recgauge.errors import IntegrityError
from recgauge.runs.folder import file_digest
from unit.datasets.test_movielens import MADE

CSV = "userId,movieId,rating,timestamp\n3,10,4.0,100\n1,20,3.5,200\n3,20,0.5,300\n2,10,5.0,400\n"


@pytest.fixture(autouse=True)
def keep_everything(monkeypatch):
    """Let small files be kept, too."""
    monkeypatch.setattr(prepared, "WORTH_KEEPING", 0)


@pytest.fixture
def cache(tmp_path):
    return str(tmp_path / "cache")


@pytest.fixture
def ratings(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(CSV)
    return path


def check_same(one, other):
    for name in ("name", "feedback", "relevant_from", "sha256", "provenance", "source", "licence"):
        assert getattr(one, name) == getattr(other, name)
    rows, others = one.interactions, other.interactions
    assert rows.sha256() == others.sha256()
    assert rows.user_ids.tolist() == others.user_ids.tolist()
    assert np.array_equal(one.item_titles, other.item_titles)
    if one.item_features is not None:
        assert one.item_features.names == other.item_features.names
        assert (one.item_features.matrix != other.item_features.matrix).nnz == 0


def copies_in(cache):
    return [*Path(cache).glob("prepared/*.arrays")]


@pytest.fixture
def no_reading(monkeypatch):
    """Fail if a table is read again."""

    def forbid():
        monkeypatch.setattr("recgauge.datasets.table.read", lambda *_, **__: pytest.fail("read again"))

    return forbid


BAD_ROWS = ["5,6,x,1", "5,6,nan,1", ",6,1,1", "5,6,1,-1", "5,6", "5,6,1,1,1", ""]


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["7", "007", "Zoë", "-1", "a b"]), st.integers(0, 99), st.integers(1, 5)),
        min_size=1,
    ),
    bad=st.lists(st.sampled_from(BAD_ROWS)),
    with_time=st.booleans(),
)
def test_a_kept_table_equals_a_fresh_one(tmp_path_factory, rows, bad, with_time):
    folder = tmp_path_factory.mktemp("table")
    lines = ["user,item,rating,time", *(f"{u},{i},{r},{r}" for u, i, r in rows), *bad]
    (folder / "t.csv").write_text("\n".join(lines))
    options = {"on_bad_rows": "skip", "time": None if with_time else False}
    loads = []
    for kept in (False, True, True):
        progress = RecordedProgress()
        source = Table(str(folder / "t.csv"), prepared=kept, cache=str(folder / "cache"), **options)
        loads.append((source.load(progress), progress.notes))
    for dataset, notes in loads[1:]:
        check_same(dataset, loads[0][0])
        assert notes == loads[0][1]


def test_kept_titles_and_features_equal_fresh_ones(make_zip, cache, progress):
    path = make_zip(MADE["ml_100k"])
    pin = file_digest(path)
    fresh, first, again = (
        MovieLens("ml_100k", archive=str(path), sha256=pin, cache=cache, prepared=kept).load(progress)
        for kept in (False, True, True)
    )
    check_same(first, fresh)
    check_same(again, fresh)


def test_a_table_is_read_once(ratings, cache, no_reading):
    fresh = Table(str(ratings), cache=cache).load()
    no_reading()
    found = Table(str(ratings), cache=cache, name="other", relevant_from=4).load()
    assert (found.name, found.relevant_from, found.sha256) == ("other", 4, fresh.sha256)
    moved = ratings.rename(ratings.with_name("moved.csv"))
    assert Table(str(moved), cache=cache).load().source == str(moved)


def test_options_and_content_and_code_decide_what_is_found(ratings, cache, tmp_path, monkeypatch):
    def n_kept(path=ratings, **options):
        Table(str(path), cache=cache, **options).load()
        return len(copies_in(cache))

    assert n_kept() == 1
    assert n_kept(time=False) == 2
    assert n_kept(on_bad_rows="skip") == 3
    other = tmp_path / "other.csv"
    other.write_text(CSV.replace("5.0", "4.5"))
    assert n_kept(other) == 4
    reads = []
    read = table_module.read
    monkeypatch.setattr(table_module, "read", lambda *given, **more: reads.append(1) or read(*given, **more))
    assert (n_kept(), reads) == (4, [])
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "reader.py").write_text("better")
    monkeypatch.setattr(prepared, "_CODE", (tmp_path / "code",))
    assert (n_kept(), reads) == (4, [1])  # the new copy replaces the old one
    assert (n_kept(), reads) == (4, [1])


def test_a_file_that_is_written_while_it_is_read_is_refused(ratings, cache, monkeypatch):
    read = table_module.read

    def read_slowly(file, *given, **more):
        found = read(file, *given, **more)
        with ratings.open("a") as growing:
            growing.write("9,9,1,1\n")
        return found

    monkeypatch.setattr(table_module, "read", read_slowly)
    for kept in (False, True):
        with pytest.raises(IntegrityError, match=r"was changed while it was read.*Run again when"):
            Table(str(ratings), cache=cache, prepared=kept).load()
    assert copies_in(cache) == []


def truncate(copy):
    copy.write_bytes(copy.read_bytes()[:-4])


def alter_facts(copy):
    copy.write_bytes(copy.read_bytes().replace(b'"n_bad": 0', b'"n_bad": 1'))


@pytest.mark.parametrize("damage", [truncate, alter_facts])
def test_a_damaged_copy_is_made_anew(ratings, cache, no_reading, damage):
    source = Table(str(ratings), cache=cache)
    fresh = source.load()
    damage(*copies_in(cache))
    check_same(source.load(), fresh)
    no_reading()
    check_same(source.load(), fresh)
