"""The README says what happens: its table is the run's, its code runs."""

import re

import pytest

from conftest import REPOSITORY

pytestmark = pytest.mark.e2e
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_the_table_is_that_of_its_command(workplace):
    table = re.search(r"<!-- table: python run.py -->\n(.*?)<!-- end -->", README, re.DOTALL).group(1)
    printed = [line.rstrip() for line in workplace.run_fresh("tracking=off").out.splitlines()]
    for line in table.splitlines():
        assert line.strip() in printed


def test_the_library_example_runs(capsys):
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    exec(compile(code, "README.md", "exec"), {})
    assert "ndcg_at_10" in capsys.readouterr().out


def test_its_groups_and_options_are_those_of_the_program():
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", README, re.MULTILINE))
    assert len(rows) >= 9
    for group, options in rows.items():
        there = {path.stem for path in (REPOSITORY / "conf" / group).glob("*.yaml")}
        # the articles' conventions are told of in words
        assert set(options.split(", ")) == {name for name in there if not name.startswith("article_")}, group


def test_every_page_is_named_and_every_link_leads_somewhere():
    pages = sorted((REPOSITORY / "docs").glob("*.md"))
    assert all(f"](docs/{page.name}" in README for page in pages)
    for page in (REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *pages):
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
