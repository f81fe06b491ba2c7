import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from recgauge.datasets.table import Table
from recgauge.errors import SchemaError

# The same four rows in every format.
USERS, ITEMS, RATINGS, TIMES = [3, 1, 3, 2], [10, 20, 20, 10], [4.0, 3.5, 0.5, 5.0], [100, 200, 300, 400]
ROWS = list(zip(USERS, ITEMS, RATINGS, TIMES, strict=True))


PLACES = {"user": 0, "item": 1, "rating": 2, "time": 3}


def lines(separator, header=None, end="\n"):
    written = [] if header is None else [separator.join(header)]
    written += [separator.join(map(str, row)) for row in ROWS]
    return end.join(written) + end


CSV = lines(",", ["userId", "movieId", "rating", "timestamp"])
TEXTS = {
    "ratings.csv": CSV,
    "no-header.csv": lines(","),
    "mark-no-header.csv": "\ufeff" + lines(","),
    "blank-lines.csv": "\n" + CSV.replace("\n", "\n\n"),
    "quoted.csv": lines(",", ['"user_id"', '"item_id"', '"rating"', '"time"']).replace("3,10", '"3","10"'),
    "u.data": lines("\t"),
    "ratings.dat": lines("::"),
    "toy.inter": lines("\t", ["user_id:token", "item_id:token", "rating:float", "timestamp:float"]),
    "float-times.inter": lines(
        "\t", ["user_id:token", "item_id:token", "rating:float", "timestamp:float"]
    ).replace("00\n", "00.0\n"),
    "rows.jsonl": "".join(
        json.dumps({"user_id": user, "asin": item, "overall": rating, "time": time, "text": "x"}) + "\n"
        for user, item, rating, time in ROWS
    ),
}


def places(name):
    """The columns of a text without a header, which must be said."""
    return PLACES if name in ("no-header.csv", "mark-no-header.csv", "u.data", "ratings.dat") else {}


def check_rows(rows, *, with_rating=True, with_time=True):
    assert rows.user_ids[rows.user].tolist() == USERS
    assert rows.item_ids[rows.item].tolist() == ITEMS
    assert rows.user_ids.tolist() == [1, 2, 3]
    assert rows.value.tolist() == (RATINGS if with_rating else [1.0] * 4)
    assert (rows.timestamp is None) if not with_time else (rows.timestamp.tolist() == TIMES)


@pytest.mark.parametrize("name", TEXTS)
def test_text_formats_give_the_same_rows(write, name):
    dataset = Table(write(name, TEXTS[name]), **places(name)).load()
    check_rows(dataset.interactions)
    assert dataset.feedback == "explicit"
    assert dataset.interactions.user_ids.dtype == np.int64


def test_junk_in_an_archive_is_passed_over(make_zip):
    junk = dict.fromkeys(("__MACOSX/data/._a.csv", "__MACOSX/a.csv", "data/", "data/.DS_Store"), b"\x00")
    check_rows(Table(str(make_zip({**junk, "data/a.csv": CSV.encode()}))).load().interactions)


def test_parquet(tmp_path, make_zip):
    path = tmp_path / "rows.parquet"
    columns = {
        "user": USERS,
        "item": pa.array(ITEMS).dictionary_encode(),
        "stars": RATINGS,
        "timestamp": TIMES,
    }
    parquet.write_table(pa.table(columns), path)
    check_rows(Table(str(path)).load().interactions)
    with pytest.raises(SchemaError, match="Unpack it"):
        Table(str(make_zip({"a/rows.parquet": path.read_bytes()}))).load()


def test_columns_by_name_and_position(write):
    text = "when,stars,who,what\n" + "".join(f"{t},{r},{u},{i}\n" for u, i, r, t in ROWS)
    names = {"user": "who", "item": "what", "rating": "stars", "time": "when"}
    check_rows(Table(write("named.csv", text), **names).load().interactions)
    positions = {"user": 2, "item": 3, "rating": 1, "time": 0}
    check_rows(Table(write("placed.csv", text.split("\n", 1)[1]), **positions).load().interactions)
    check_rows(Table(write("both.csv", text), **positions, header=True).load().interactions)
    tags = Table(write("tags.csv", "ann,news\nbob,tea\n"), user=0, item=1).load()
    assert tags.interactions.counts == "2 rows, 2 users, 2 items"  # an item may be called as a column is


def test_without_rating_and_time(write, progress):
    off = {"rating": False, "time": False}
    for name, text, chosen in (("header.csv", CSV, {}), ("bare.csv", lines(","), {"user": 0, "item": 1})):
        dataset = Table(write(name, text), **off, **chosen).load(progress)
        check_rows(dataset.interactions, with_rating=False, with_time=False)
        assert dataset.feedback == "implicit"
    positions = Table(write("bare.csv", lines(",")), user=0, item=1).load()
    check_rows(positions.interactions, with_rating=False, with_time=False)
    assert any("no rating, no time" in note for note in progress.notes)


def test_several_files_are_joined_in_order(write):
    head, *body = CSV.splitlines()
    first = write("part-1.csv", "\n".join([head, *body[:1]]))
    second = write("part-2.csv", "\n".join([head, *body[1:]]))
    check_rows(Table([first, second]).load().interactions)
    pattern = Table(first.replace("part-1", "part-*")).load()
    check_rows(pattern.interactions)
    assert pattern.name == "part"
    assert pattern.sha256 == Table([first, second]).load().sha256 != Table(first).load().sha256


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        (["007", "7", "8"], ["007", "7", "8"]),
        (["1.0", "2.0", "3"], ["1.0", "2.0", "3"]),
        (["0x10", "2", "3"], ["0x10", "2", "3"]),
        (["99999999999999999999", "2", "3"], ["2", "3", "99999999999999999999"]),
        (["-5", "0", "12"], [-5, 0, 12]),
        ([" 5 ", "1", "12"], [1, 5, 12]),
        (["Zoë", "ann", "B 2"], ["B 2", "Zoë", "ann"]),
        (["nan", "null", "NA"], ["NA", "nan", "null"]),
        (["2019-05-01", "true", "1"], ["1", "2019-05-01", "true"]),
    ],
)
def test_ids_are_kept_as_given(write, ids, kept):
    path = write("ids.csv", "user,item\n" + "".join(f"{user},x\n" for user in ids))
    rows = Table(path).load().interactions
    assert rows.user_ids.tolist() == kept
    assert rows.user_ids[rows.user].astype(str).tolist() == [user.strip() for user in ids]
    document = "".join(json.dumps({"user": user, "item": "x"}) + "\n" for user in ids)
    assert Table(write("ids.jsonl", document)).load().interactions.user_ids.tolist() == kept


def test_ids_of_files_that_differ_in_type_are_refused(write, tmp_path):
    parquet.write_table(pa.table({"user": [1], "item": [2]}), tmp_path / "a.parquet")
    text = write("b.csv", "user,item\nann,2\n")
    with pytest.raises(SchemaError, match="user ids are numbers in some files and text in others"):
        Table([str(tmp_path / "a.parquet"), text]).load()


def test_quotes_and_commas_in_unused_columns(write):
    text = 'title,userId,movieId\n"a, ""b"" c",1,2\n\n"d,e",3,4\n'
    rows = Table(write("quoted.csv", text)).load().interactions
    assert rows.user_ids[rows.user].tolist() == [1, 3]
    with pytest.raises(SchemaError, match=r"line 5: the user is missing"):
        Table(write("quoted.csv", text + "x,,5\n")).load()
    with pytest.raises(SchemaError, match=r"line 5: a quoted field goes over several lines"):
        Table(write("quoted.csv", text + '"f\ng",5,6\n')).load()


def test_quotes_may_be_ordinary_signs(write):
    rows = Table(write("inches.tsv", 'user\titem\n1\t"10\n2\t12"\n')).load().interactions
    assert rows.item_ids.tolist() == ['"10', '12"']


@pytest.mark.parametrize(
    ("unit", "first", "second"),
    [
        ("ms", "100000", "200999"),
        ("us", "100000000", "200000000"),
        ("ns", "100000000000", "200000000000"),
        ("date", "1970-01-01 00:01:40", "1970-01-01 00:03:20"),
        ("date", "1970-01-01T00:01:40Z", "1970-01-01T01:03:20+01:00"),
        ("date", "1970-01-01T00:01:40.750", "1970-01-01 00:03:20"),
    ],
)
def test_times_are_kept_in_seconds(write, unit, first, second):
    path = write("times.csv", f"user,item,time\n1,2,{first}\n1,2,{second}\n")
    assert Table(path, time_unit=unit).load().interactions.timestamp.tolist() == [100, 200]


BAD = {
    "text": ("1,2,abc,5", "line 4: the rating is not a finite number: 'abc'"),
    "empty rating": ("1,2,,5", "line 4: the rating is not a finite number: empty"),
    "huge": ("1,2,1e99,5", "line 4: the rating is not a finite number: '1e99'"),
    "no user": (",2,3,5", "line 4: the user is missing: empty"),
    "no item": ("1, ,3,5", "line 4: the item is missing: ' '"),
    "negative time": ("1,2,3,-5", "line 4: the time is not in 1970..2100, read in s: '-5'"),
    "text time": ("1,2,3,noon", "line 4: the time is not in 1970..2100, read in s: 'noon'"),
    "few columns": ("1,2,3", "line 4: the row does not have 4 columns: 3 columns"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_rows_are_refused_with_file_line_and_remedy_or_left_out_and_counted(write, progress, kind):
    row, message = BAD[kind]
    path = write("bad.csv", f"user,item,rating,time\n9,9,3,1\n\n{row}\n8,8,4,2\n")
    with pytest.raises(SchemaError) as caught:
        Table(path).load()
    assert f"{path}, {message}" in str(caught.value)
    assert "dataset.on_bad_rows=skip" in str(caught.value)
    if "time" in kind:
        assert "set dataset.time_unit" in str(caught.value)
    progress.notes.clear()
    dataset = Table(path, on_bad_rows="skip").load(progress)
    assert dataset.interactions.user_ids[dataset.interactions.user].tolist() == [9, 8]
    assert dataset.interactions.timestamp.tolist() == [1, 2]
    assert f"{path}: 1 of 3 rows left out: 1 because the " in progress.notes[0]
    assert "(first: line 4)" in progress.notes[0]
    assert dataset.provenance == "a table of the user's own, 1 bad row left out"


def test_bad_rows_of_json_lines(write):
    path = write("bad.jsonl", '{"user": 1, "item": 2}\n\n[1]\n{"user": null, "item": 3}\n{"user": 4\n')
    with pytest.raises(SchemaError, match=r"line 3: the line is no JSON object: \[1\] \(2 more bad rows\)"):
        Table(path).load()
    assert Table(path, on_bad_rows="skip").load().interactions.user_ids.tolist() == [1]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1 2 3\n", {}, r"cannot tell what separates.*dataset\.separator.*user_lines"),
        ("user,item\n1,2\n", {"user": "who"}, r"there is no column 'who' for the user\. The columns are"),
        ("user,item\n1,2\n", {"relevant_from": 3}, "there is no rating column"),
    ],
)
def test_files_that_cannot_be_read(write, text, options, message):
    with pytest.raises(SchemaError, match=message):
        Table(write("odd.csv", text), **options).load()


def test_archive_with_several_files_asks_which(make_zip):
    path = make_zip({"a.csv": CSV.encode(), "b.csv": CSV.encode()})
    with pytest.raises(SchemaError, match=r"dataset\.member must name one file .*; it has a\.csv, b\.csv"):
        Table(str(path)).load()
    with pytest.raises(SchemaError, match=r"got 'c\.csv'"):
        Table(str(path), member="c.csv").load()
    check_rows(Table(str(path), member="b.csv").load().interactions)


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)


@given(
    rows=st.lists(
        st.tuples(TEXT, TEXT, st.floats(-(2.0**100), 2.0**100, width=32), st.integers(0, 4_000_000_000)),
        min_size=1,
    ),
    separator=st.sampled_from([",", ";", "\t", "::"]),
)
def test_what_is_written_is_read(tmp_path_factory, rows, separator):
    path = tmp_path_factory.mktemp("table") / "rows.txt"
    quote = separator in (",", ";")

    def cell(value):
        return '"' + value.replace('"', '""') + '"' if quote else value.replace(":", "_").replace("\t", "_")

    text = separator.join(["user", "item", "rating", "time"]) + "\n"
    text += "".join(f"{separator.join([cell(u), cell(i), repr(r), str(t)])}\n" for u, i, r, t in rows)
    path.write_text(text, encoding="utf-8", newline="")
    found = Table(str(path), implausible="keep").load().interactions
    plain = (lambda value: value) if quote else (lambda value: value.replace(":", "_"))
    assert found.user_ids[found.user].astype(str).tolist() == [plain(row[0]) for row in rows]
    assert found.item_ids[found.item].astype(str).tolist() == [plain(row[1]) for row in rows]
    assert found.value.tolist() == [row[2] for row in rows]
    assert found.timestamp.tolist() == [row[3] for row in rows]


TITLED = [f'{row},{row % 7},{row % 5 + 1},"A title, of two parts"' for row in range(40)]


def written(tmp_path, rows, header="user,item,rating,title"):
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join([header, *rows, ""]))
    return str(path)


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ({5: '5,"900,3,'}, 7),  # to the next quote, in an id
        ({5: "5,5,3,x", 8: '8,"900,3,x', 20: '20,901",4,x'}, 10),  # the same, as a row of four columns
        ({5: '5,5,3,"never closed'}, 7),  # in a column that is not read
        ({5: '5,5,3,"never', 6: '6,6,3,closed"'}, 7),
        ({row: f"{row},1,3," + '"x' * (row == 5) for row in range(40)}, 7),  # to the end of the file
    ],
)
def test_a_quote_that_is_not_closed_is_refused_even_where_bad_rows_are_skipped(tmp_path, broken, line):
    path = written(tmp_path, [broken.get(row, text) for row, text in enumerate(TITLED)])
    with pytest.raises(SchemaError, match=rf"line {line}: a quoted field") as caught:
        Table(path, on_bad_rows="skip").load()
    is_plain = len(broken) == len(TITLED)  # no separator is in quotes
    assert getattr(caught.value, "answers", ()) == ("dataset.quotes=false",) * is_plain
