"""Every file under conf/search/ is a space of its model's settings; the defaults lie inside."""

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from recgauge.app.places import conf_folder
from recgauge.app.settings import register_schema
from recgauge.app.tune import check_space
from recgauge.search.space import holds, parse_space

NOTHING_TO_TUNE = {"popularity", "random", "random_rating", "recorded", "slope_one"}


def names(group):
    return sorted(path.stem for path in (conf_folder() / group).glob("*.yaml"))


@pytest.fixture(scope="module", autouse=True)
def configuration():
    register_schema()
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        yield


def test_every_model_has_a_space_or_nothing_to_tune():
    assert set(names("search")) == set(names("model")) - NOTHING_TO_TUNE


@pytest.mark.parametrize("name", names("search"))
def test_a_space_is_of_settings_of_its_model_and_contains_the_defaults(name):
    config = OmegaConf.to_container(compose("config", [f"model={name}"]), resolve=True)
    space, model = parse_space(config["search"]), config["model"]
    assert set(space) <= set(model)
    assert holds(space, model)
    check_space(space, model, [])
