"""The sweeper of recgauge's sweeps, where Hydra looks for plugins."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.errors import HydraException
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

__all__ = ["RecgaugeSweeper"]


class RecgaugeSweeper(Sweeper):
    """Makes every combination of what is swept, as ``hydra/sweeper=basic`` does.

    Hydra's own composes all jobs to see whether they can be composed; the launcher then composes them again,
    and names those that cannot run. A third of a small job's time went there.
    """

    def __init__(self, max_batch_size: int | None = None, params: Mapping[str, Any] | None = None) -> None:
        self.max_batch_size, self.params = max_batch_size, params or {}

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Take what Hydra gives, and make the launcher."""
        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> list[list[JobReturn]]:
        """Give all jobs to the launcher, in batches if `max_batch_size` says so."""
        if self.hydra_context is None or self.config is None or self.launcher is None:
            raise RuntimeError("RecgaugeSweeper.sweep comes after setup.")
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        declared = [f"{name}={value}" for name, value in self.params.items()]
        words = parser.parse_overrides([*declared, *arguments])
        # a setting that is typed stands in the place, but not with the value, of a declared one
        values = {word.get_key_element(): _values(word) for word in words}
        jobs = [list(job) for job in product(*values.values())]
        if not jobs:
            empty = next(word for word in words if not _values(word))
            raise HydraException(f"{empty.input_line}: gives no value, so there is no job to run")
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self.config, folder / "multirun.yaml")
        size = len(jobs) if self.max_batch_size is None else self.max_batch_size
        if size < 1:
            raise HydraException(f"hydra.sweeper.max_batch_size: must be 1 or more, got {size}")
        return [
            list(self.launcher.launch(jobs[first : first + size], initial_job_idx=first))
            for first in range(0, len(jobs), size)
        ]


def _values(word: Override) -> list[str]:
    """Return the words that a word of the command line stands for."""
    key = word.get_key_element()
    if not word.is_sweep_override():
        return [f"{key}={word.get_value_element_as_str()}"]
    if not word.is_discrete_sweep():
        raise HydraException(f"{word.input_line}: an interval needs a sweeper that searches, or tune=tpe")
    return [f"{key}={value}" for value in word.sweep_string_iterator()]
