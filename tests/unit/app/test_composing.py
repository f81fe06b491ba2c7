"""Jobs of a sweep are composed from what they have in common, with exactly Hydra's result."""

import itertools

import hydra.version
import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.types import RunMode
from omegaconf import OmegaConf

from recgauge.app.hydra_checks import NOT_COMPOSED, checked_hydra
from recgauge.app.places import conf_folder
from recgauge.app.settings import register_schema
from recgauge.app.sweep.begin import grid_jobs


@pytest.fixture
def sweep():
    register_schema()
    hydra.version.setbase("1.3")
    GlobalHydra.instance().clear()
    with checked_hydra([]):
        made = Hydra.create_main_hydra2("sweep", create_config_search_path(str(conf_folder())))
        yield made.config_loader, made.compose_config("config", ["hydra.sweep.dir=here"], RunMode.MULTIRUN)
        GlobalHydra.instance().clear()


JOBS = [
    ["seed=1"],
    ["model=popularity", "seed=1"],
    ["model.n_factors=3", "model=svd", "cutoffs=[3,1]", "~model.n_factors"],
    ["+model.extra={a:1}", "seed=0", "dataset=ml_100k", "filters=[min_rating,n_core]", "seed=2"],
    ["metrics=[ndcg,rating]", "model=bias", "search=svd"],
    ["experiment=baselines", "+filters.again={_target_:recgauge.filters.n_core.NCore}"],
    ["debug=default", "tune=tpe", "hydra.sweep.subdir=x", "split=k_fold", "split.fold=${seed}"],
    ["data.limits.rows=5", "++data.limits.rows=6", "tracking.uri='sqlite:///a b.db'"],
]


@pytest.mark.parametrize("words", JOBS, ids=" ".join)
def test_a_job_is_what_hydra_composes(sweep, words):
    loader, master = sweep
    found = loader.load_sweep_config(master, words)
    loader._with_values = lambda *_: None  # so that all is done by Hydra
    expected = loader.compose_job(master, words)
    assert OmegaConf.to_container(found) == OmegaConf.to_container(expected)
    for key in ("", "hydra", "model", "data"):
        nodes = [OmegaConf.select(one, key) if key else one for one in (found, expected)]
        assert len({(OmegaConf.is_struct(node), OmegaConf.is_readonly(node)) for node in nodes}) == 1
        assert len({OmegaConf.get_type(node) for node in nodes}) == 1


def test_wrong_jobs_say_what_hydra_says(sweep):
    loader, master = sweep
    jobs = [
        ["model=nosuch"],
        ["model.nosuch=1"],
        ["seed=x"],
        ["hydra.callbacks={}", "seed=1,2"],
        ["metrics={a:b}"],
    ]
    for words in ([*own, "cutoffs=[3]"] for own in jobs):
        found = loader.load_sweep_config(master, words)
        loader_alone = loader._with_values
        loader._with_values = lambda *_: None
        assert found[NOT_COMPOSED] == loader.compose_job(master, words)[NOT_COMPOSED]
        loader._with_values = loader_alone


def test_files_are_merged_once_for_jobs_that_differ_in_values(sweep, monkeypatch):
    loader, master = sweep
    merged = []
    original = ConfigLoaderImpl._compose_config_from_defaults_list

    def counted(self, *arguments, **named):
        merged.append(1)
        return original(self, *arguments, **named)

    monkeypatch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", counted)
    for model, seed, _again in itertools.product(("random", "popularity"), range(5), range(3)):
        config = loader.load_sweep_config(master, [f"model={model}", f"seed={seed}"])
        assert config.seed == seed
    assert len(merged) == 2


def test_shuffled_jobs_are_planned_and_run_in_one_order(sweep):
    loader, master = sweep
    words = ["seed=shuffle(range(40))"]
    planned = grid_jobs(OmegaConf.merge(master, {"hydra": {"overrides": {"task": words}}}))
    sweeper = Plugins.instance().class_name_to_class[master.hydra.sweeper["_target_"]]
    ran = sweeper.split_arguments(OverridesParser.create(loader).parse_overrides(words), max_batch_size=7)
    assert [job for batch in ran for job in batch] == planned
    assert sorted(planned) == sorted([f"seed={seed}"] for seed in range(40))
    assert [len(batch) for batch in ran] == [7, 7, 7, 7, 7, 5]
