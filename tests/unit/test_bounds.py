"""The oldest versions that are tested are exactly those that are promised."""

import re
import tomllib

from conftest import REPOSITORY


def test_the_lowest_constraints_are_the_bounds_of_the_project():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = project["dependencies"] + project["optional-dependencies"]["test"]
    bounds = {re.fullmatch(r"([\w-]+)>=([\d.]+)(,<[\d.]+)?", line).expand(r"\1==\2") for line in promised}
    lines = (REPOSITORY / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    assert {line for line in lines if not line.startswith("#")} == bounds
