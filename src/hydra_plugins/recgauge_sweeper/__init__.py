"""The sweeper of recgauge's sweeps, where Hydra looks for plugins."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

from recgauge.errors import ConfigError

__all__ = ["RecgaugeSweeper"]


class RecgaugeSweeper(Sweeper):
    """Makes every combination of what is swept, as ``hydra/sweeper=basic`` does.

    Hydra's own composes all jobs to see whether they can be composed; the launcher then composes them again,
    and names those that cannot run. A third of a small job's time went there.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        self.params = params or {}

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Take what Hydra gives, and make the launcher."""
        self._loader, self._settings = hydra_context.config_loader, config
        self._launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> list[list[JobReturn]]:
        """Give all jobs to the launcher."""
        from recgauge.cli.explain import explained  # every Hydra program looks here

        parser = OverridesParser.create(config_loader=self._loader)
        declared = [f"{name}={value}" for name, value in self.params.items()]
        with explained():
            words = parser.parse_overrides([*declared, *arguments])
        # a setting that is typed stands in the place, but not with the value, of a declared one
        values = {word.get_key_element(): _values(word) for word in words}
        jobs = [list(job) for job in product(*values.values())]
        if not jobs:
            empty = next(word for word in words if not _values(word))
            raise ConfigError(f"{empty.input_line}: gives no value, so there is no job to run")
        folder = Path(self._settings.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self._settings, folder / "multirun.yaml")
        return [list(self._launcher.launch(jobs, initial_job_idx=0))]


def _values(word: Override) -> list[str]:
    """Return the words that a word of the command line stands for."""
    key = word.get_key_element()
    if not word.is_sweep_override():
        return [f"{key}={word.get_value_element_as_str()}"]
    if not word.is_discrete_sweep():
        raise ConfigError(f"{word.input_line}: an interval is nothing to sweep; tune=tpe searches one")
    return [f"{key}={value}" for value in word.sweep_string_iterator()]
