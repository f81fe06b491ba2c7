"""`recgauge.run`: one run by the words of the command line, and nothing else changed."""

import os
from pathlib import Path

import pytest
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

import recgauge
from recgauge.errors import ConfigError, RecgaugeError


def state():
    """What a run must leave as it was; threadpoolctl sets a variable of its own when it is imported."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("KMP_")}
    resolvers = [OmegaConf.has_resolver(name) for name in ("oc.env", "recgauge.program")]
    is_known = "run_schema.yaml" in ConfigStore.instance().repo
    hydra = GlobalHydra.instance().is_initialized(), HydraConfig.instance().cfg, is_known
    return variables, Path.cwd(), resolvers, hydra


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_words_and_keywords_give_a_run_with_numbers_lists_and_folder(tmp_path):
    before = state()
    result = recgauge.run("model.n_factors=8", "tracking=off", model="svd", dataset="demo", cutoffs=[5, 10])
    assert state() == before
    assert result.record.settings["model"]["n_factors"] == 8
    assert result.numbers.keys() >= {"ndcg_at_5", "ndcg_at_10"}
    assert result.folder.is_relative_to(tmp_path)
    assert set(result.lists().lists) == {"user", "item", "score"}
    assert f"{result.numbers['ndcg_at_10']:.4f}" in str(result)
    assert f"{result.numbers['ndcg_at_10']:.4f}" in result._repr_html_()
    again = recgauge.FinishedRun.read(str(result.folder))
    assert again.numbers == result.numbers


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["model=svd,bpr"], "recgauge.run runs one run. Call it for each value"),
        (["-m", "model=svd"], "options are for the command line"),
        (["plan=true"], "Leave hydra.mode and plan out"),
        (["model.nosuch=1"], "has no such setting"),
    ],
)
def test_words_that_make_no_run_are_refused(words, reason):
    before = state()
    with pytest.raises(ConfigError, match=reason):
        recgauge.run(*words, tracking="off")
    assert state() == before


def test_a_file_in_the_place_of_the_output_folder_is_an_error(tmp_path):
    (tmp_path / "results").touch()
    with pytest.raises(RecgaugeError, match=r"results: File exists.*hydra.run.dir=FOLDER"):
        recgauge.run("model=popularity", "tracking=off", "hydra.run.dir=results")


def test_a_run_that_fails_is_an_error():
    with pytest.raises(RecgaugeError, match="Nobody can be evaluated"):
        recgauge.run("dataset=demo", "model=popularity", "tracking=off", "dataset.relevant_from=6")
