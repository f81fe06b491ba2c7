"""Settings of the ``recgauge data`` commands: the same names and overrides as of a run."""

from collections.abc import Sequence
from difflib import get_close_matches

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.compose import build_dataset
from recgauge.app.hydra_checks import checked_hydra
from recgauge.app.main import forget_empty_variables
from recgauge.app.settings import RunSettings, conf_folder, register_schema
from recgauge.app.targets import TARGET, allowed_packages, find_class
from recgauge.app.terminal.explain import Choices, explain_config_error, group_options
from recgauge.datasets import About, DatasetSource
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
        near = get_close_matches(name, options, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise ConfigError(f"{name}: there is no such data set. {hint}Data sets: {', '.join(options)}.")
    forget_empty_variables()
    register_schema()
    words = [f"dataset={name}", *overrides]
    try:
        with checked_hydra(words), initialize_config_dir(str(conf_folder()), version_base="1.3"):
            settings = OmegaConf.to_object(compose("config", overrides=words))
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain_config_error(error, Choices(words))) from error
    if not isinstance(settings, RunSettings):
        raise ConfigError("conf/config.yaml: the defaults list must begin with run_schema.")
    return settings


def source_of(settings: RunSettings) -> DatasetSource:
    """Build the data set's source."""
    return build_dataset(settings.dataset, settings.allowed_targets)


def what_is_known(allowed_targets: Sequence[str]) -> dict[str, About]:
    """Return the facts about each data set with a config file, the smallest first, unknown sizes last.

    Parameters
    ----------
    allowed_targets : sequence of str
        Packages whose classes may be used.

    Raises
    ------
    ConfigError
        If a file names no such class.
    """
    packages, found = allowed_packages(allowed_targets), {}
    for name in group_options("dataset"):
        file = conf_folder() / "dataset" / f"{name}.yaml"
        target, own_name = (OmegaConf.select(OmegaConf.load(file), key) for key in (TARGET, "name"))
        source = find_class(target, str(file), packages)
        found[name] = source.about(own_name) if issubclass(source, DatasetSource) else About()
    known = sorted(found.items(), key=lambda one: (one[1].n_rows is None, one[1].n_rows or 0, one[0]))
    return dict(known)
