"""Finished runs for tests, made in this process without tracking."""

from dataclasses import asdict
from pathlib import Path

from hydra import compose as hydra_compose
from hydra import initialize_config_dir

from recgauge.cli.settings import register_schema, typed_settings
from recgauge.experiment import run_experiment
from recgauge.runs.record import RunRecord
from recgauge.sweeps.artifacts import write_run
from recgauge.sweeps.compose import compose
from recgauge.sweeps.places import conf_folder
from recgauge.utils.progress import NoProgress


def finished(folder: Path, model: str, *words: str) -> Path:
    """Run a model, on the demo data unless `words` say otherwise, and write what a run writes."""
    register_schema()
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        config = hydra_compose("config", [f"model={model}", *words])
    settings = typed_settings(config)
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
    folder.mkdir(parents=True)
    write_run(result, RunRecord.from_result(result, names=names, **about), settings, folder, NoProgress())
    return folder
