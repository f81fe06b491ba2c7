"""Runs the jobs of a sweep in this process, those that need the same rows one after the other."""

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.basic_launcher import BasicLauncher
from hydra.core.utils import JobReturn, JobStatus, run_job, setup_globals
from omegaconf import DictConfig, OmegaConf, open_dict, read_write
from omegaconf.errors import OmegaConfBaseException

from recgauge.utils.checks import check_int
from recgauge.utils.threads import usable_cpus

_OF_ROWS = (
    "dataset",
    "filters",
    "split",
    "candidates",
    "conventions",
    "ties",
    "metrics",
    "cutoffs",
    "guards",
    "seed",
    "fit_on",
    "evaluate_on",
    "tune",
    "data",
    "engine",
)
"""The settings that decide what a run has before its model is trained."""
_FOLDER = ("hydra.sweep.dir", "hydra.sweep.subdir")


class SweepLauncher(BasicLauncher):
    """Stands in for Hydra's own launcher, whose order of jobs loads the same data again and again."""

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Compose every job once, then run them, and return how they ended in the order they were given."""
        assert self.config is not None
        setup_globals()
        Path(str(self.config.hydra.sweep.dir)).mkdir(parents=True, exist_ok=True)
        configs = [
            self._composed(words, initial_job_idx + place) for place, words in enumerate(job_overrides)
        ]
        keys = [rows_key(config) for config in configs]
        n_workers = check_int("jobs", self.config.jobs, minimum=1)
        if n_workers == 1 or len(configs) == 1:
            self._one_after_the_other(configs, keys)
        else:
            self._side_by_side(configs, keys, n_workers)
        return [_returned(config) for config in configs]

    def _one_after_the_other(self, configs: Sequence[DictConfig], keys: Sequence[str]) -> None:
        from recgauge.app.sweep import shared  # takes a second to import

        assert self.task_function is not None
        assert self.hydra_context is not None
        order = grouped(keys)
        for place, job in enumerate(order):
            later = any(keys[other] == keys[job] for other in order[place + 1 :])
            with shared.while_needed(keys[job], needed_later=later):
                run_job(self.task_function, configs[job], *_FOLDER, self.hydra_context)

    def _side_by_side(self, configs: Sequence[DictConfig], keys: Sequence[str], n_workers: int) -> None:
        from recgauge.app.sweep.side_by_side import Process, SideBySide, has_memory
        from recgauge.app.sweep.watching import Watching

        assert self.hydra_context is not None
        assert self.task_function is not None
        for config in configs:
            with read_write(config):
                config.hydra.runtime.output_dir = str(
                    Path(config.hydra.sweep.dir, str(config.hydra.sweep.subdir)).absolute()
                )
        self.hydra_context.callbacks.on_job_start(config=configs[0], task_function=self.task_function)
        n_workers = min(n_workers, len(configs))
        hire = partial(Process, sys.argv[1:], max(1, usable_cpus() // n_workers))
        with Watching(configs) as watching:
            SideBySide(configs, keys, hire, n_workers, watching.ended, has_memory).run()

    def _composed(self, words: Sequence[str], number: int) -> DictConfig:
        assert self.config is not None
        assert self.hydra_context is not None
        config = self.hydra_context.config_loader.load_sweep_config(self.config, list(words))
        with open_dict(config):
            config.hydra.job.id = config.hydra.job.num = number
        return config


def _returned(config: DictConfig) -> JobReturn:
    """Return what Hydra's sweeper wants of a job; how it ended is in its outcome.json."""
    task = [str(word) for word in config.hydra.overrides.task]
    ended = JobReturn(overrides=task, status=JobStatus.COMPLETED)
    ended.return_value = None
    return ended


def rows_key(config: DictConfig) -> str:
    """Return a text that is equal for jobs whose data, split and candidates are the same.

    A job whose settings cannot be resolved has a key of its own: it says itself what is wrong.
    """
    try:
        plain: Any = {
            name: OmegaConf.to_container(config[name], resolve=True)
            if OmegaConf.is_config(config[name])
            else config[name]
            for name in _OF_ROWS
            if name in config
        }
    except OmegaConfBaseException:
        return f"job {config.hydra.job.num}"
    return json.dumps(plain, sort_keys=True, default=str)


def grouped(keys: Sequence[str]) -> list[int]:
    """Return the positions of all keys, equal ones together, in the order in which each is first seen.

    Examples
    --------
    >>> grouped(["a", "b", "a"])
    [0, 2, 1]
    """
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    return sorted(range(len(keys)), key=lambda place: first[keys[place]])
