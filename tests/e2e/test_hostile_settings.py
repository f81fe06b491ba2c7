"""Pipes, devices and odd names wherever a setting names a file: one message, no hang, no traceback."""

import os

import pytest

pytestmark = pytest.mark.e2e

GOOD = "user,item,rating\n" + "".join(f"u{row % 9},i{row % 7},{row % 5 + 1}\n" for row in range(60))
QUICK = ["tracking=off", "model=popularity", "metrics=[ranking]", "cutoffs=[1]"]
PIPE = "is not a regular file but a pipe"
TABLE = ["dataset=table", "dataset.path=good.csv"]
REFUSED = {
    "table": (["dataset=table", "dataset.path=pipe"], PIPE),
    "device": (["dataset=table", "dataset.path=/dev/zero"], "not a regular file but a device"),
    "archive": (["dataset=ml_100k", "dataset.archive=pipe"], PIPE),
    "mirror": (["dataset=ml_100k", "data.mirror=mirror"], PIPE),
    "candidates": ([*TABLE, "candidates=allow_list", "candidates.path=pipe"], PIPE),
    "negatives": ([*TABLE, "candidates=sampled_file", "candidates.path=pipe"], PIPE),
    "test part": ([*TABLE, "split=published", "split.test=pipe"], PIPE),
    "train part": ([*TABLE, "split=published", "split.test=good.csv", "split.train=pipe"], PIPE),
    "unknown home": (["dataset=table", "dataset.path='~nobody-at-all/r.csv'"], "there is no such file"),
    "escapes": (["dataset=table", "dataset.path='\x1b[2J.csv'"], r"\x1b[2J.csv"),
    "encoding": ([*TABLE, "dataset.encoding=rot13"], "encoding must be one of text"),
    "interpolation": (["dataset=table", "dataset.path='a${b}.csv'"], "write ? instead of $"),
    "long message": (["dataset=table", "dataset.path=" + "x" * 5_000], "there is no such file"),
}
READ = {
    "dollar": ["dataset=table", "dataset.path='a?{b}.csv'"],
    "lone dollar": ["dataset=table", "dataset.path='a$b.csv'"],
    "backslash": ["dataset=table", r"dataset.path='a\b.csv'"],
    "other bytes": ["dataset=table", "dataset.path='caf*.csv'"],
    "utf-16": ["dataset=table", "dataset.path=wide.csv", "dataset.encoding=utf-16"],
}


def fill(folder):
    os.mkfifo(folder / "pipe")
    (folder / "mirror").mkdir()
    os.mkfifo(folder / "mirror" / "ml-100k.zip")
    for name in ("good.csv", "a${b}.csv", "a$b.csv", "a\\b.csv"):
        (folder / name).write_text(GOOD)
    (folder / os.fsdecode(b"caf\xe9.csv")).write_text(GOOD)
    (folder / "wide.csv").write_text(GOOD, encoding="utf-16")


@pytest.fixture(scope="module")
def ended(shared_workplace):
    asked = {name: words for name, (words, _) in REFUSED.items()} | READ
    commands = [[*QUICK, "data.cache=cache", *words] for words in asked.values()]
    return dict(zip(asked, shared_workplace.run_each(commands, prepare=fill), strict=True))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_file_is_refused(ended, name):
    done = ended[name]
    assert done.code == 1
    assert REFUSED[name][1] in done.err
    assert done.err.count("error:") == 1
    assert "Traceback" not in done.err + done.out
    assert "\x1b" not in done.err
    assert len(done.err) < 3000


@pytest.mark.parametrize("name", READ)
def test_odd_names_that_are_files_are_read(ended, name):
    assert ended[name].code == 0, ended[name].err


def test_a_name_in_another_encoding_is_refused_with_the_way_out(workplace):
    done = workplace.fail("dataset=table", os.fsdecode(b"dataset.path=caf\xe9.csv"))
    assert "not UTF-8 text" in done.err
    assert "by a pattern" in done.err


LOUD = """from recgauge.models.popularity import Popularity


class Loud(Popularity):
    def fit(self, train, *, rng):
        raise {kind}("\\x1b[2J" * 250_000)
"""


@pytest.mark.parametrize("kind", ["RuntimeError", "ValueError", "SystemExit", "OSError"])
def test_what_a_component_says_is_bounded_and_cannot_steer_a_terminal(workplace, kind):
    (workplace.folder / "loud.py").write_text(LOUD.format(kind=kind))
    words = ["model._target_=loud.Loud", "~model.n_factors", "~model.values", "allowed_targets=[loud]"]
    done = workplace.run(*words, "tracking=off", PYTHONPATH=str(workplace.folder))
    assert done.code == 1
    assert r"\x1b[2J" in done.err
    for text in (done.out, done.err, *(path.read_text() for path in workplace.folder.rglob("*.json"))):
        assert "\x1b" not in text
        assert len(text) < 30_000
