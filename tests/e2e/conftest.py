"""Folders to run the program in."""

import pytest

from e2e.program import Workplace


@pytest.fixture
def workplace(tmp_path) -> Workplace:
    return Workplace(tmp_path)


@pytest.fixture(scope="module")
def shared_workplace(tmp_path_factory) -> Workplace:
    return Workplace(tmp_path_factory.mktemp("workplace"))
