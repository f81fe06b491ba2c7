"""Every file under conf/ composes and builds; nothing there needs a network or data to be built."""

from importlib.metadata import PackageNotFoundError, version

import pytest
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from omegaconf import OmegaConf

from recgauge.cli.settings import register_schema
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


def compose_config(*overrides):
    register_schema()
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        return hydra_compose("config", overrides=list(overrides), return_hydra_config=False)


def test_every_group_has_options():
    assert {group for group, _ in options(*GROUPED)} == set(GROUPED)


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
    check_composes(compose_config(f"{group}={choice}", *extra))


def check_composes(config):
    """Check that the settings build, or that a model whose library is not here says how to get it."""
    settings = OmegaConf.to_object(config)
    model = build_model(settings.model, [])
    if isinstance(model, Adapter) and not installed(model.library):
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


def installed(package):
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


@pytest.mark.parametrize(("group", "option"), options("experiment", "debug"))
def test_every_experiment_and_debug_file_composes(group, option):
    check_composes(compose_config(f"{group}={option}"))


@pytest.mark.parametrize(
    "path",
    sorted(conf_folder().glob("experiment/*/*.yaml")),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_every_part_of_an_experiment_builds_with_it_and_says_what_it_is(path):
    name = path.parent.name
    check_composes(compose_config(f"experiment={name}", f"+experiment/{name}={path.stem}"))
    assert path.read_text(encoding="utf-8").splitlines()[1].startswith("# ")
    grid = OmegaConf.load(path.parent.parent / f"{name}.yaml").hydra.sweeper.params
    assert path.stem in [option.strip() for option in grid[f"+experiment/{name}"].split(",")]


def test_the_suite_of_all_holds_every_metric_that_a_run_can_measure():
    experiment = compose(OmegaConf.to_object(compose_config("metrics=[all]", "model=biased_mf")))
    kinds = ("lists", "ratings", "full rankings")
    wanted = {metric.name for metric in standard_metrics().values() if metric.kind in kinds}
    found = {definition.metric.name for definition in experiment.metrics.values()}
    assert found == wanted, f"name in conf/metrics/all.yaml, or in a suite of it: {wanted - found}"


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_by_name_is_that_of_its_file(name):
    content = OmegaConf.to_container(OmegaConf.load(conf_folder() / "metrics" / f"{name}.yaml"))
    assert content == {metric: metric for metric in SUITES[name]}


def test_the_defaults_are_the_documented_ones():
    settings = OmegaConf.to_object(compose_config())
    experiment = compose(settings)
    assert type(experiment.dataset).__name__ == "Demo"
    assert type(experiment.model).__name__ == "SVD"
    assert experiment.cutoffs == (1, 5, 10, 20)
    assert experiment.seed == 0
    assert set(experiment.metrics) == {"precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg"}


@pytest.mark.parametrize(("group", "option"), options(*GROUPED, "experiment", "debug"))
def test_every_file_begins_with_a_comment_for_people(group, option):
    lines = (conf_folder() / group / f"{option}.yaml").read_text().splitlines()
    comments = [line for line in lines if line.startswith("# ") and not line.startswith("# @package")]
    assert comments, f"conf/{group}/{option}.yaml says nothing about itself"


@pytest.mark.parametrize("path", sorted(conf_folder().glob("experiment/*.yaml")), ids=lambda path: path.stem)
def test_an_experiment_names_the_command_that_runs_it(path):
    assert f"# recgauge run experiment={path.stem}" in path.read_text()
