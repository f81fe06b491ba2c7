import hashlib

import pytest

from recgauge.datasets import _download
from recgauge.datasets.archives import find_archive
from recgauge.datasets.published_files import PUBLISHED, REZIPPED, Locations, PublishedFile
from recgauge.errors import ConfigError, IntegrityError, MissingDataError

CLOSED = "http://127.0.0.1:9"  # the discard port: nobody listens


@pytest.fixture(autouse=True)
def ask_once(monkeypatch):
    monkeypatch.setattr(_download, "ATTEMPTS", 1)


@pytest.fixture
def toy(tmp_path, make_zip):
    """The publisher's archive, its description and one folder for each place."""
    original = make_zip({"toy/a": b"abc" * 100}, "toy.zip")
    content = original.read_bytes()
    for name in ("cache", "mirror"):
        (tmp_path / name).mkdir()
    digests = {"toy/a": hashlib.sha256(b"abc" * 100).hexdigest()}
    return PublishedFile(
        "toy.zip", f"{CLOSED}/toy.zip", len(content), hashlib.sha256(content).hexdigest(), digests
    )


def places(tmp_path, **changes):
    return Locations(**{"cache": str(tmp_path / "cache"), "mirror": str(tmp_path / "mirror"), **changes})


def put(tmp_path, folder, make_zip=None, members=None):
    target = tmp_path / folder / "toy.zip"
    if members is None:
        target.write_bytes((tmp_path / "toy.zip").read_bytes())
    else:
        make_zip(members, f"{folder}/toy.zip")
    return target


def test_cache_comes_before_the_mirror(toy, tmp_path, make_zip, progress):
    cached = put(tmp_path, "cache", make_zip, {"toy/a": b"abc" * 100, "toy/b": b""})
    put(tmp_path, "mirror")
    found = find_archive(toy, places(tmp_path), progress)
    assert (found.path, found.provenance) == (cached, REZIPPED)


def test_mirror_folder_is_read_in_place(toy, tmp_path, progress):
    mirrored = put(tmp_path, "mirror")
    found = find_archive(toy, places(tmp_path), progress)
    assert (found.path, found.provenance) == (mirrored, PUBLISHED)
    assert list((tmp_path / "cache").iterdir()) == []


def test_named_archive_comes_first_and_alone(toy, tmp_path, progress):
    put(tmp_path, "cache")
    archive = tmp_path / "toy.zip"
    assert find_archive(toy, places(tmp_path, archive=str(archive)), progress).path == archive
    with pytest.raises(MissingDataError, match="there is no such file"):
        find_archive(toy, places(tmp_path, archive=str(tmp_path / "absent.zip")), progress)


@pytest.mark.parametrize("as_text", [True, False])
def test_several_mirrors_are_asked_in_order(toy, tmp_path, make_zip, progress, as_text):
    folders = [tmp_path / name for name in ("empty", "first", "second")]
    for folder in folders:
        folder.mkdir()
    put(tmp_path, "first", make_zip, {"toy/a": b"abc" * 100, "toy/b": b""})
    put(tmp_path, "second")
    mirrors = [str(folder) for folder in folders]
    found = find_archive(toy, places(tmp_path, mirror=" | ".join(mirrors) if as_text else mirrors), progress)
    assert found.path == folders[1] / "toy.zip"


@pytest.mark.parametrize("form", ["{}  toy.zip\n", "{} *toy.zip\n", "# list\n{}  ./toy.zip"])
def test_sums_of_a_mirror_folder_pin_its_file(toy, tmp_path, make_zip, progress, form):
    other = put(tmp_path, "mirror", make_zip, {"toy/a": b"changed"})
    with pytest.raises(IntegrityError):
        find_archive(toy, places(tmp_path), progress)
    sums = form.format(hashlib.sha256(other.read_bytes()).hexdigest().upper())
    (tmp_path / "mirror" / "SHA256SUMS").write_text(sums)
    found = find_archive(toy, places(tmp_path), progress)
    assert found.provenance == "not the publisher's archive: pinned by the mirror's SHA256SUMS"


def test_sums_do_not_vouch_for_other_files(toy, tmp_path, make_zip, progress):
    put(tmp_path, "mirror", make_zip, {"toy/a": b"changed"})
    (tmp_path / "mirror" / "SHA256SUMS").write_text(f"{'0' * 64}  other.zip\n")
    with pytest.raises(IntegrityError):
        find_archive(toy, places(tmp_path), progress)


def test_users_pin_counts_everywhere(toy, tmp_path, make_zip, progress):
    other = put(tmp_path, "cache", make_zip, {"toy/a": b"changed"})
    digest = hashlib.sha256(other.read_bytes()).hexdigest()
    found = find_archive(toy, places(tmp_path, sha256=digest.upper()), progress)
    assert found.provenance == "not the publisher's archive: pinned by dataset.sha256"
    other.unlink()
    put(tmp_path, "mirror")
    with pytest.raises(IntegrityError, match="asks for"):
        find_archive(toy, places(tmp_path, sha256=digest), progress)


def test_wrong_file_in_the_cache_is_refused_not_replaced(toy, tmp_path, progress):
    cached = tmp_path / "cache" / "toy.zip"
    cached.write_bytes(b"PK\x03\x04 cut")
    put(tmp_path, "mirror")
    with pytest.raises(IntegrityError, match="truncated"):
        find_archive(toy, places(tmp_path), progress)
    assert cached.exists()


def test_missing_mirror_folder_is_an_error_at_once(toy, tmp_path, progress):
    with pytest.raises(MissingDataError, match=r"no such folder.*RECGAUGE_MIRROR"):
        find_archive(toy, places(tmp_path, mirror=str(tmp_path / "typo")), progress)


@pytest.mark.parametrize("offline", [True, False])
def test_error_names_every_place_and_the_way_by_hand(toy, tmp_path, progress, offline):
    with pytest.raises(MissingDataError) as caught:
        find_archive(toy, places(tmp_path, offline=offline), progress)
    message = str(caught.value)
    for part in (
        f"cache folder {tmp_path / 'cache'}: has no toy.zip",
        f"mirror {tmp_path / 'mirror'}: has no toy.zip",
        f"publisher {CLOSED}/toy.zip: "
        + ("not tried, since offline" if offline else "no connection to 127.0.0.1 (Connection refused)"),
        f"Download {CLOSED}/toy.zip by hand",
        f"put it at {tmp_path / 'cache' / 'toy.zip'}",
    ):
        assert part in message
    assert not (tmp_path / "cache" / "toy.zip").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"archive": ""},
        {"cache": " "},
        {"mirror": 3},
        {"mirror": ["a", ""]},
        {"mirror": "a|"},
        {"mirror": "ftp://x.example"},
        {"offline": "yes"},
        {"sha256": "abc"},
        {"sha256": "g" * 64},
    ],
)
def test_settings_that_cannot_be_meant(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Locations(**wrong)
