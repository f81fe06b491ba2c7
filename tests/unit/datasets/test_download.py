import hashlib
import os
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from recgauge.datasets import archives
from recgauge.datasets.archives import find_archive
from recgauge.datasets.published_files import PUBLISHED, Locations, PublishedFile
from recgauge.errors import IntegrityError, MissingDataError
from unit.datasets.faulty_server import (
    FaultyServer,
    cut_after,
    endless,
    silence,
    status,
    trickle,
    write_certificate,
    wrong_bytes,
)

HASTE = {"CONNECT": 2, "SILENCE": 0.5, "WAITS": (0.01, 0.02)}


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
    assert listing(tmp_path / "cache") == [".toy.zip.lock", "toy.zip"]


def test_passing_trouble_is_waited_for(fetch, server, content, progress):
    server.faults += [cut_after(100_000), status(503)]
    assert fetch().path.read_bytes() == content
    assert "failed (IncompleteRead(100000 bytes read" in progress.notes[0]
    assert "answered 503 " in progress.notes[1]


def test_server_that_always_cuts_is_given_up_and_nothing_is_kept(fetch, server, tmp_path):
    server.faults += [cut_after(100_000)] * 20
    with pytest.raises(MissingDataError, match="100000 bytes read"):
        fetch()
    assert len(server.requests) == 3
    assert listing(tmp_path / "cache") == [".toy.zip.lock"]


def test_what_a_killed_job_has_left_is_not_used(fetch, content, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / ".toy.zip.part").write_bytes(content + b"x")
    assert fetch().path.read_bytes() == content


def test_silence_is_not_waited_for_for_ever(fetch, server, content, progress):
    server.faults += [silence]
    assert fetch().path.read_bytes() == content
    assert "timed out" in progress.notes[0]


def test_wrong_bytes_are_refused_and_not_kept(fetch, server, tmp_path):
    server.faults += [wrong_bytes]
    with pytest.raises(IntegrityError, match="it is not a whole zip archive") as caught:
        fetch()
    assert f"publisher {server.address}/toy.zip is not the publisher's toy.zip" in str(caught.value)
    assert "Nothing was stored" in str(caught.value)
    assert listing(tmp_path / "cache") == [".toy.zip.lock"]


@pytest.mark.parametrize(
    "fault",
    [endless(), endless(chunked=True), endless(length=10**30)],
    ids=["no length", "chunked", "a lie"],
)
def test_server_that_sends_too_much_is_cut_off(fetch, server, content, tmp_path, fault):
    server.faults += [fault] * 9
    with pytest.raises(IntegrityError, match=f"at most {len(content):,} are taken; nothing was kept"):
        fetch()
    assert len(server.requests) == 1
    assert server.n_sent < len(content) + (64 << 20)  # what fits into the network's buffers
    assert listing(tmp_path / "cache") == [".toy.zip.lock"]


@pytest.mark.parametrize("name", ["toy.zip", "SHA256SUMS"])
def test_pipe_in_a_mirror_is_refused(fetch, tmp_path, name):
    os.mkfifo(tmp_path / name)
    if name != "toy.zip":
        (tmp_path / "toy.zip").write_bytes(b"")
    with pytest.raises(MissingDataError, match=f"{name} is not a regular file but a pipe"):
        fetch(mirror=str(tmp_path))


def test_wrong_file_of_a_mirror_is_told_and_the_next_place_asked(fetch, server, content, progress):
    server.files["/mirror/toy.zip"] = b"PK\x03\x04 other"
    found = fetch(mirror=[f"{server.address}/absent", f"{server.address}/mirror/"])
    assert found.path.read_bytes() == content
    assert server.requests == ["/absent/toy.zip", "/mirror/toy.zip", "/toy.zip"]
    assert "mirror" in progress.notes[0]
    assert "not a whole zip archive" in progress.notes[0]


def test_a_certificate_of_nobody_is_not_accepted(fetch, content, tmp_path):
    secure = FaultyServer(write_certificate(tmp_path / "server.pem"))
    secure.files["/toy.zip"] = content
    try:
        with pytest.raises(MissingDataError, match="self-signed") as caught:
            fetch(address=secure.address)
    finally:
        secure.stop()
    message = str(caught.value)
    assert "the certificate of 127.0.0.1 is not accepted" in message
    assert f"curl --insecure -O {secure.address}/toy.zip" in message
    assert secure.requests == []


def test_parallel_jobs_fetch_once(fetch, server, content):
    server.faults += [trickle(20_000, 0.01)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: fetch(), range(3)))
    assert [each.path.read_bytes() for each in found] == [content] * 3
    assert len(server.requests) == 1
