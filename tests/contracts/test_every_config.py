"""Every file under conf/ composes and builds; nothing there needs a network or data to be built."""

import pytest
from omegaconf import OmegaConf

from finished import composed
from recgauge.conventions import standard_metrics
from recgauge.errors import ConfigError
from recgauge.metrics import SUITES
from recgauge.models.adapters import Adapter
from recgauge.models.isolated import Isolated
from recgauge.sweeps.compose import build_model, compose
from recgauge.sweeps.places import conf_folder

GROUPED = ("dataset", "filters", "split", "candidates", "model", "metrics", "conventions", "tracking")


def options(*groups):
    return [(group, path.stem) for group in groups for path in sorted((conf_folder() / group).glob("*.yaml"))]


@pytest.mark.parametrize(("group", "option"), options(*GROUPED))
def test_every_option_builds(group, option):
    choice = f"[{option}]" if group in ("metrics", "filters") else option
    content = OmegaConf.to_container(OmegaConf.load(conf_folder() / group / f"{option}.yaml"))
    settings = (
        content
        if group != "filters"
        else {f"{option}.{key}": value for key, value in content[option].items()}
    )
    extra = [f"{group}.{key}=given" for key, value in settings.items() if value == "???"]
    if option == "where":
        extra[-1] = "filters.where.values=[given]"
    if group == "candidates" and "path" in content:
        extra = ["candidates.path=items.txt"]
    if option == "recorded":
        extra = [f"model.path='{__file__}'"]  # a file that is there
    if group == "metrics" and option in ("all", "articles", "rating"):
        extra = ["model=biased_mf"]  # it ranks items and predicts ratings
    check_composes(composed(f"{group}={choice}", *extra))


def check_composes(config):
    """Check that the settings build, or that a model whose library is not here says how to get it."""
    settings = OmegaConf.to_object(config)
    model = build_model(settings.model, [])
    if isinstance(model, Adapter) and why_not_ready(model):
        with pytest.raises(ConfigError, match=rf"pip install 'recgauge\[{model.extra}\]'"):
            compose(settings)
    elif isinstance(model, Isolated) and why_not_ready(model):
        with pytest.raises(ConfigError, match="pip install 'recgauge\\[isolated\\]'"):
            compose(settings)
    else:
        compose(settings)


def why_not_ready(model):
    """Return why the model's environment cannot be used, None if it can."""
    try:
        model.check_ready()
    except ConfigError as error:
        return str(error)
    return None


@pytest.mark.parametrize(("group", "option"), options("experiment", "debug"))
def test_every_experiment_and_debug_file_composes(group, option):
    check_composes(composed(f"{group}={option}"))


@pytest.mark.parametrize(
    "path",
    sorted(conf_folder().glob("experiment/*/*.yaml")),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_every_part_of_an_experiment_builds_with_it_and_says_what_it_is(path):
    name = path.parent.name
    check_composes(composed(f"experiment={name}", f"+experiment/{name}={path.stem}"))
    assert path.read_text(encoding="utf-8").splitlines()[1].startswith("# ")
    grid = OmegaConf.load(path.parent.parent / f"{name}.yaml").hydra.sweeper.params
    assert path.stem in [option.strip() for option in grid[f"+experiment/{name}"].split(",")]


def test_the_suite_of_all_holds_every_metric_that_a_run_can_measure():
    experiment = compose(OmegaConf.to_object(composed("metrics=[all]", "model=biased_mf")))
    kinds = ("lists", "ratings", "full rankings")
    wanted = {metric.name for metric in standard_metrics().values() if metric.kind in kinds}
    found = {definition.metric.name for definition in experiment.metrics.values()}
    assert found == wanted, f"name in conf/metrics/all.yaml, or in a suite of it: {wanted - found}"


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_by_name_is_that_of_its_file(name):
    content = OmegaConf.to_container(OmegaConf.load(conf_folder() / "metrics" / f"{name}.yaml"))
    assert content == {metric: metric for metric in SUITES[name]}
