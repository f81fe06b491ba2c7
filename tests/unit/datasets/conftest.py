import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from unit.datasets.faulty_server import FaultyServer


def write_zip(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def make_zip(tmp_path):
    def make(members: Mapping[str, bytes], name: str = "made.zip") -> Path:
        return write_zip(tmp_path / name, members)

    return make


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.fixture
def server():
    """A server that can be told to fail."""
    running = FaultyServer()
    yield running
    running.stop()
