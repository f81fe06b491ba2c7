"""What conf/config.yaml refers to: the schema of a run's settings, and what it asks of this machine."""

from dataclasses import fields
from functools import partial
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

from recgauge.cli.trusted import restrict_variables
from recgauge.errors import ConfigError
from recgauge.runs.settings import RunSettings
from recgauge.sweeps.places import program, store_of_user, work_folder


def register_schema() -> None:
    """Make known to Hydra what conf/config.yaml refers to; the schema refuses unknown keys."""
    ConfigStore.instance().store(name="run_schema", node=RunSettings)
    register = partial(OmegaConf.register_new_resolver, replace=True)
    register("recgauge.work_folder", lambda name: str(work_folder() / name))
    register("recgauge.store_of_user", store_of_user)
    register("recgauge.program", program)
    restrict_variables()


def typed_settings(config: DictConfig) -> RunSettings:
    """Return a composed configuration, with Hydra's part or without, as the settings of a run."""
    known = [field.name for field in fields(RunSettings)]
    if unknown := [str(key) for key in config if key not in (*known, "hydra")]:
        raise ConfigError(f"{', '.join(unknown)}: there is no such setting. Settings: {', '.join(known)}.")
    values: dict[str, Any] = {name: config[name] for name in known}
    for name, node in values.items():
        values[name] = OmegaConf.to_object(node) if OmegaConf.is_config(node) else node
    return RunSettings(**values)
