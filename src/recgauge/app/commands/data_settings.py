"""Settings of the ``recgauge data`` commands: the same names and overrides as of a run."""

import sys
from collections.abc import Sequence

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.compose import build_dataset
from recgauge.app.hydra_checks import checked_hydra
from recgauge.app.main import forget_empty_variables
from recgauge.app.settings import RunSettings, conf_folder, register_schema
from recgauge.app.terminal.explain import explain_config_error, group_options
from recgauge.datasets import DatasetSource
from recgauge.errors import ConfigError


def read_settings(name: str, overrides: Sequence[str]) -> RunSettings:
    """Compose the settings of a data set.

    Parameters
    ----------
    name : str
        The data set, as in ``dataset=NAME``.
    overrides : sequence of str
        As on the command line of a run: ``split=random``, ``dataset.path=ratings.csv``.

    Raises
    ------
    ConfigError
        If there is no such data set, group, option or setting.
    """
    options = group_options("dataset")
    if name not in options:
        raise ConfigError(f"{name}: there is no such data set. Data sets: {', '.join(options)}.")
    forget_empty_variables()
    register_schema()
    words = [f"dataset={name}", *overrides]
    try:
        with checked_hydra(words), initialize_config_dir(str(conf_folder()), version_base="1.3"):
            settings = OmegaConf.to_object(compose("config", overrides=words))
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(_explained(error, words)) from error
    if not isinstance(settings, RunSettings):
        raise ConfigError("conf/config.yaml: the defaults list must begin with run_schema.")
    return settings


def _explained(error: Exception, words: list[str]) -> str:
    given = sys.argv
    sys.argv = ["recgauge data", *words]  # where the explanation looks for what was chosen
    try:
        return explain_config_error(error)
    finally:
        sys.argv = given


def source_of(settings: RunSettings) -> DatasetSource:
    """Build the data set's source."""
    return build_dataset(settings.dataset, settings.allowed_targets)
