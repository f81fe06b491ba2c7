"""The schema of a run's settings, the variables that a configuration may read, and a run's output folder."""

import os
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, read_write

from recgauge.cli.explain import explained
from recgauge.cli.words import weights_of
from recgauge.errors import ConfigError
from recgauge.runs.settings import RunSettings
from recgauge.runs.targets import TARGET
from recgauge.sweeps.places import experiment_of_user, program, store_of_user, work_folder
from recgauge.utils.current_folder import refuse_numba_file
from recgauge.utils.plain import from_plain

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


@contextmanager
def output_folder(config: DictConfig) -> Iterator[Path]:
    """Make the output folder of a run, which settings that refer to Hydra's own see from now on.

    It is the current folder meanwhile where ``hydra.job.chdir`` says so; a plan makes none.
    """
    HydraConfig.instance().set_config(config)
    folder = Path(os.path.normpath(Path.cwd() / config.hydra.run.dir))
    with read_write(config.hydra.runtime):
        config.hydra.runtime.output_dir = str(folder)
    if not config.plan:
        folder.mkdir(parents=True, exist_ok=True)
    with chdir(folder if config.hydra.job.chdir else "."):
        refuse_numba_file()
        yield folder


def typed_settings(config: DictConfig) -> RunSettings:
    """Return a composed configuration, with Hydra's part or without, as the settings of a run."""
    values: dict[str, Any] = {}
    with explained():
        for name in config.keys() - {"hydra"}:
            node = config[name]
            if OmegaConf.is_config(node):
                node = OmegaConf.to_container(node, resolve=True, throw_on_missing=True)
            values[str(name)] = node
    dataset = values.get("dataset")
    if isinstance(dataset, dict) and isinstance(text := dataset.get("weights"), str):
        dataset["weights"] = weights_of(text)
    if TARGET not in (values.get("tune") or {}):  # tune=off
        values["tune"] = None
    typed: RunSettings = from_plain(RunSettings, values, "settings")
    return typed


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
