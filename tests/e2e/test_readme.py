"""The README says what happens: its table is the run's, its code runs."""

import re

import pytest

from conftest import REPOSITORY

pytestmark = pytest.mark.e2e
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_the_table_is_that_of_its_command(workplace):
    table = re.search(r"<!-- table: python run.py -->\n(.*?)<!-- end -->", README, re.DOTALL).group(1)
    printed = [line.rstrip() for line in workplace.run("tracking=off").out.splitlines()]
    for line in table.splitlines():
        assert line.strip() in printed


def test_the_library_example_runs(capsys):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    exec(compile(code, "README.md", "exec"), {})
    assert "ndcg_at_10" in capsys.readouterr().out


def test_its_groups_and_options_exist():
    rows = re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", README, re.MULTILINE)
    assert rows
    for group, options in rows:
        for option in options.split(", "):
            assert (REPOSITORY / "conf" / group / f"{option}.yaml").exists(), (group, option)
