"""Recorded lists: every usual format reads the same; what is odd is counted, or refused with its row."""

import gzip
import io
import json
import re
import shlex

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from recgauge import evaluate
from recgauge.errors import DataError
from recgauge.files.columns import CellFormat
from recgauge.recorded import read_recorded
from recgauge.recorded.findings import ListSettings, describe

LISTS = {1: [("10", 0.9), ("9", 0.5)], 2: [("11", 3.0), ("10", 2.0)]}
ROWS = [
    (user, item, rank, score) for user, some in LISTS.items() for rank, (item, score) in enumerate(some, 1)
]
TRUTH = "user,item\n1,9\n2,10\n3,11\n"


def text_of(rows=ROWS, header="user,item,rank,score", sign=",", end="\n"):
    lines = [header.replace(",", sign)] if header else []
    return end.join([*lines, *(sign.join(map(str, row)) for row in rows)]) + end


def trec(rows=ROWS, tag="svd"):
    return "".join(f"{u} Q0 {i} {r} {s} {tag}\n" for u, i, r, s in rows)


@pytest.fixture
def read(tmp_path):
    """Write the files and read them."""

    def read(content, name="svd.csv", truth=TRUTH, train=None, columns=None, cells=None, **chosen):
        run = tmp_path / name
        run.write_bytes(content if isinstance(content, bytes) else content.encode())
        (tmp_path / "test.csv").write_text(truth)
        trains = []
        if train is not None:
            (tmp_path / "train.csv").write_text(train)
            trains = [str(tmp_path / "train.csv")]
        return read_recorded(
            [str(run)],
            [str(tmp_path / "test.csv")],
            trains,
            settings=ListSettings(**chosen),
            columns=columns,
            cells=cells,
        )

    return read


def lists_of(recorded, which=0):
    lists = recorded.runs[which].lists
    items = np.split(recorded.item_ids[lists.items], np.cumsum(lists.lengths)[:-1])
    return {str(user): [str(item) for item in some] for user, some in zip(lists.users, items, strict=True)}


def counts(recorded, which=0):
    return {one.name: one.count for one in recorded.runs[which].findings}


SAME = {"1": ["10", "9"], "2": ["11", "10"]}
JSON_ROWS = [dict(zip(("user", "item", "rank", "score"), row, strict=True)) for row in ROWS]
PER_USER = [{"user": u, "items": [i for i, _ in some]} for u, some in LISTS.items()]


def as_parquet(path, table):
    parquet.write_table(pa.Table.from_pylist(table), path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", text_of()),
        ("a.csv", text_of(sign=";")),
        ("a.csv", text_of(header="userId,movieId,rank,prediction")),
        ("a.csv", text_of().replace("\n", ",x\n").replace("score,x", "score,title")),
        ("a.csv", gzip.compress(text_of().encode(), mtime=0)),
        ("a.csv", text_of(rows=[(u, i, r - 1, s) for u, i, r, s in ROWS])),
        ("a.csv", text_of(rows=[(u, i, r) for u, i, r, _ in ROWS], header="user,item,rank")),
        ("a.csv", "user,items\n1,10 9\n2,11 10\n"),
        ("a.csv", 'user,items\n1,"[10, 9]"\n2,"[11, 10]"\n'),
        ("a.csv", "user,items\n1,\"['10', '9']\"\n2,\"['11', '10']\"\n"),
        ("a.csv", 'user,items\n1,"[np.int64(10), np.int64(9)]"\n2,"[np.int64(11), np.int64(10)]"\n'),
        ("a.csv", "user,items,popular\n1,10|9,no\n2,11|10,no\n"),
        ("a.json", '{"user": 1, "items": [10, 9]}\n{"user": 2, "items": ["11", "10"]}'),
        ("a.jsonl", "\n".join(map(json.dumps, JSON_ROWS))),
        ("a.jsonl", "\n".join(map(json.dumps, PER_USER))),
        ("a.run", trec()),
        ("a.txt", trec().replace(" ", "\t  ")),
    ],
)
def test_formats_read_the_same(read, name, content):
    found = read(content, name)
    assert lists_of(found) == SAME
    assert counts(found) == {"users_without_list": 1}


STRUCTS = [
    {"user": u, "recommendations": [{"item": int(i), "rating": s} for i, s in some]}
    for u, some in LISTS.items()
]
SESSIONS = "session,labels\n1,10 9\n2,11 10\n"


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        (SESSIONS, {"user": "session", "items": "labels"}),
        ("user_id,prediction\n1,10 9\n2,11 10\n", {"items": "prediction"}),
        ("1,10 9\n2,11 10\n", {"user": 0, "items": 1}),
    ],
)
def test_a_column_of_lists_of_any_name_is_read_when_it_is_named(read, content, columns):
    with pytest.raises(DataError, match="--items COLUMN"):
        read(content)
    assert lists_of(read(content, columns=columns)) == SAME


TITLES = {
    "the matrix": ["Matrix, The", "Alien"],
    "one each": ["Crouching Tiger, Hidden Dragon"],
    "apostrophes": ["Ocean's Eleven", "What's Up, Doc?"],
}


@pytest.mark.parametrize("items", TITLES.values(), ids=TITLES)
def test_titles_in_lists_are_read_whole_or_refused(read, items):
    truth = "user,item\n" + "".join(f'1,"{item}"\n' for item in items)
    for cell in (
        json.dumps(items).replace('"', '""'),
        str(items).replace('"', '""'),
        "|".join([*items, "x"]),
    ):
        found = read(f'user,items\n1,"{cell}"\n', truth=truth)
        assert lists_of(found)["1"][: len(items)] == items
    for cell in (", ".join(items), " ".join(item.replace(",", "") for item in items)):
        with pytest.raises(DataError, match="nobody can tell where its items"):
            read(f'user,items\n1,"{cell}"\n2,"Heat"\n', truth=truth)


@pytest.mark.parametrize(
    "cell",
    [
        "['a' 'b']",
        "array([1, 2])",
        "[10, 9",
        "{10, 9}",
        "[[10], [9]]",
        "<Recs 10 9>[2]",
        "10:0.9 9:0.8",
        "{10: 0.9, 9: 0.2}",
        "[(10, 0.9), (9, 0.2)]",
    ],
)
def test_a_list_that_is_none_is_refused_with_its_cell(read, cell):
    with pytest.raises(DataError, match=r"svd\.csv, line 2: .*"):
        read(f'user,items\n1,"{cell}"\n2,"[11, 10]"\n')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("user,rec_1,rec_2\n1,10,9\n2,11,10\n", "one row per item, or one list per cell"),
        ("user,items,score\n1,10 9,0.5\n2,11 10,0.5\n", "'score' stands beside lists"),
        ('user,items,scores\n1,10 9,"[2, 1]"\n2,11 10,"[2, 1]"\n', "'scores' stands beside lists"),
    ],
)
def test_lists_in_several_columns_are_refused(read, content, message):
    with pytest.raises(DataError, match=message):
        read(content)
    with pytest.raises(DataError, match="stands beside lists"):  # grades that would be lost
        read(text_of(), truth='user,items,scores\n1,10 9,"[0, 1]"\n2,11 10,"[0, 1]"\n')


def test_runs_in_one_file_are_never_mixed(read):
    content = "Algorithm,user,item,score\nA,1,10,3\nA,1,9,2\nA,2,11,3\nA,2,10,2\nB,1,9,9\nB,2,10,9\n"
    with pytest.raises(DataError, match=r"--tag Algorithm.*--unused Algorithm"):
        read(content)
    found = read(content, columns={"tag": "Algorithm"})
    assert [run.name for run in found.runs] == ["A", "B"]
    assert lists_of(found) == SAME
    assert lists_of(found, 1) == {"1": ["9"], "2": ["10"]}
    same = read(content.replace("B,", "A,").replace("A,1,9,9\nA,2,10,9\n", ""))  # one value says nothing
    assert lists_of(same) == SAME


def test_a_label_beside_ratings_is_asked_for_and_alone_is_the_grade(read):
    truth = "user,item,stars,label\n1,9,5,0\n2,11,4,1\n"
    with pytest.raises(DataError, match="--unused label"):
        read(text_of(), truth=truth)
    unused = CellFormat(unused=("label",))
    assert read(text_of(), truth=truth, cells=unused).relevant.values.tolist() == [5, 4]
    assert read(text_of(), truth=truth.replace("stars", "price")).relevant.values.tolist() == [0, 1]


def test_lists_as_the_truth_are_asked_for(read):
    unused, grade = {"cells": CellFormat(unused=("rank",))}, {"columns": {"rating": "score"}}
    for run, column, answer in ("user,item\n1,9\n", "rank", unused), (text_of(), "score", grade):
        truth = f"user,item,{column}\n1,9,1\n2,11,2\n"
        with pytest.raises(DataError, match=f"exchange .* {column}"):
            read(run, truth=truth)
        assert len(read(text_of(), truth=truth, **answer).relevant.items) == 2
        with pytest.raises(DataError, match=f"exchange recommendations and relevant;.*frame.*'{column}'"):
            evaluate({"1": ["9"]}, csv.read_csv(io.BytesIO(truth.encode())))


def test_a_mark_in_some_rows_is_asked_for(read):
    for column, mark in (("clicked", "1"), ("is new", "yes"), ("event", "buy")):
        with pytest.raises(DataError, match=f"the column '{column}'.*'{mark}' or nothing"):
            read(text_of(), truth=f"user,item,{column}\n1,9,{mark}\n2,11,{mark}\n2,12,\n")


def test_padding_is_no_item(read):
    content = "user,item,rank\n1,10,1\n1,9,2\n2,11,1\n2,10,2\n1,-1,3\n2,-1,3\n"
    with pytest.raises(DataError, match=r"'-1'.*--missing=-1"):
        read(content)
    assert lists_of(read(content, cells=CellFormat(missing=("-1",)))) == SAME
    with pytest.raises(DataError, match="--missing=-1"):
        read('user,items\n1,"[10, 9, -1]"\n2,"[11, 10, -1]"\n')
    with pytest.raises(DataError, match=r"'-1'.*--missing=-1"):  # among texts, too
        read("user,item,rank\n1,x,1\n2,y,1\n1,-1,2\n2,-1,2\n", truth="user,item\n1,x\n2,y\n")


def test_items_between_two_signs_are_asked_for(read):
    truth = "user,item\n1,x\n2,y\n"
    for content in ("1,x;y\n2,y|z\n", "1,x;y\n2,y\n", '1,"x,y"\n2,y\n'):
        with pytest.raises(DataError, match=r"line 2: the list 'x.y': nobody can tell where its items"):
            read(f"user,items\n{content}", truth=truth)
    found = read('user,items\n1,x|z\n2,y\n3,"b, c"\n', truth=truth)
    assert lists_of(found) == {"1": ["x", "z"], "2": ["y"], "3": ["b, c"]}


@pytest.mark.parametrize("content", ['{"1": [10, 9]}', '{"1": {"10": 0.9}}\n', '{\n "1": [\n  10\n ]\n}'])
def test_json_of_users_is_refused(read, content):
    with pytest.raises(DataError, match=r"a JSON object|no column is known as the user"):
        read(content, "a.json")


FLAGS = {
    "event_type": ["view", "buy"],
    "action": ["skip", "click"],
    "vote": ["no", "up"],
    "set": ["train", "test"],
}


@pytest.mark.parametrize("column", ["clicked", "Label_2", *FLAGS])
def test_what_may_say_which_rows_of_the_truth_count_is_asked_for(read, column):
    flags = FLAGS.get(column, [0, 1])
    truth = f"user,item,{column}\n1,9,{flags[1]}\n2,11,{flags[1]}\n2,12,{flags[0]}\n"
    with pytest.raises(DataError, match=f"test.csv: the column '{column}'.*--unused {column}"):
        read(text_of(), truth=truth)
    assert len(read(text_of(), truth=truth, cells=CellFormat(unused=(column,))).relevant.items) == 3
    if column not in FLAGS:
        assert read(text_of(), truth=truth, columns={"rating": column}).relevant.values.tolist() == [1, 1, 0]


@pytest.mark.parametrize("rows", [JSON_ROWS, PER_USER, STRUCTS])
def test_parquet_reads_the_same(read, tmp_path, rows):
    found = read(as_parquet(tmp_path / "x", rows), "a.parquet")
    assert lists_of(found) == SAME


def test_ids_as_numbers_match_ids_as_text(read, tmp_path):
    numbers = [row | {"item": int(row["item"])} for row in JSON_ROWS]
    found = read(as_parquet(tmp_path / "x", numbers), "a.parquet", truth="user,item\n1,9\n2,x\n3,11\n")
    assert counts(found) == {"users_without_list": 1}
    assert lists_of(found) == SAME
    assert set(found.item_ids[found.relevant.items]) == {"9", "x", "11"}


HEAD = "user,item,rank,score\n"
REFUSED = {
    "scores that contradict ranks": (HEAD + "1,10,1,1\n1,9,2,2\n", "line 3", "contradictions"),
    "infinite score": (HEAD + "1,10,1,inf\n", "line 2: the score is not a finite number", "bad_rows"),
    "a column more": (HEAD + "1,10,1,3\n1,9,2,1,7\n", "line 3: the row does not have 4 columns", "bad_rows"),
    "one rank twice": (HEAD + "1,10,1,3\n1,9,1,2\n", "line 3", "equal_ranks"),
    "a rank left out": (HEAD + "1,10,1,3\n1,9,3,2\n", "line 3", "rank_gaps"),
}


UNREADABLE = {
    "huge score in JSON": (
        "a.jsonl",
        '{"user":1,"item":10,"score":1}\n{"user":1,"item":9,"score":' + "9" * 400 + "}\n",
        "the column 'score' has cells of several types, or larger than 64 bits",
    ),
    "header only": ("a.csv", HEAD, "has no rows"),
    "a header inside": ("a.csv", text_of() + HEAD, "line 6: the row names the columns again"),
    "TREC with 5 columns": ("a.run", trec().replace(" svd", ""), "line 1: the row does not have 6 columns"),
    "other users' ids": ("a.csv", HEAD + "u1,10,1,.9\n", "users: 0 in both, of 1 in the lists"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_are_no_lists_is_refused_in_one_line_with_file_and_row(read, case):
    name, content, said = UNREADABLE[case]
    with pytest.raises(DataError) as caught:
        read(content, name)
    message = str(caught.value)
    assert said in message
    assert f"/{name}" in message
    assert "\n" not in message


@pytest.mark.parametrize("item", ["999", "x9", "99999999999999999999999", "010"])
def test_items_that_nobody_knows_are_counted_or_refused(read, item):
    content, train = text_of([*ROWS, (3, item, 1, 1.0)]), "user,item\n5,9\n"
    assert counts(read(content, train=train))["unknown_items"] == 1
    with pytest.raises(DataError, match=r"svd\.csv, line 6\. unknown_items: 1 "):
        read(content, train=train, refuse=["unknown_items"])


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_a_list_doubtful_is_refused_with_its_row_and_kept_on_demand(read, case):
    content, where, name = REFUSED[case]
    with pytest.raises(DataError, match=rf"svd\.csv, {where}.*{name}: 1 .*--keep {name}"):
        read(content)
    found = read(content, keep=[name])
    assert counts(found)[name] == 1
    assert any(line.startswith(f"{name} 1: ") for line in describe(found.runs[0].findings))


def test_what_becomes_of_what_is_kept(read):
    against = read(HEAD + "1,10,1,1\n1,9,2,2\n", keep=["contradictions"])
    assert lists_of(against) == {"1": ["10", "9"]}
    assert against.runs[0].lists.values is None
    by_score = read(HEAD + "1,10,1,1\n1,9,2,2\n", keep=["contradictions"], order="score")
    assert lists_of(by_score) == {"1": ["9", "10"]}
    without = read(HEAD + "1,10,1,3\n1,9,2,nan\n", keep=["bad_rows"])
    assert lists_of(without) == {"1": ["10"]}


COUNTED = {
    "unknown user": (text_of([*ROWS, (7, "9", 1, 1.0)]), "unknown_users", {"truth": TRUTH}),
    "user without list": (text_of(), "users_without_list", {}),
    "repeated item": (HEAD + "1,10,1,3\n1,10,2,2\n", "repeats", {}),
    "seen item": (text_of(), "seen_items", {"train": "user,item\n1,10\n"}),
    "short list": (text_of([*ROWS, (3, "9", 1, 1.0)]), "short_lists", {"longest": 2}),
    "tie": (HEAD + "1,10,1,2\n1,9,2,2\n", "ties", {}),
}


@pytest.mark.parametrize("case", COUNTED)
def test_what_can_be_right_is_counted_and_refused_on_demand(read, case):
    content, name, more = COUNTED[case]
    found = read(content, **more)
    assert counts(found)[name] == 1
    with pytest.raises(DataError, match=f"{name}: 1 "):
        read(content, refuse=[name], **more)


def test_runs_are_named_by_their_file_or_by_their_tag(read, tmp_path):
    found = read(trec() + trec(tag="pop"), "both.run")
    assert [run.name for run in found.runs] == ["svd", "pop"]
    assert lists_of(found, 0) == lists_of(found, 1) == SAME
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text(text_of())
    found = read_recorded(
        [str(tmp_path / "*o*e.csv"), str(tmp_path / "two.csv")], [str(tmp_path / "test.csv")]
    )
    assert [run.name for run in found.runs] == ["one", "two"]


@pytest.mark.parametrize(
    ("order", "expected"), [("rank", SAME), ("score", {"1": ["9", "10"], "2": ["10", "11"]})]
)
def test_lists_without_a_header_need_their_columns(read, order, expected):
    content = text_of(rows=[(u, i, r) for u, i, r, _ in ROWS], header="")
    with pytest.raises(DataError, match=r"--user 0 --item 1 --rank COLUMN.*'1,10,1'"):
        read(content)
    assert lists_of(read(content, columns={"user": 0, "item": 1, order: 2})) == expected


@pytest.mark.parametrize("columns", [{}, {"user": 0, "item": 1}])
def test_rows_in_order_get_ranks_as_the_refusal_says(read, tmp_path, columns):
    pairs, header = [(u, i) for u, i, *_ in ROWS], "" if columns else "user,item"
    with pytest.raises(DataError) as refused:
        read(text_of(rows=pairs, header=header), columns=columns)
    exec(shlex.split(re.search("python -c '[^']*'", str(refused.value))[0])[2])
    assert lists_of(read((tmp_path / "svd_new.csv").read_text())) == SAME


def test_trec_runs_are_ordered_by_score_and_ids_are_text(read):
    rows = [(1, "10", 1, 0.5), (1, "9", 2, 0.5), (1, "11", 3, 0.7)]
    with pytest.raises(DataError, match=r"a\.run, line 3.*contradictions"):
        read(trec(rows), "a.run")
    found = read(trec(rows), "a.run", keep=["contradictions"])
    assert lists_of(found) == {"1": ["11", "10", "9"]}
    assert found.item_ids.tolist() == ["10", "11", "9"]


def test_grades_win_over_the_ratings_that_they_come_from(read):
    truth = "user,item,grade,rating\n1,9,0,2\n2,10,1,5\n3,11,1,4\n"
    assert read(text_of(), truth=truth).relevant.values.tolist() == [0, 1, 1]
