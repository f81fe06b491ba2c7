"""The launcher of recgauge's sweeps, where Hydra looks for plugins."""

from collections.abc import Sequence
from typing import Any

from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

__all__ = ["RecgaugeLauncher"]


class RecgaugeLauncher(Launcher):
    """Gets all jobs of a sweep at once, and gives them to `recgauge.cli.launching.launch`."""

    def __init__(self, engine: str = "here", **settings: Any) -> None:
        self.engine, self.settings = engine, settings

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Take what Hydra gives; recgauge's jobs need no task function."""
        del task_function
        self.context, self.config = hydra_context, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run a sweep, whose jobs all ended well if it returns."""
        del initial_job_idx  # the sweeper gives out all jobs at once
        from recgauge.cli.launching import launch  # takes a second, and every Hydra program looks here

        load = self.context.config_loader.load_sweep_config
        launch(self.config, job_overrides, load, self.engine, self.settings)
        return [JobReturn(status=JobStatus.COMPLETED) for _ in job_overrides]
