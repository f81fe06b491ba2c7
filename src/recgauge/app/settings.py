"""What conf/config.yaml refers to: the schema of a run's settings, and what it asks of this machine."""

from dataclasses import fields
from functools import partial

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

from recgauge.app.places import program, store_of_user, work_folder
from recgauge.errors import ConfigError
from recgauge.runs.settings import RunSettings


def register_schema() -> None:
    """Make known to Hydra what conf/config.yaml refers to; the schema refuses unknown keys."""
    ConfigStore.instance().store(name="run_schema", node=RunSettings)
    register = partial(OmegaConf.register_new_resolver, replace=True)
    register("recgauge.work_folder", lambda name: str(work_folder() / name))
    register("recgauge.store_of_user", store_of_user)
    register("recgauge.program", program)


def typed_settings(config: DictConfig) -> RunSettings:
    """Return a composed configuration as the settings of a run.

    Raises
    ------
    ConfigError
        If it has a setting that does not exist.
    """
    known = [field.name for field in fields(RunSettings)]
    if unknown := [str(key) for key in config if key not in known]:
        raise ConfigError(f"{', '.join(unknown)}: there is no such setting. Settings: {', '.join(known)}.")
    settings = OmegaConf.to_object(config)
    if not isinstance(settings, RunSettings):
        raise ConfigError("conf/config.yaml: the defaults list must begin with run_schema.")
    return settings
