"""``recgauge data``: what is listed, fetched, verified and described, and what wrong words are told."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from recgauge.cli.explain import group_options
from recgauge.data.card import DataCard


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, no mirror, no network."""
    for name, value in (
        ("RECGAUGE_CACHE", str(tmp_path / "cache")),
        ("RECGAUGE_MIRROR", ""),
        ("RECGAUGE_OFFLINE", "1"),
    ):
        monkeypatch.setenv(name, value)
    return tmp_path / "cache"


@pytest.fixture
def data(command):
    return partial(command, "data")


@pytest.fixture
def ratings(tmp_path):
    path = tmp_path / "ratings.csv"
    lines = [f"u{n % 4},i{n % 5},{1 + n % 5}" for n in range(20)]
    path.write_text("user,item,rating\n" + "\n".join(lines) + "\n")
    return path


def row(out, name):
    return next(line for line in out.splitlines() if line.split()[:1] == [name])


def test_every_data_set_is_listed_with_what_is_known(cache, data):
    code, out, _ = data("list")
    assert code == 0
    for name in group_options("dataset"):
        assert row(out, name)
    assert "100,000" in row(out, "ml_100k")
    assert " 4.7 " in row(out, "ml_100k")
    assert "no redistribution" in row(out, "ml_100k")
    assert " no " in row(out, "ml_20m")
    assert "generated" in row(out, "demo")
    assert " ? " in row(out, "gowalla")  # nobody offers it as one archive
    assert str(cache) in out


@pytest.mark.data
def test_fetch_and_verify_say_what_a_mirror_folder_has(cache, data, mirror):
    for name, words in (
        ("ml-latest-small", "the publisher's archive"),
        ("ml-100k", "zipped anew"),
        ("ml-1m", "pinned by the mirror's SHA256SUMS"),
    ):
        for what in ("fetch", "verify"):
            code, out, _ = data(what, name.replace("-", "_"), f"data.mirror={mirror}")
            assert code == 0
            assert words in out
            assert f"{mirror}/{name}.zip" in out
    assert not cache.exists()  # it is read in place


@pytest.mark.data
def test_a_damaged_archive_fails_verification(cache, data, mirror):
    cache.mkdir()
    shutil.copy(Path(mirror) / "ml-latest-small.zip", cache)
    with (cache / "ml-latest-small.zip").open("r+b") as file:
        file.truncate(500_000)
    code, _, err = data("verify", "ml_latest_small")
    assert code == 1
    assert "not a whole zip archive" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["card", "movielens"],
            "dataset=movielens: dataset has no such option. Did you mean ml_100k or ml_10m",
        ),
        (["fetch", "ml_5m"], "ml_5m: there is no such data set. Did you mean ml_25m?"),
        (["fetch", "ml_100k"], "not tried, since offline is set"),
        (["card", "table"], "dataset.path has no value"),
        (["card", "demo", "filters=[min_rating]", "filters.min_rating.rating=9"], "leaves no row"),
        (["list", "data.mirror=ftp://x"], "mirror must be a folder or an http(s) address"),
    ],
)
def test_wrong_words_get_one_message(cache, data, words, message):
    code, _, err = data(*words)
    assert code == 1
    assert message in err
    assert err.count("error:") == 1


def test_a_card_of_a_table_is_written_with_a_figure(cache, data, ratings, tmp_path):
    out_folder = tmp_path / "card"
    words = (f"dataset.path={ratings}", "split=random", "--out", str(out_folder))
    code, out, _ = data("card", "table", *words)
    assert code == 0
    assert str(out_folder) in out
    card = DataCard.from_json((out_folder / "data_card.json").read_text())
    assert (card.name, card.data.n_rows, card.split) == ("ratings", 20, "random")
    page = (out_folder / "data_card.md").read_text()
    assert [path.name for path in (out_folder / "figures").iterdir()] == ["long_tail.png"]
    assert "(figures/long_tail.png)" in page
