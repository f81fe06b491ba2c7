"""``recgauge package`` and ``recgauge verify PACKAGE``: what a colleague gets, and what checking it finds."""

import json
import os
import stat
import zipfile
from functools import partial
from pathlib import Path

import pytest

import recgauge
from finished import finished
from recgauge.runs.folder import CHECKSUMS, file_digest, read_checksums
from report_page import read_page

pytestmark = pytest.mark.e2e
WORDS = ("metrics=[ranking,beyond_accuracy]", "cutoffs=[5,10]")
SECRETS = ("tracking.uri=postgresql://ann:hunter22pass@host/db", "data.cache=/home/ann/data")
SVD = "runs/1-demo-svd-seed0"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    finished(folder, "popularity", *WORDS, *SECRETS)
    finished(folder, "svd", "model.n_factors=4", *WORDS)
    return folder


@pytest.fixture(scope="module")
def package(sweep, tmp_path_factory) -> Path:
    return recgauge.package(sweep, tmp_path_factory.mktemp("package") / "package.zip")


@pytest.fixture
def verify(command, tmp_path, monkeypatch):
    """Verify in a folder that has nothing else."""
    monkeypatch.chdir(tmp_path)
    return partial(command, "verify")


def unpacked(package, folder) -> Path:
    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder)
    return folder


def sign(folder):
    """Make digests fit what was changed, as someone who means to deceive would."""
    for sums in (folder / SVD / CHECKSUMS, folder / CHECKSUMS):
        names = read_checksums(sums)
        lines = (f"{file_digest(sums.parent / name)}  {name}\n" for name in names)
        sums.write_text("".join(lines))


def test_every_number_is_computed_again_and_a_run_of_it_repeated(sweep, package, verify, tmp_path):
    code, out, _ = verify(package)
    assert code == 0
    assert "svd on demo, seed 0: identical:" in out
    assert "user_coverage" in out.split("not seen ")[1]  # lists of users who are not evaluated
    assert "package.zip: identical, " in out
    with pytest.raises(recgauge.errors.ConfigError, match="is there already"):
        recgauge.package(sweep, package)
    code, out, _ = verify(unpacked(package, tmp_path / "unpacked") / SVD)
    assert code == 0, out
    assert "identical" in out


def test_the_page_shows_the_result_and_nothing_private_is_inside(package, tmp_path):
    folder = unpacked(package, tmp_path)
    page = read_page(folder / "report.html")
    assert page.problems == []
    text = (folder / "report.html").read_text(encoding="utf-8")
    for shown in ("svd is better than popularity", "n_factors", "recgauge verify", "rows"):
        assert shown in text
    texts = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    for private in (b"hunter22pass", b"/home/ann", b"ann:", str(Path.home()).encode() + b"/"):
        assert private not in texts


def test_runs_without_lists_are_not_verified(verify, tmp_path):
    finished(tmp_path / "hits", "item_knn", "metrics=[ranking]", "cutoffs=[3]", "artifacts.lists=false")
    package = recgauge.package(tmp_path / "hits", "package.zip")
    code, out, _ = verify(package)
    assert code == 1, out  # nothing was verified
    assert "ndcg" in out.split("not seen ")[1]


def value(folder):
    record = json.loads((folder / SVD / "record.json").read_text())
    entry = next(entry for entry in record["results"] if entry["key"] == "ndcg_at_10")
    entry["value"] += 1e-9
    (folder / SVD / "record.json").write_text(json.dumps(record))


def config(folder):
    path = folder / SVD / "config.yaml"
    path.write_text(path.read_text().replace("n_factors: 4", "n_factors: 8"))


def claim(folder):
    path = folder / "report.html"
    path.write_text(path.read_text().replace("svd is better", "svd is far better"))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (value, "differs  ndcg_at_10: stored 0."),
        (config, "differs  runs/1-demo-svd-seed0/config.yaml: "),
        (claim, "differs  report.html: "),
    ],
)
def test_what_was_changed_is_named_though_the_digests_fit(package, verify, tmp_path, change, named):
    folder = unpacked(package, tmp_path / "unpacked")
    change(folder)
    if change is claim:
        assert "the file was changed" in verify(folder)[1]
    sign(folder)
    code, out, _ = verify(folder)
    assert code == 1
    assert named in out
    assert "not as packed" in out


def with_member(name, content=b"x", mode=stat.S_IFREG):
    def add(archive):
        member = zipfile.ZipInfo(name)
        member.external_attr = (mode | 0o644) << 16
        archive.writestr(member, content, zipfile.ZIP_DEFLATED)

    return add


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("add", "problem"),
    [
        (with_member("/tmp/outside"), "does not name, tmp/outside"),
        (with_member("runs/../../outside"), "does not name, runs/outside"),
        (with_member("..\\outside"), "does not name, "),
        (with_member("link", b"/etc/passwd", stat.S_IFLNK), "does not name, link"),
        (with_member("bomb", bytes(1 << 27)), "more than 200 times its size"),
        (with_member("more"), "does not name, more"),
        (with_member("report.html"), "is there twice"),
        (with_member("../report.html"), "is there twice"),
        (None, "lacks report.html"),
    ],
)
def test_a_package_that_is_none_is_refused_in_one_line(package, verify, tmp_path, add, problem):
    file = tmp_path / "bad.zip"
    with zipfile.ZipFile(package) as archive, zipfile.ZipFile(file, "w") as bad:
        for name in archive.namelist():
            if add is not None or name != "report.html":
                bad.writestr(name, archive.read(name))
        if add is not None:
            add(bad)
    before = sorted(tmp_path.parent.rglob("*"))
    code, out, err = verify(file)
    assert code == 1
    assert problem in err
    assert len(err.strip().splitlines()) == 1
    assert not out
    assert sorted(tmp_path.parent.rglob("*")) == before
    file.write_text("no zip")
    assert "cannot be unpacked" in verify(file)[2]


@pytest.mark.parametrize("name", ["data_card.json", "SHA256SUMS"])
def test_what_is_no_file_in_an_unpacked_package_is_refused(package, verify, tmp_path, name):
    folder = unpacked(package, tmp_path / "unpacked")
    (folder / SVD / name).unlink()
    os.mkfifo(folder / SVD / name)
    code, _, err = verify(folder)
    assert code == 1
    assert f"{name} is no regular file" in err


def test_cutoffs_that_no_memory_holds_are_an_error_of_one_line(package, verify, tmp_path):
    folder = unpacked(package, tmp_path / "unpacked")
    path = folder / SVD / "record.json"
    record = json.loads(path.read_text())
    record["settings"]["cutoffs"] = [10**9]
    path.write_text(json.dumps(record, indent=2) + "\n")
    sign(folder)
    code, _, err = verify(folder)
    assert code == 1
    assert "memory" in err.splitlines()[-1]
    assert "Traceback" not in err


def test_rows_stay_with_who_has_them(verify, tmp_path, monkeypatch):
    rows = [f"{user},{item},{1 + (user * item) % 5}" for user in range(40) for item in range(user % 3, 30, 3)]
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    (here / "ratings.csv").write_text("\n".join(["user,item,rating", *rows]))
    words = ("dataset=table", f"dataset.path={here / 'ratings.csv'}", "metrics=[ranking,rating]")
    for model in ("bias", "biased_mf"):
        finished(here / "runs", model, *words)
    package = recgauge.package(here / "runs", there / "package.zip")
    folder = unpacked(package, tmp_path / "unpacked")
    assert not [*folder.rglob("test.parquet"), *folder.rglob("predictions.parquet")]

    monkeypatch.chdir(there)
    code, _, err = verify(package)
    assert code == 1
    assert "dataset.path=ratings.csv: there is no such file" in err
    (there / "ratings.csv").write_text((here / "ratings.csv").read_text())
    code, out, _ = verify(package)
    assert code == 0, out
    assert "rmse" in out.split("not seen ")[1]  # predictions name pairs of the data
    code, out, _ = verify(package, "--train")
    assert code == 0, out
    assert "not seen" not in out
    (there / "ratings.csv").write_text((here / "ratings.csv").read_text().replace("0,3,1", "0,3,5"))
    code, out, _ = verify(package)
    assert code == 1
    assert "differs  data: stored sha256" in out
