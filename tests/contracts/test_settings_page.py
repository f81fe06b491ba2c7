"""docs/settings.md is that of conf/, and leaves out no setting."""

import re

import pytest
from omegaconf import OmegaConf

from conftest import REPOSITORY
from settings_page import read_option, settings_page

CONF = REPOSITORY / "conf"
GROUPS_WITH_SETTINGS = ("dataset", "filters", "split", "candidates", "model", "tune", "tracking")
PAGE = (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8")


def test_page_is_up_to_date():
    assert settings_page(CONF) == PAGE, "run: make docs"


@pytest.mark.parametrize("group", GROUPS_WITH_SETTINGS)
def test_every_setting_of_a_group_has_its_row_and_says_what_it_means(group):
    for path in (CONF / group).glob("*.yaml"):
        option = read_option(path)
        assert option.about, path
        keys = leaves(OmegaConf.to_container(OmegaConf.load(path), resolve=False))
        named = {row.name for row in option.settings}
        for key in keys:
            if key.split(".")[-1] not in ("_target_", "name", "defaults"):
                assert key in named or any(key.startswith(f"{one}.") for one in named), (path, key)
        for row in option.settings:
            assert f"| `{group}.{row.name}` |" in PAGE
            assert row.meaning, (path, row.name)


def leaves(tree, prefix=""):
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def test_every_group_of_the_folder_is_on_the_page():
    groups = {path.parent.relative_to(CONF).as_posix() for path in CONF.glob("**/*.yaml")} - {"."}
    titles = set(re.findall(r"^## ([\w/]+)$", PAGE, re.MULTILINE))
    assert titles == {group for group in groups if not group.startswith("experiment/")}
