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
        """Run a sweep, or a batch of it, and return what each job gave to a sweeper that searches."""
        from recgauge.cli.launching import launch  # takes a second, and every Hydra program looks here

        load = self.context.config_loader.load_sweep_config
        values = launch(self.config, job_overrides, load, initial_job_idx, self.engine, self.settings)
        returns = [JobReturn(status=JobStatus.COMPLETED) for _ in values]
        for job, value in zip(returns, values, strict=True):
            job.return_value = value
        return returns
