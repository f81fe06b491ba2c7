"""The schema of a run's settings, and the variables that a configuration may read."""

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, read_write

from recgauge.errors import ConfigError, did_you_mean
from recgauge.runs.settings import RunSettings
from recgauge.runs.targets import TARGET
from recgauge.sweeps.places import experiment_of_user, program, store_of_user, work_folder

READABLE = "RECGAUGE_"
"""How the names of the variables begin that a configuration may read."""


def register_schema() -> None:
    """Register the schema, which refuses unknown keys, and the resolvers of conf/config.yaml."""
    ConfigStore.instance().store(name="run_schema", node=RunSettings)
    register = partial(OmegaConf.register_new_resolver, replace=True)
    register("recgauge.work_folder", lambda name: str(work_folder() / name))
    register("recgauge.store_of_user", store_of_user)
    register("recgauge.experiment_of_user", experiment_of_user)
    register("recgauge.program", program)
    register("oc.env", _read_variable)  # so that none of the user's variables gets out


def set_output_folder(config: DictConfig) -> Path:
    """Return the output folder of a run, which settings that refer to Hydra's own see from now on."""
    HydraConfig.instance().set_config(config)
    folder = Path(os.path.normpath(Path.cwd() / config.hydra.run.dir))
    with read_write(config.hydra.runtime):
        config.hydra.runtime.output_dir = str(folder)
    return folder


def typed_settings(config: DictConfig) -> RunSettings:
    """Return a composed configuration, with Hydra's part or without, as the settings of a run."""
    names = [field.name for field in fields(RunSettings)]
    if unknown := [str(key) for key in config if key not in (*names, "hydra")]:
        raise ConfigError(f"{', '.join(unknown)}: there is no such setting. Settings: {', '.join(names)}.")
    for name, default in vars(RunSettings()).items():
        if is_dataclass(default):
            _check_keys(config[name], default, name)
    values: dict[str, Any] = {name: config[name] for name in names}
    for name, node in values.items():
        values[name] = OmegaConf.to_object(node) if OmegaConf.is_config(node) else node
    if TARGET not in (values["tune"] or {}):  # tune=off
        values["tune"] = None
    return RunSettings(**values)


def _check_keys(node: Any, default: Any, path: str) -> None:
    """Refuse keys that a group of root settings does not have: an added one opens its schema."""
    settings = vars(default) if is_dataclass(default) else default
    for key in node:
        if key not in settings:
            raise ConfigError(
                f"{path}.{key}: there is no such setting. {did_you_mean(str(key), settings)}{path} has "
                f"{', '.join(settings)}."
            )
        if isinstance(settings[key], Mapping):
            _check_keys(node[key], settings[key], f"{path}.{key}")


def _read_variable(name: str, *default: Any) -> str | None:
    """Answer ``${oc.env:NAME}`` for recgauge's own variables alone; an empty one counts as not set."""
    if not str(name).startswith(READABLE):
        raise ConfigError(
            f"a configuration may only read environment variables that begin with {READABLE}, got {name}"
        )
    if value := os.environ.get(name):
        return value
    if not default:
        raise ConfigError(f"the environment variable {name} is not set")
    return None if default[0] is None else str(default[0])
