"""Finished runs for tests, made in this process without tracking."""

from dataclasses import asdict
from pathlib import Path

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from recgauge.cli.settings import register_schema, typed_settings
from recgauge.experiment import Experiment, run_experiment
from recgauge.runs.folder import unfinished
from recgauge.runs.record import RunRecord
from recgauge.sweeps.artifacts import write_run
from recgauge.sweeps.compose import compose
from recgauge.sweeps.places import conf_folder


def composed(*overrides: str) -> DictConfig:
    """Return what the command line would make of these words."""
    register_schema()
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        return hydra_compose("config", [*overrides])


def experiment_of(*overrides: str) -> Experiment:
    """Return the experiment of these words."""
    return compose(OmegaConf.to_object(composed(*overrides)))


def finished(folder: Path, model: str, *words: str) -> Path:
    """Run a model, on the demo data unless `words` say otherwise, and write what a run writes."""
    settings = typed_settings(composed(f"model={model}", *words))
    result = run_experiment(compose(settings))
    names = {
        "dataset": result.dataset.name,
        "split": result.split.name,
        "candidates": "all",
        "model": model,
        "conventions": "standard",
    }
    about = {"seed": settings.seed, "command": "", "settings": asdict(settings), "environment": {}}
    folder = folder / f"{model}{settings.seed}"
    with unfinished(folder) as hidden:
        write_run(result, RunRecord.from_result(result, names=names, **about), settings, hidden)
    return folder
