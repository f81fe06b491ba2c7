import hashlib

import pytest

from recgauge.datasets.published_files import PUBLISHED, REZIPPED, Pin, PublishedFile, verify
from recgauge.errors import IntegrityError

MEMBERS = {"toy/ratings.csv": b"1,10,4.0\n" * 500, "toy/movies.csv": b"10,A,Drama\n"}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def published_as(path, members=MEMBERS, caveat="") -> PublishedFile:
    content = path.read_bytes()
    digests = {name: sha256(member) for name, member in members.items()}
    return PublishedFile(
        "toy.zip", "https://x.example/toy.zip", len(content), sha256(content), digests, caveat
    )


@pytest.fixture
def original(make_zip):
    return make_zip(MEMBERS, "toy.zip")


@pytest.fixture
def rezipped(make_zip):
    return make_zip({"toy/README": b"hello", **dict(reversed(MEMBERS.items()))}, "again.zip")


def pin(path, *, strict=True):
    return Pin(sha256(path.read_bytes()), "dataset.sha256", strict=strict)


def test_the_strongest_true_statement_is_made(original, rezipped, make_zip):
    published, other = published_as(original), make_zip({"toy/ratings.csv": b"other"}, "other.zip")
    for path, provenance in ((original, PUBLISHED), (rezipped, REZIPPED)):
        for vouched in (None, pin(path)):
            found = verify(path, published, vouched)
            assert (found.provenance, found.sha256) == (provenance, sha256(path.read_bytes()))
    pinned = verify(other, published, pin(other))
    assert pinned.provenance == "not the publisher's archive: pinned by dataset.sha256"


def test_the_users_pin_refuses_even_the_publishers_archive(original, rezipped):
    with pytest.raises(IntegrityError, match=r"dataset\.sha256 asks for sha256"):
        verify(original, published_as(original), pin(rezipped))


def test_a_mirrors_list_does_not_refuse_the_publishers_archive(original, rezipped):
    assert verify(original, published_as(original), pin(rezipped, strict=False)).provenance == PUBLISHED


def test_a_file_that_the_mirrors_list_contradicts_is_refused(original, rezipped, make_zip):
    other = make_zip({"toy/ratings.csv": b"other"}, "other.zip")
    with pytest.raises(IntegrityError, match="not the file that dataset"):
        verify(other, published_as(original), pin(rezipped, strict=False))


def test_another_member_is_refused_with_expected_found_and_remedy(original, make_zip):
    wrong = make_zip({**MEMBERS, "toy/movies.csv": b"10,B,Drama\n"}, "wrong.zip")
    published = published_as(original, caveat="Mind the gap.")
    with pytest.raises(IntegrityError) as caught:
        verify(wrong, published, None)
    message = str(caught.value)
    for part in (
        str(wrong),
        published.sha256,
        f"{published.size:,} bytes",
        sha256(wrong.read_bytes()),
        "its member toy/movies.csv is not the publisher's",
        "Mind the gap.",
        "download https://x.example/toy.zip again",
        f"pin it with dataset.sha256={sha256(wrong.read_bytes())}",
    ):
        assert part in message


def test_absent_member_is_refused(original, make_zip):
    with pytest.raises(IntegrityError, match=r"it has no member toy/movies\.csv"):
        verify(make_zip({"toy/ratings.csv": MEMBERS["toy/ratings.csv"]}), published_as(original), None)


def test_unknown_member_digests_leave_only_the_archives(original, rezipped):
    with pytest.raises(IntegrityError, match="single files are not known"):
        verify(rezipped, published_as(original, members={}), None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"\n<!DOCTYPE html><p>Sign in", "looks like a web page"),
        (b"user,item\n", "it is not a zip archive"),
    ],
)
def test_what_is_no_archive_is_refused_without_advice_to_pin(original, tmp_path, content, reason):
    path = tmp_path / "odd.zip"
    path.write_bytes(content)
    with pytest.raises(IntegrityError, match=reason) as caught:
        verify(path, published_as(original), None)
    assert "pin it" not in str(caught.value)
