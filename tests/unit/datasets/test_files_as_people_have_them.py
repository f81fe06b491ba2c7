"""Files as people have them are read rightly at first try, or refused in one message that names all."""

import bz2
import gzip
import io
import lzma
import pickle
import re
import shlex
import tarfile
import zipfile

import pandas as pd
import pytest

from recgauge.cli.commands.cli import main
from recgauge.datasets.table import Table
from recgauge.errors import QuestionError, SchemaError

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
COMMAS = [(u, i, str(r).replace(".", ","), t) for u, i, r, t in ROWS]
EXCEL = text("{u};{i};{r};{moment}", "Customer ID;Product ID;Rating;Date", COMMAS, "\r\n")
VISITS = [(257597, 355908, 1.0, NOON), (992329, 248676, 1.0, NOON + 60)]
REVIEW = (
    '{{"reviewerID": "A{u}", "asin": "B{i}", "reviewText": "so, so", "overall": {r}, "unixReviewTime": {t}, '
    '"reviewTime": "09 13, 2009"}}'
)
ORDERS = '"order_id","CUSTOMER_NO","article_no","qty","ordered_at"'
KEEP = {"implausible": "keep"}
VIEWS = "timestamp,visitorid,event,itemid,transactionid"

READ = {
    "pandas with its index": ("shop.csv", FRAME.to_csv(), ROWS),
    "pandas, times with a zone": ("shop.csv", ZONED.to_csv(index=False), ROWS),
    "Excel with empty rows at the end": ("Mappe1.csv", EXCEL.replace(",", ".") + ";;;\r\n;;;\r\n", ROWS),
    "a shop's database": (
        "orders.csv",
        text('"9{t}","{u}","{i}","1","{moment}+00"', ORDERS, ROWS),
        without(ROWS, "rating"),
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
}

# What is asked for has the words to type; with them, the rows are those that were meant.
ANSWERED = {
    "Excel in Europe": (
        "Mappe1.csv",
        "\ufeff" + EXCEL,
        ["'4,5'", 'dataset.decimal=","'],
        {"decimal": ","},
        ROWS,
    ),
    "Amazon's ratings": (
        "ratings_Books.csv",
        text("A{u}H2L9G3DQHHAJ,000000{i},{r},{t}"),
        ["'A1H2L9G3DQHHAJ,00000031,2.5,1260759144'", "dataset.user=0 dataset.item=1"],
        {"user": 0, "item": 1, "rating": 2, "time": 3},
        [(f"A{u}H2L9G3DQHHAJ", f"000000{i}", r, t) for u, i, r, t in MOVIES],
    ),
    "thousands": (
        "plays.csv",
        "user;item;rating\n1;2;1.234,5\n1;3;12\n",
        ["line 2: the rating", "'1.234,5'", "write numbers as 1234.5", 't["rating"].str.replace(".", "")'],
        {"rating": False},
        [(1, 2, 1.0, None), (1, 3, 1.0, None)],
    ),
    "retailrocket": (
        "events.csv",
        text("{t}137,{u},view,{i},", VIEWS, VISITS[:1]) + f"{NOON}137,7,addtocart,9,\n",
        ["filters.where.column=event", "dataset.unused=[event]"],
        {"unused": ["event"]},
        [VISITS[0], (7, 9, 1.0, NOON)],
    ),
    "a flag of any name": (
        "log.csv",
        "user,item,gekauft\n1,2,0\n\n1,3,1\n",
        ["dataset.rating=gekauft", "dataset.unused=[gekauft]"],
        {"unused": ["gekauft"]},
        [(1, 2, 1.0, None), (1, 3, 1.0, None)],
    ),
    "most rows of one who is nobody": (
        "views.csv",
        "user,item\n" + "NULL,1\n" * 30 + "5,1\n6,2\n",
        ["'NULL' has 30 of 32 rows", 'dataset.missing=["NULL"]', "dataset.implausible=keep"],
        {"missing": ["NULL"]},
        [(5, 1, 1.0, None), (6, 2, 1.0, None)],
    ),
    "dates as users": (
        "orders.csv",
        "user,item,who\n2024-01-05,7,c1\n2024-01-06,8,c2\n",
        ["are dates", "2024-01-05", "dataset.user=COLUMN"],
        {"user": "who"},
        [("c1", 7, 1.0, None), ("c2", 8, 1.0, None)],
    ),
    "days of Excel": (
        "log.csv",
        "user,item,time\n1,2,45294\n1,3,45295\n",
        ["1970", "time=false"],
        {"time": False},
        [(1, 2, 1.0, None), (1, 3, 1.0, None)],
    ),
    "dates of the USA": (
        "shop.csv",
        "user,item,date\n1,2,12/31/2024\n",
        ["'12/31/2024'", "dataset.time_format=", "%m/%d/%Y"],
        {"time_format": "%m/%d/%Y"},
        [(1, 2, 1.0, 1_735_603_200)],
    ),
    "years": (
        "log.csv",
        "user,item,date\n1,2,1971\n",
        ['="%Y"\''],
        {"time_format": "%Y"},
        [(1, 2, 1.0, 31_536_000)],
    ),
    "seconds among milliseconds": (
        "log.csv",
        f"user,item,time\n1,2,{NOON}000\n1,3,{NOON}\n1,4,{NOON}000\n1,5,{NOON}000\n",
        ["count ms, and others seem to count s"],
        {"time": False},
        [(1, item, 1.0, None) for item in (2, 3, 4, 5)],
    ),
    "times that are 0": (
        "log.csv",
        "user,item,time\n" + "1,2,0\n" * 2 + f"1,2,{NOON}\n" * 3,
        ["2 of 5 times are 0", "dataset.time=false"],
        KEEP,
        [(1, 2, 1.0, 0)] * 2 + [(1, 2, 1.0, NOON)] * 3,
    ),
    "Excel": ("a.csv", "user,item\n1,9.78E+12\n", ["as text"], KEEP, [(1, "9.78E+12", 1.0, None)]),
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


@pytest.mark.parametrize("case", ANSWERED)
def test_a_question_names_its_answer_which_is_taken(write, case):
    name, content, named, answer, rows = ANSWERED[case]
    path = write(name, content)
    with pytest.raises(SchemaError) as refused:
        Table(path).load()
    assert "\n" not in str(refused.value)
    assert all(word in str(refused.value) for word in named), str(refused.value)
    assert rows_of(Table(path, **answer)) == rows


def test_what_is_said_is_taken(write):
    words = write("shop.csv", "wer;was\nann;tea\nbob;milk\n")
    with pytest.raises(SchemaError, match=r"shop\.csv: .*dataset\.user=0 dataset\.item=1"):
        Table(words).load()
    assert [row[0] for row in rows_of(Table(words, user="wer", item="was"))] == ["ann", "bob"]
    assert [row[0] for row in rows_of(Table(words, header=False))] == ["wer", "ann", "bob"]
    with pytest.raises(SchemaError, match=r"dataset\.user=COLUMN dataset\.item=COLUMN"):
        Table(words, header=True).load()


def test_look_asks_everything_at_once_with_one_command_that_is_taken(write, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    begin = "Beleg;Kundenkarte;Art.-Nr;Bewertung;wann;Filiale\n"
    days = [f"{n};{n % 40:04};A-{n % 37};{n % 5 or 'x'},5;{n % 28 + 1}.1.2020;Bonn\n" for n in range(300)]
    write("german.csv", begin + "".join(days))
    code, out, err = command("data", "look", "german.csv")
    assert code == 1
    assert [line.split()[1] for line in out.splitlines()[3:6]] == ["item", "rating", "?"]
    words = err.splitlines()[-1].partition("recgauge ")[2]
    assert words == (
        "data look german.csv dataset.user=Kundenkarte 'dataset.decimal=\",\"' "
        "dataset.time=wann 'dataset.time_format=\"%d.%m.%Y\"' dataset.on_bad_rows=skip"
    )
    assert err.count("error:") == 1
    code, out, _ = command(*shlex.split(words))
    assert code == 0
    assert "240 rows" in out
    code, out, err = command("data", "look", "german.csv", "dataset.user=Kundenkarten")
    assert out.startswith("column")
    assert "Did you mean Kundenkarte?" in err
    assert "recgauge run" not in err


@pytest.mark.parametrize(
    ("dates", "forms"),
    [
        (["02/01/2020", "13/01/2020"], ["%d/%m/%Y"]),
        (["02/01/2020", "03/01/2020", "soon"], ["%d/%m/%Y", "%m/%d/%Y"]),
        (["02.01.2020 08:02:26", "31.01.2020 08:02:26"], ["%d.%m.%Y %H:%M:%S"]),
        (["2020-01-02", "2020-01-03", "02.01.2020"], []),
        (["2020-01", "2020-02"], ["%Y-%m"]),
    ],
)
def test_forms_of_dates_are_those_of_the_file(write, dates, forms):
    path = write("log.csv", "user,item,date\n" + "".join(f"u{n},i,{date}\n" for n, date in enumerate(dates)))
    with pytest.raises(SchemaError) as refused:
        Table(path, on_bad_rows="skip" if forms else "error").load()
    answers = refused.value.answers if isinstance(refused.value, QuestionError) else ()
    assert [*answers] == [f"'dataset.time_format=\"{form}\"'" for form in forms]


def test_look_says_what_takes_columns_that_are_not_used(write, tmp_path, command):
    write("shop.csv", "kunde;artikel;Likes it;Since\na;x;4;2020-01-01\nb;y;5;2020-01-02\n")
    write("bare.csv", "a,x,4\nb,y,5\n")
    write("log.csv", "user,item,how,land\na,x,seen,DE\na,x,bought,DE\nb,x,seen,FR\n")
    write("parts.csv", "user,item,fold\na,x,0\nb,y,1\nb,z,2\n")
    write("case.csv", "user,item,qty\na,x,101\nA,y,2\n")
    films = "user,item,ip,no,S (1-5)\na,x,10.0.0.5,-1,5\na,y,10.0.0.6,4,n/a\nb,x,10.0.0.7,7,1\n"
    write("film.csv", films)
    rated, missing = 'dataset.rating="S (1-5)"', 'dataset.missing=["n/a"]'
    frame = pd.DataFrame({"user": ["a"], "item": ["x"], "bought": pd.to_datetime(["2020-01-01"])})
    frame.to_parquet(tmp_path / "shop.parquet")
    for words, line in (
        (["shop.csv"], "'dataset.rating=\"Likes it\"'"),
        (["shop.csv"], "unused   Since: can be times: dataset.time=Since"),
        (["bare.csv", "dataset.user=0", "dataset.item=1"], "unused   column 2: can be ratings"),
        (["shop.parquet"], "dataset.time=bought"),
        (["log.csv"], "filters.where.column=how"),
        (["log.csv", "filters=[duplicates]"], "filtered 2 rows"),
        (["log.csv", "dataset.event=how", "dataset.weights={seen: 1, bought: 2}"], "duplicates.policy=max\n"),
        (["parts.csv"], "command  recgauge run -m model=popularity,item_knn,svd dataset=table"),
        (["parts.csv"], "'dataset.unused=[fold]' split=published split.test=FILE; "),
        (
            ["film.csv"],
            f"unused   S (1-5): can be ratings, if they say how much an item is liked: '{rated}' '{missing}'",
        ),
        (["film.csv", rated, missing], f"'{rated}' '{missing}' dataset.relevant_from=5\n"),
        (["case.csv"], "dataset.rating=qty dataset.feedback=implicit"),
        (["case.csv"], "1 of 2 users differ from others in spelling alone"),
    ):
        code, out, err = command("data", "look", tmp_path / words[0], *words[1:])
        assert code == 0
        assert line in out + err
        assert out.rpartition("command")[2].count("filters=[") < 2
    code, _, err = command("data", "look", tmp_path / "film.csv", rated)
    assert code == 1
    assert err.endswith(f"'{rated}' dataset.on_bad_rows=skip\n")


def test_evaluate_takes_files_as_people_have_them(write, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write("recs.csv", "Customer ID;SKU;place;wert\nc7;A-1;1;0.9\nc7;B-2;2;0.4\nc9;A-1;1;0.7\n")
    write("truth.csv", "customer_id,sku\nc7,B-2\nc9,A-1\n")
    words = ["evaluate", "--run", "recs.csv", "--metrics", "ndcg@2", "--truth", "truth.csv"]
    assert main([*words, "--rank", "place"]) == 0
    said = capsys.readouterr().out
    assert "recs.csv: header; user=Customer ID, item=SKU, rank=place, separator ';', not used: wert" in said
    assert "truth.csv: header; user=customer_id, item=sku, separator ','" in said
    assert "2 lists, 2 users evaluated" in said
    assert main([*words, "--rank", "place", "--user", "custmer"]) == 1
    assert "--user 'custmer': no file has such a column" in capsys.readouterr().err


def archive(form):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=form) as tar:
        tar.addfile(tarfile.TarInfo("ratings.csv"))
    return packed.getvalue()


NAMED = {
    "Excel": ("a.xlsx", zipped("[Content_Types].xml", "<x/>"), "Excel"),
    "pickle": ("a.csv", pickle.dumps([1]), "pickle"),
    "tar": ("a.tar", archive("w"), "tar archive"),
    "web page": ("a.csv", "\n<!DOCTYPE HTML>\n<html>", "web page"),
    "header": ("a.csv", "userId;Titel;Bewertung", "has a header and no rows"),
    "title": ("a.csv", "Sales,,\n\nKunde,Artikel,Menge\n1,2,3\n", "begin in line 3"),
    "comment": ("a.txt", "# of 2024\nWho|Beer name|Stars\na|b|3\n", r"tail -n \+2 FILE > NEW"),
    "objects": ("a.jsonl", '{"user": {"id": 1}, "item": 2}\n', "jq -c"),
    "pointer": ("a.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "SQLite": ("a.db", b"SQLite format 3\x00", "a database"),
}


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("user;item;rating\n1;2;1.234,5\n", [["1", "2", "1234,5"]]),
        ("user,item,rating\n1,2,4 stars\n", [["1", "2", "4"]]),
        ("user,item,rating\n1,2,★★½\n", [["1", "2", "2.5"]]),
        ("user,a,b,c,d,e,f\n01,,0,3,,,\n", [["01", "c", "3.0"]]),
        (
            'user,item\n1,"x,y,z"\n2,"z,y,x"\n3,"y,z,x"\n',
            [[*pair] for pair in ["1x", "1y", "1z", "2z", "2y", "2x", "3y", "3z", "3x"]],
        ),
    ],
)
def test_advice_to_write_a_file_again_works(write, content, rows):
    with pytest.raises(SchemaError) as refused:
        Table(write("shop.csv", content)).load()
    _, _, code = shlex.split(re.search("python -c '[^']*'", str(refused.value))[0])
    exec(code, {})
    new = pd.read_csv(write("shop.csv", "").replace(".csv", "_new.csv"), dtype=str)
    assert new.to_numpy().tolist() == rows


@pytest.mark.parametrize("case", NAMED)
def test_what_is_no_table_is_named(write, case):
    name, content, word = NAMED[case]
    with pytest.raises(SchemaError, match=word):
        Table(write(name, content)).load()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_text_is_read(write, pack):
    assert rows_of(Table(write("shop.csv.packed", pack(FRAME.to_csv(index=False).encode())))) == ROWS


def test_kinds_of_events_without_a_header_are_asked_about(write):
    log = write("log.csv", "view,u1,i1\nremove,u2,i2\n")
    with pytest.raises(QuestionError, match=r"filters\.where\.column=0"):
        Table(log, user=1, item=2).load()
    assert rows_of(Table(log, user=1, item=2, unused=["0"])) == [
        ("u1", "i1", 1.0, None),
        ("u2", "i2", 1.0, None),
    ]
