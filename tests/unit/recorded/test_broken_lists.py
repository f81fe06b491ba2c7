"""Lists as they come: whatever is odd is read as it was meant, counted, or refused with file and row."""

import gzip
from io import BytesIO

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from recgauge.data.interactions import Interactions
from recgauge.errors import DataError
from recgauge.recorded import ListSettings, read_recorded
from recgauge.recorded.known import read_known

HEAD = "user,item,rank,score\n"
GOOD = HEAD + "1,10,1,0.9\n1,9,2,0.5\n2,11,1,3\n2,10,2,2\n"
LISTS = {"1": ["10", "9"], "2": ["11", "10"]}
TRAIN = Interactions.from_ids([1, 2, 3], [11, 9, 10])
TREC = "1 Q0 10 1 0.9 svd\n1 Q0 9 2 0.5 svd\n2 Q0 11 1 3 svd\n2 Q0 10 2 2 svd\n"


def packed(**columns):
    file = BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def as_parquet(kind=int, score=(0.9, 0.5, 3.0, 2.0)):
    return packed(
        user=list(map(kind, [1, 1, 2, 2])), item=list(map(kind, [10, 9, 11, 10])), score=list(score)
    )


LONG = gzip.compress((HEAD + "".join(f"1,{i},{i + 1},{-i}\n" for i in range(9000))).encode())

# name of the file, its content
READ_AS_MEANT = {
    "text ids in parquet": ("a.parquet", as_parquet(str)),
    "number ids in parquet": ("a.parquet", as_parquet()),
    "lines end as on Windows": ("a.csv", GOOD.replace("\n", "\r\n")),
    "quoted cells": ("a.csv", GOOD.replace("1,10,", '"1","10",')),
    "trailing blanks": ("a.csv", GOOD.replace("\n", "  \n")),
    "blanks around cells": ("a.csv", GOOD.replace(",", " , ")),
    "brackets": ("a.csv", "user,items\n1,10 9\n2," + "[" * 100_000 + "11 10\n"),
    "a user in two places": ("a.csv", HEAD + "1,10,1,.9\n2,11,1,3\n1,9,2,.5\n2,10,2,2\n"),
    "semicolons": ("a.csv", GOOD.replace(",", ";")),
    "decimal comma": ("a.csv", GOOD.replace(",", ";").replace(".", ",")),
    "tabs in a .csv": ("a.csv", GOOD.replace(",", "\t")),
    "columns that nobody needs": ("a.csv", GOOD.replace("\n", ",x\n").replace("score,x", "score,title")),
    "columns in another order": ("a.csv", "score,rank,item,user\n.9,1,10,1\n.5,2,9,1\n3,1,11,2\n2,2,10,2\n"),
    "gzip without the ending": ("a.csv", gzip.compress(GOOD.encode())),
    "the ending of gzip without gzip": ("a.csv.gz", GOOD),
    "parquet called .csv": ("a.csv", as_parquet()),
    "JSON with ids of both types": (
        "a.jsonl",
        '{"user":1,"items":["10",9]}\n\n{"user":"2","items":[11,10]}\n',
    ),
}

# content, what is counted
COUNTED = {
    "unknown user": (GOOD + "77,10,1,1\n", {"unknown_users": 1}),
    "ties": (GOOD.replace("0.9", "0.5"), {"ties": 1}),
    "seen item": (GOOD.replace("1,9,", "1,11,"), {"seen_items": 1}),
    "empty list": ("user,items\n1,10 9\n2,\n", {"empty_lists": 1}),
    "text with accents": (GOOD + "é,10,1,1\n", {"unknown_users": 1}),
}

# name of the file, content, what the message says after the file's name
REFUSED = {
    "huge score in JSON": (
        "a.jsonl",
        '{"user":1,"item":10,"score":1}\n{"user":1,"item":9,"score":' + "9" * 400 + "}\n",
        "line 2: the score is not a finite number",
    ),
    "half a character": (
        "a.jsonl",
        '{"user":1,"item":10,"score":2}\n{"user":"\\ud800","item":9,"score":1}\n',
        "line 2: the line is no JSON object",
    ),
    "empty": ("a.csv", "", "is empty"),
    "blank lines only": ("a.csv", "\n \n", "is empty"),
    "header only": ("a.csv", HEAD, "has no rows"),
    "row repeated": ("a.csv", GOOD + "2,10,2,2\n", "line 6. duplicates: 1 "),
    "null in parquet": ("a.parquet", as_parquet(score=(1, None, 3, 2)), "row 2: the score is not a finite"),
    "negative rank": ("a.csv", GOOD.replace("10,1,", "10,-1,"), "line 2: the rank is no whole number from 0"),
    "half a rank": ("a.csv", GOOD.replace("10,1,", "10,1.5,"), "line 2: the rank is no whole number from 0"),
    "cut gzip": ("a.csv.gz", LONG[:-200], "cannot be read or unpacked"),
    "cut parquet": ("a.parquet", as_parquet()[:-30], "cannot be read as parquet"),
    "no delimiter": ("a.csv", GOOD.replace(",", "#"), "line 1: 'user#item#rank#score' is a single column"),
    "a web page": ("a.csv", "<html>\n404\n", "line 1: '<html>' is a single column"),
    "another delimiter in a row": ("a.csv", GOOD.replace("2,11,1,3", "2;11;1;3"), "line 4: the row does not"),
    "no item column": ("a.csv", "user,rank\n1,1\n", "no column is known as the item"),
    "no rank and no score": ("a.csv", "user,item\n1,10\n", "no column is known as the rank or score"),
    "two user columns": ("a.csv", "user,userId,item,score\n1,2,10,1\n", "several columns could be the user"),
    "open quote": ("a.csv", GOOD.replace("2,11", '2,"11'), "line 4: a quoted field that begins here"),
    "a header inside": ("a.csv", GOOD + HEAD, "line 6: the rank is not a finite number"),
    "TREC with 5 columns": ("a.run", TREC.replace(" svd", ""), "line 1: the row does not have 6 columns"),
    "other users' ids": ("a.csv", HEAD + "u1,10,1,.9\n", "line 2: none of the 1 users of the lists is known"),
    "ids with a point": ("a.csv", HEAD + "1.0,10.0,1,.9\n", "'1.0'; a known one is '1'"),
    "fractions for ids": ("a.parquet", as_parquet(float), "the user has the type double"),
    "UTF-16": ("a.csv", GOOD.encode("utf-16"), "line 1 is not utf-8 text"),
    "Latin-1": ("a.csv", (GOOD + "caf\xe9,10,1,1\n").encode("latin-1"), "line 6 is not utf-8 text"),
    "lines end in carriage returns": ("a.csv", GOOD.replace("\n", "\r"), "write them again with line feeds"),
    "NUL": ("a.csv", GOOD + "3,a\0b,1,1\n", "line 6: the item holds a NUL"),
    "JSON cut in a line": (
        "a.jsonl",
        '{"user":1,"items":[9]}\n{"user":2,"it\n',
        "line 2: the line is no JSON",
    ),
    "other numbers of scores": (
        "a.jsonl",
        '{"user":1,"items":[10,9],"scores":[1]}\n',
        "line 1: 2 items and 1 scores",
    ),
}
# in a run these are refused, because the data set has no code for the item
UNKNOWN_ITEMS = {
    "unknown item": GOOD + "3,999,1,1\n",
    "ids of both types": GOOD + "3,x9,1,1\n",
    "one id with a point": GOOD + "3,10.0,1,1\n",
    "id of 23 digits": GOOD + "3,99999999999999999999999,1,1\n",
    "leading zero": GOOD + "3,010,1,1\n",
}


def by_evaluate(folder, path, **settings):
    (folder / "test.csv").write_text("user,item\n1,9\n2,10\n3,11\n")
    (folder / "train.csv").write_text("user,item\n1,11\n2,9\n3,10\n")
    recorded = read_recorded(
        [str(path)],
        [str(folder / "test.csv")],
        [str(folder / "train.csv")],
        settings=ListSettings(**settings),
    )
    (run,) = recorded.runs
    items = np.split(recorded.item_ids[run.lists.items], np.cumsum(run.lists.lengths)[:-1])
    lists = {str(user): list(map(str, some)) for user, some in zip(run.lists.users, items, strict=True)}
    return lists, {one.name: one.count for one in run.found if one.name != "users_without_list"}


def by_model(folder, path, **settings):
    found = read_known(str(path), TRAIN, ListSettings(in_run=True, **settings))
    items = np.split(TRAIN.item_ids[found.items], found.start[1:-1])
    lists = {str(user): list(map(str, some)) for user, some in zip(TRAIN.user_ids, items, strict=True)}
    return {user: some for user, some in lists.items() if some}, {one.name: one.count for one in found.found}


@pytest.fixture(params=[by_evaluate, by_model])
def read(request, tmp_path):
    def read(content, name="a.csv", **settings):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return request.param(tmp_path, path, **settings)

    return read


@pytest.mark.parametrize("case", READ_AS_MEANT)
def test_read_as_meant(read, case):
    name, content = READ_AS_MEANT[case]
    assert read(content, name) == (LISTS, {})


@pytest.mark.parametrize("case", COUNTED)
def test_counted_and_refused_on_demand(read, case):
    content, counts = COUNTED[case]
    assert read(content)[1] == counts
    (name,) = counts
    with pytest.raises(DataError, match=rf"a\.csv.*{name}: 1 "):
        read(content, refuse=[name])


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_line_with_file_and_row(read, case):
    name, content, said = REFUSED[case]
    with pytest.raises(DataError) as caught:
        read(content, name)
    message = str(caught.value)
    assert said in message
    assert f"/{name}" in message
    assert "\n" not in message


@pytest.mark.parametrize("case", UNKNOWN_ITEMS)
def test_items_that_nobody_knows_are_counted_or_refused(read, case):
    lists, counts = read(UNKNOWN_ITEMS[case])
    assert counts == {"unknown_items": 1}
    assert {user: lists[user] for user in LISTS} == LISTS
    with pytest.raises(DataError, match=r"a\.csv, line 6\. unknown_items: 1 "):
        read(UNKNOWN_ITEMS[case], refuse=["unknown_items"])
