import hashlib
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from recgauge.datasets import archives
from recgauge.datasets.archives import find_archive
from recgauge.datasets.published_files import PUBLISHED, Locations, PublishedFile
from recgauge.errors import DataError, IntegrityError, MissingDataError
from unit.datasets.faulty_server import busy, cut, endless, silence, wrong_bytes

HASTE = {"CONNECT": 2, "SILENCE": 0.5}


@pytest.fixture(autouse=True)
def haste(monkeypatch):
    for name, value in HASTE.items():
        monkeypatch.setattr(archives, name, value)


@pytest.fixture(scope="module")
def content(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("toy") / "toy.zip"
    with zipfile.ZipFile(path, "w") as archive:  # stored, so that it is large enough to be cut
        archive.writestr("toy/a", np.random.default_rng(0).bytes(400_000))
    return path.read_bytes()


@pytest.fixture
def fetch(content, server, tmp_path, progress):
    """Ask the server as the publisher."""
    server.files["/toy.zip"] = content

    def fetch(address=server.address, cache=tmp_path / "cache", **places):
        digest = hashlib.sha256(content).hexdigest()
        published = PublishedFile("toy.zip", f"{address}/toy.zip", len(content), digest)
        return find_archive(published, Locations(cache=str(cache), **places), progress)

    return fetch


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_fetched_once_then_from_the_cache(fetch, server, content, tmp_path, progress):
    found = fetch()
    assert found.path == tmp_path / "cache" / "toy.zip"
    assert found.provenance == PUBLISHED
    assert found.path.read_bytes() == content
    ((name, total, unit, done),) = progress.steps
    assert (name, total, unit, done) == ("download toy.zip", len(content), "bytes", [len(content)])
    assert fetch() == found
    assert len(server.requests) == 1
    assert server.encodings == ["identity"]
    assert listing(tmp_path / "cache") == ["toy.zip"]


def test_a_busy_server_is_named_with_its_answer(fetch, server, tmp_path):
    server.faults += [busy]
    with pytest.raises(MissingDataError, match=r"toy\.zip: 503 Server Error"):
        fetch()
    assert listing(tmp_path / "cache") == []


@pytest.mark.parametrize("fault", [cut, silence])
def test_of_a_broken_transfer_nothing_is_kept(fetch, server, tmp_path, fault):
    server.faults += [fault] * 9
    with pytest.raises(MissingDataError, match=r"100000 bytes read|timed out"):
        fetch()
    assert listing(tmp_path / "cache") == []


def test_wrong_bytes_are_refused_and_not_kept(fetch, server, tmp_path):
    server.faults += [wrong_bytes]
    with pytest.raises(IntegrityError, match="it is not a whole zip archive") as caught:
        fetch()
    assert str(caught.value).startswith(f"{server.address}/toy.zip: ")
    assert listing(tmp_path / "cache") == []


@pytest.mark.parametrize(
    "fault", [endless(), endless(chunked=True), endless(length=10**30)], ids=["no length", "chunked", "a lie"]
)
def test_server_that_sends_too_much_is_cut_off(fetch, server, content, tmp_path, fault):
    server.faults += [fault] * 9
    with pytest.raises(IntegrityError, match=f"at most {len(content):,} are taken; nothing was kept"):
        fetch()
    assert len(server.requests) == 1
    assert server.n_sent < len(content) + (64 << 20)  # what fits into the network's buffers
    assert listing(tmp_path / "cache") == []


def test_sums_of_a_mirror_that_are_a_pipe_are_refused(fetch, tmp_path):
    os.mkfifo(tmp_path / "SHA256SUMS")
    (tmp_path / "toy.zip").write_bytes(b"")
    with pytest.raises(DataError, match=r"SHA256SUMS.* is not a regular file but a pipe"):
        fetch(mirror=str(tmp_path))


def test_a_mirror_is_asked_before_the_publisher(fetch, server, content):
    assert fetch(mirror=f"{server.address}/absent").path.read_bytes() == content
    assert server.requests == ["/absent/toy.zip", "/toy.zip"]
