"""Numbers published beside lists: files in two forms, missing and altered ones, and the order of a list."""

import gzip
from dataclasses import dataclass
from hashlib import sha256

import pytest

from recgauge.experiments.language_model_lists.judging import read_lists
from recgauge.studies.published_lists import JudgingRows, PublishedLists, cells, graded
from recgauge.studies.published_table import OPEN, REPRODUCED

FILES = {
    "ds/train.tsv": "1\t10\t5\n1\t11\t4\n2\t12\t3\n3\t13\t3\n",
    "ds/test.tsv": "1\t12\t5\n2\t10\t4\n",
    "ds/a.tsv": "1\t12\t0.9\n1\t13\t0.5\n2\t11\t0.8\n2\t10\t0.7\n",
    "ds/b.tsv": "1\t13\t0.9\n2\t10\t0.5\n",
}
KEPT = {"ds/a.tsv": "1\t12 13\n2\t11 10\n"}
"""What a mirror keeps instead of a file: items without scores."""


@dataclass(frozen=True)
class Small(PublishedLists):
    """A study of two files of lists."""

    def read_lists(self, name, path):
        return read_lists(name.replace("ds/", "ds/classic/"), path)

    def judging_rows(self, lists, files):
        return JudgingRows(*(graded(cells(files.paths[name], "\t")) for name in (lists.train, lists.test)))

    def markdown(self, rows):
        return str(len(rows))


@pytest.fixture
def source(tmp_path):
    """The folder of an experiment: published numbers and the table of files."""
    folder = tmp_path / "experiment"
    folder.mkdir()
    lines = ["file,path,size,sha256,kept,kept_size,kept_sha256"]
    for name, text in FILES.items():
        kept = packed(KEPT[name]) if name in KEPT else b""
        form = (f"{name}.gz", len(kept), sha256(kept).hexdigest()) if kept else ("", "", "")
        digest = sha256(text.encode()).hexdigest()
        lines.append(",".join(map(str, (name, f"data/{name}", len(text), digest, *form))))
    (folder / "files.csv.gz").write_bytes(packed("\n".join(lines)))
    numbers = ["key,definition,label,dataset,settings,value,tolerance,why,source"]
    for lists, value in (("a", 0.5), ("b", 1.0)):
        settings = f"lists={lists}.tsv train=train.tsv test=test.tsv"
        numbers.append(f"precision_at_1,P@1,{lists},ds,{settings},{value},1e-9,all digits,here")
    (folder / "published.csv.gz").write_bytes(packed("\n".join(numbers)))
    return folder


def packed(text):
    return gzip.compress(text.encode(), mtime=0)


def clone(place, without=()):
    """Write the repository's files as a clone has them."""
    for name, text in FILES.items():
        file = place / "lists-of-ours" / "data" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if name not in without:
            file.write_text(text, newline="\n")
    return place


def study(mirror):
    return Small(
        name="small",
        repository="us/lists-of-ours",
        commit="0123456789",
        kept="lists/ours",
        licence="MIT",
        conventions="standard",
        mirror=str(mirror),
        cache=str(mirror / "cache"),
        offline=True,
    )


def test_numbers_are_judged_from_a_clone_and_from_a_mirror_s_form_alike(tmp_path, source):
    rows = study(clone(tmp_path / "mirror")).rows([], source)
    assert [(row["model"], row["ours"], row["verdict"]) for row in rows] == [
        ("a", "0.5", REPRODUCED),
        ("b", "0.5", "not reproduced"),
    ]
    mirror = clone(tmp_path / "other", without=["ds/a.tsv"])
    kept = mirror / "lists" / "ours" / "ds" / "a.tsv.gz"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(packed(KEPT["ds/a.tsv"]))
    assert study(mirror).rows([], source) == rows


def test_rows_of_missing_and_altered_files_stay_open(tmp_path, source, capsys):
    mirror = clone(tmp_path / "mirror", without=["ds/a.tsv"])
    (mirror / "lists-of-ours" / "data" / "ds" / "b.tsv").write_text("1\t12\t1\n")
    rows = study(mirror).rows([], source)
    assert [row["verdict"] for row in rows] == [OPEN, OPEN]
    assert [row["reason"].partition(":")[0] for row in rows] == ["not here", "altered"]
    said = capsys.readouterr().err
    assert "https://github.com/us/lists-of-ours/tree/0123456789" in said
    assert sha256(FILES["ds/a.tsv"].encode()).hexdigest() in said


def test_a_list_of_scores_that_is_sorted_as_ranks_is_upside_down(tmp_path):
    file = tmp_path / "scores.tsv"
    file.write_text("1\t10.0\t0.9\n1\t11.0\t0.5\n1\t12.0\t0.5\n1\t13.0\t0.1\n")
    assert read_lists("ds/classic/scores.tsv", file) == {1: [10, 11, 12, 13]}
    assert read_lists("ds/reversed/scores.tsv", file) == {1: [13, 11, 12, 10]}
