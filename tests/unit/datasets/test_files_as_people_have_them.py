"""Files as people have them are read rightly at first try, or refused in one message that names all."""

import gzip
import io
import zipfile

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.cli.commands.cli import main
from recgauge.datasets.table import Table
from recgauge.errors import SchemaError

NOON = 1_704_193_445  # 2024-01-02 11:04:05 UTC
FRAME = pd.DataFrame(
    {
        "customer_id": ["c7", "c7", "c9"],
        "sku": ["A-1", "B-2", "A-1"],
        "stars": [4.5, 3.0, 5.0],
        "created_at": pd.to_datetime([NOON, NOON + 60, NOON + 120], unit="s"),
    }
)
ROWS = [("c7", "A-1", 4.5, NOON), ("c7", "B-2", 3.0, NOON + 60), ("c9", "A-1", 5.0, NOON + 120)]


def without(rows, *what):
    return [(u, i, 1.0 if "rating" in what else r, None if "time" in what else t) for u, i, r, t in rows]


def zipped(name, text):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return packed.getvalue()


MOVIES = [(1, 31, 2.5, 1_260_759_144), (1, 1029, 3.0, 1_260_759_179), (2, 31, 4.0, 1_260_759_182)]


def text(row, header="", rows=MOVIES, end="\n"):
    """Write rows as a template has it, with user, item, rating, time in seconds and the moment it is."""
    lines = [row.format(u=u, i=i, r=r, t=t, moment=pd.Timestamp(t, unit="s")) for u, i, r, t in rows]
    return end.join([*([header] if header else []), *lines, ""])


ZONED = FRAME.assign(created_at=FRAME["created_at"].dt.tz_localize("UTC"))
FRACTIONS = FRAME.assign(created_at=FRAME["created_at"] + pd.Timedelta("250ms"))
COMMAS = [(u, i, str(r).replace(".", ","), t) for u, i, r, t in ROWS]
EXCEL = text("{u};{i};{r};{moment}", "Customer ID;Product ID;Rating;Date", COMMAS, "\r\n")
VISITS = [(257597, 355908, 1.0, NOON), (992329, 248676, 1.0, NOON + 60)]
REVIEW = (
    '{{"reviewerID": "A{u}", "asin": "B{i}", "reviewText": "so, so", "overall": {r}, "unixReviewTime": {t}, '
    '"reviewTime": "09 13, 2009"}}'
)
ORDERS = '"order_id","CUSTOMER_NO","article_no","qty","ordered_at"'
VIEWS = "timestamp,visitorid,event,itemid,transactionid"
TYPED = "user_id:token\titem_id:token\trating:float\ttimestamp:float"
MUSIC = [
    ("user_000001", "2009-05-04T23:08:57Z", "f1b1cf71", "A band", "", "Its song"),
    ("user_000001", "2009-05-04T13:54:10Z", "a7f7df4a", "Another", "", "Its other song"),
]

READ = {
    "pandas with its index": ("shop.csv", FRAME.to_csv(), ROWS),
    "pandas, tabs, quoted": ("shop.tsv", FRAME.to_csv(index=False, sep="\t", quoting=1), ROWS),
    "pandas, times with a zone": ("shop.csv", ZONED.to_csv(index=False), ROWS),
    "pandas, times with fractions": ("shop.csv", FRACTIONS.to_csv(index=False), ROWS),
    "Excel in Europe": ("Mappe1.csv", "\ufeff" + EXCEL, ROWS),
    "Excel that says its separator": ("Mappe1.csv", "sep=;\r\n" + EXCEL, ROWS),
    "Excel with empty rows at the end": ("Mappe1.csv", EXCEL + ";;;\r\n;;;\r\n", ROWS),
    "a shop's database": (
        "orders.csv",
        text('"9{t}","{u}","{i}","1","{moment}+00"', ORDERS, ROWS),
        without(ROWS, "rating"),
    ),
    "retailrocket": ("events.csv", text("{t}137,{u},view,{i},", VIEWS, VISITS), VISITS),
    "Amazon's ratings": (
        "ratings_Books.csv",
        text("A{u}H2L9G3DQHHAJ,000000{i},{r},{t}"),
        [(f"A{u}H2L9G3DQHHAJ", f"000000{i}", r, t) for u, i, r, t in MOVIES],
    ),
    "Amazon's reviews": (
        "reviews.json.gz",
        gzip.compress(text(REVIEW).encode()),
        [(f"A{u}", f"B{i}", r, t) for u, i, r, t in MOVIES],
    ),
    "Book-Crossing": (
        "BX-Book-Ratings.csv",
        text('"{u}";"{i}X";"{r:g}"', '"User-ID";"ISBN";"Book-Rating"'),
        [(u, f"{i}X", r, None) for u, i, r, _ in MOVIES],
    ),
    "LastFM of HetRec": (
        "user_artists.dat",
        text("{u}\t{i}\t{t}", "userID\tartistID\tweight"),
        without(MOVIES, "rating", "time"),
    ),
    "pairs of numbers without a header": ("pairs.csv", text("{u},{i}"), without(MOVIES, "rating", "time")),
    "a time in the third column": ("log.csv", text("{u},{i},{t}"), without(MOVIES, "rating")),
    "one item 0 in all rows": (
        "u.data",
        text("{u}\t0\t{r:g}\t{t}", rows=MOVIES[1:]),
        [(u, 0, r, t) for u, _, r, t in MOVIES[1:]],
    ),
    "words without a header that repeat": (
        "pairs.csv",
        "ann,tea\nann,milk\nbob,tea\n",
        [("ann", "tea", 1.0, None), ("ann", "milk", 1.0, None), ("bob", "tea", 1.0, None)],
    ),
}

REFUSED = {
    "two unknown names over words": ("shop.csv", "wer;was\nann;tea\nbob;milk\n", ["dataset.header=false"]),
    "unknown names over numbers": ("shop.csv", "usr_key,thing,stars\n1,2,3\n", ["user", "item"]),
    "one name known": ("shop.csv", "customer_id;what\nu1;i1\nu2;i2\n", ["item"]),
    "pandas without names": ("shop.csv", pd.DataFrame([[5, 7], [5, 9]]).to_csv(index=False), ["header"]),
    "two items": ("shop.csv", "user_id,artist_id,track_id\n1,2,3\n", ["item"]),
    "Steam": (
        "steam-200k.csv",
        '151603712,"The Elder Scrolls V Skyrim",purchase,1.0,0\n151603712,"Fallout 4",play,87.0,0\n',
        ["column 2 is no rating: 'purchase'", "dataset.rating=COLUMN dataset.time=COLUMN (false for none)"],
    ),
    "LastFM's listenings": ("lastfm.tsv", "\n".join("\t".join(row) for row in MUSIC), ["rating"]),
    "dates of another country": ("shop.csv", "user,item,date\n1,2,31.12.2024\n", ["time_unit", "time=false"]),
}


def rows_of(table):
    rows = table.load().interactions
    times = [None] * len(rows) if rows.timestamp is None else rows.timestamp.tolist()
    columns = rows.user_ids[rows.user].tolist(), rows.item_ids[rows.item].tolist(), rows.value.tolist(), times
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("case", READ)
def test_read_rightly_at_first_try(write, case):
    name, content, rows = READ[case]
    assert rows_of(Table(write(name, content))) == rows


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_message_that_names_all(write, case):
    name, content, named = REFUSED[case]
    with pytest.raises(SchemaError) as refused:
        Table(write(name, content)).load()
    message = str(refused.value)
    assert "\n" not in message
    assert name in message
    assert all(word in message for word in named), message
    if named == ["user", "item"]:
        assert "recgauge run dataset=table dataset.path=" in message
        assert "dataset.user=COLUMN dataset.item=COLUMN" in message


def test_what_is_said_is_taken(write):
    words = write("shop.csv", "wer;was\nann;tea\nbob;milk\n")
    assert [row[0] for row in rows_of(Table(words, user="wer", item="was"))] == ["ann", "bob"]
    assert [row[0] for row in rows_of(Table(words, header=False))] == ["wer", "ann", "bob"]
    with pytest.raises(SchemaError, match=r"dataset\.user=COLUMN dataset\.item=COLUMN"):
        Table(words, header=True).load()


def test_how_a_file_was_read_is_said_in_one_line(write, progress):
    Table(write("shop.csv", FRAME.drop(columns="stars").to_csv(index=False, sep=";"))).load(progress)
    line = "shop.csv: header; user=customer_id, item=sku, no rating, time=created_at (ISO), separator ';'."
    assert line in progress.notes


def test_evaluate_takes_files_as_people_have_them(write, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write("recs.csv", "Customer ID;SKU;place;wert\nc7;A-1;1;0,9\nc7;B-2;2;0,4\nc9;A-1;1;0,7\n")
    write("truth.csv", "customer_id,sku\nc7,B-2\nc9,A-1\n")
    write("odd.csv", "client_key;sku\nc7;B-2\nc9;A-1\n")
    words = ["evaluate", "--run", "recs.csv", "--metrics", "ndcg@2"]
    assert main([*words, "--truth", "truth.csv"]) == 1
    assert "--rank COLUMN" in capsys.readouterr().err
    assert main([*words, "--truth", "truth.csv", "--rank", "place"]) == 0
    said = capsys.readouterr().out
    assert "recs.csv: header; user=Customer ID, item=SKU, rank=place, separator ';'" in said
    assert "truth.csv: header; user=customer_id, item=sku, separator ','" in said
    assert "2 lists, 2 users evaluated" in said
    assert main([*words, "--truth", "odd.csv", "--score", "wert"]) == 1
    assert "odd.csv: no column is known as the user" in capsys.readouterr().err
    assert main([*words, "--truth", "odd.csv", "--score", "wert", "--user", "client_key"]) == 0
    capsys.readouterr()
    assert main([*words, "--truth", "truth.csv", "--rank", "place", "--user", "custmer"]) == 1
    assert "--user 'custmer': no file has such a column" in capsys.readouterr().err
    write("words.csv", "user,item,rank\nann,tea,1\n")
    write("bare.csv", "ann;tea\nbob;milk\n")
    words = ["evaluate", "--run", "words.csv", "--truth", "bare.csv"]
    assert main(words) == 1
    assert "If it is a row, say --header false" in capsys.readouterr().err
    assert main([*words, "--header", "false"]) == 0
    assert "bare.csv: no header; user=column 0, item=column 1" in capsys.readouterr().out


NAME = st.text("abcdefgh", min_size=1, max_size=6).map("{}_key".format)
ID = st.one_of(st.integers(0, 99).map(str), st.integers(0, 99).map("u{}".format), st.text("abc", min_size=1))


@given(
    names=st.lists(NAME, min_size=2, max_size=4, unique=True),
    rows=st.lists(st.tuples(ID, ID), min_size=1, max_size=9),
    separator=st.sampled_from([",", ";", "\t", "|", "::"]),
)
def test_whatever_a_header_says_it_is_no_user(tmp_path_factory, names, rows, separator):
    path = tmp_path_factory.mktemp("any") / "any.csv"
    more = ["4"] * (len(names) - 2)
    path.write_text("".join(separator.join(row) + "\n" for row in [names, *([*row, *more] for row in rows)]))
    with pytest.raises(SchemaError, match=r"any\.csv"):
        Table(str(path)).load()
