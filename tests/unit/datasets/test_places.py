"""Where an archive is looked for, and what is taken for the publisher's."""

import hashlib
from dataclasses import replace

import pytest

from recgauge.datasets.archives import find_archive
from recgauge.datasets.published_files import PUBLISHED, REZIPPED, Locations, PublishedFile
from recgauge.errors import IntegrityError, MissingDataError

CLOSED = "http://127.0.0.1:9"  # the discard port: nobody listens
MEMBERS = {"toy/a": b"abc" * 100, "toy/b": b"10,A,Drama\n"}
REORDERED = {"toy/README": b"hello", **dict(reversed(MEMBERS.items()))}
PINNED = "not the publisher's archive: pinned by "


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def toy(make_zip):
    """The publisher's archive, as it is described."""
    original = make_zip(MEMBERS, "toy.zip")
    members = {name: hashlib.sha256(content).hexdigest() for name, content in MEMBERS.items()}
    size = original.stat().st_size
    return PublishedFile("toy.zip", f"{CLOSED}/toy.zip", size, sha256(original), members)


@pytest.fixture
def put(tmp_path, toy, make_zip):
    """Put the publisher's archive, or another one, into a folder."""

    def put(folder, members=MEMBERS):
        (tmp_path / folder).mkdir(exist_ok=True)
        return make_zip(members, f"{folder}/toy.zip")

    return put


@pytest.fixture
def find(tmp_path, toy, progress):
    for name in ("cache", "mirror"):
        (tmp_path / name).mkdir(exist_ok=True)

    def find(published=toy, sha256=None, **changes):
        places = {"cache": str(tmp_path / "cache"), "mirror": str(tmp_path / "mirror"), **changes}
        return find_archive(published, Locations(**places), progress, sha256)

    return find


def test_the_cache_comes_before_the_mirror_which_is_read_in_place(find, put):
    mirrored = put("mirror")
    assert (find().path, find().provenance) == (mirrored, PUBLISHED)
    cached = put("cache", REORDERED)
    assert (find().path, find().provenance) == (cached, REZIPPED)


def test_named_archive_comes_first_and_alone(find, put, tmp_path):
    put("cache")
    assert find(archive=str(tmp_path / "toy.zip")).path == tmp_path / "toy.zip"
    with pytest.raises(MissingDataError, match="there is no such file"):
        find(archive=str(tmp_path / "absent.zip"))


def test_the_users_pin_makes_a_file_theirs_and_refuses_even_the_publishers(find, put):
    other = put("cache", {"toy/a": b"changed"})
    digest = sha256(other)
    found = find(sha256=digest.upper())
    assert (found.provenance, found.sha256) == (PINNED + "dataset.sha256", digest)
    other.unlink()
    put("mirror")
    with pytest.raises(IntegrityError, match=r"dataset\.sha256 asks for sha256"):
        find(sha256=digest)


@pytest.mark.parametrize("form", ["{}  toy.zip\n", "{} *toy.zip\n", "# list\n{}  ./toy.zip"])
def test_sums_of_a_mirror_folder_pin_its_file(find, put, form):
    other = put("mirror", {"toy/a": b"changed"})
    with pytest.raises(IntegrityError):
        find()
    (other.parent / "SHA256SUMS").write_text(form.format(sha256(other).upper()))
    assert find().provenance == PINNED + "the mirror's SHA256SUMS"


def test_another_member_is_refused_with_expected_found_and_remedy(find, put, toy):
    wrong = put("cache", {**MEMBERS, "toy/b": b"10,B,Drama\n"})
    with pytest.raises(IntegrityError) as caught:
        find()
    for part in (
        str(wrong),
        toy.sha256,
        f"{toy.size:,} bytes",
        sha256(wrong),
        "its member toy/b is not the publisher's",
        f"Get it again from {CLOSED}/toy.zip",
        f"pin it with dataset.sha256={sha256(wrong)}",
    ):
        assert part in str(caught.value)
    put("cache", {"toy/a": MEMBERS["toy/a"]})
    with pytest.raises(IntegrityError, match="There is no item named 'toy/b'"):
        find()
    put("cache", REORDERED)
    with pytest.raises(IntegrityError, match="single files are not known"):
        find(replace(toy, members={}))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "begins with b''"),
        (b"\n<!DOCTYPE html><p>Sign in", "begins with .*<!DOCTYPE html>"),
        (b"PK\x03\x04 cut", "it is not a whole zip archive"),
    ],
)
def test_what_is_no_archive_is_refused_without_advice_to_pin_and_not_replaced(find, put, content, reason):
    put("mirror")
    cached = put("cache")
    cached.write_bytes(content)
    with pytest.raises(IntegrityError, match=reason) as caught:
        find()
    assert "pin it" not in str(caught.value)
    assert cached.read_bytes() == content
