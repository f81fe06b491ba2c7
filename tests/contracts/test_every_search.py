"""Every file under conf/search/ is a space of its model's settings; the defaults lie inside."""

import re

import pytest
from omegaconf import OmegaConf

from finished import composed
from recgauge.errors import ConfigError
from recgauge.search.space import holds, parse_space, value_of
from recgauge.sweeps.compose import build_model, check_ready
from recgauge.sweeps.places import conf_folder
from recgauge.sweeps.tuning import check_space

NOTHING_TO_TUNE = {"popularity", "random", "random_rating", "recorded", "surprise_slope_one"}


def names(group):
    return sorted(path.stem for path in (conf_folder() / group).glob("*.yaml"))


def test_every_model_has_a_space_or_nothing_to_tune():
    assert set(names("search")) == set(names("model")) - NOTHING_TO_TUNE


@pytest.mark.parametrize("name", names("search"))
def test_a_space_is_of_settings_of_its_model_and_contains_the_defaults(name):
    config = OmegaConf.to_container(composed(f"model={name}"), resolve=True)
    space, model = parse_space(config["search"]), config["model"]
    assert {name.partition(".")[0] for name in space} <= set(model)
    values = {name: value_of(model, name) for name in space}
    # a setting that a library's YAML leaves to the library has no value here
    listed = {name: each for name, each in space.items() if "." not in name or values[name] is not None}
    assert holds(listed, values)
    try:
        check_ready(build_model(model, []))
    except ConfigError as error:  # of a library that is not there
        assert re.search("Install it with: pip install", str(error))  # noqa: PT017
        pytest.skip(str(error))
    check_space(space, model, [])
