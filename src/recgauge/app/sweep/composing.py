"""Composes every job of a sweep once, and what jobs have in common once for all of them."""

import pickle  # noqa: TID251 - in memory alone
from collections.abc import Sequence
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl, get_overrides_dirname
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from recgauge.errors import ConfigError
from recgauge.utils.checks import check_int


def settings_of(config: DictConfig) -> DictConfig:
    """Return a copy of a job's configuration without Hydra's part."""
    own: DictConfig = pickle.loads(pickle.dumps(config))  # a third of the time of a deep copy
    with open_dict(own):
        del own["hydra"]
    return own


_split_arguments = BasicSweeper.split_arguments
_grid: dict[tuple[str, ...], list[list[str]]] = {}


def grid(overrides: list[Override], max_batch_size: int | None = None) -> list[list[list[str]]]:
    """Return the words of every job of a sweep, in batches; who asks again gets the same jobs.

    Hydra's own function, which this one stands in for, draws another order of ``seed=shuffle(...)`` each time
    that it is asked: the jobs that run would not be those that were planned.
    """
    if max_batch_size is not None:
        check_int("hydra.sweeper.max_batch_size", max_batch_size, minimum=1)
    words = tuple(str(one.input_line) for one in overrides)
    if words not in _grid:
        _grid.clear()  # a process has one sweep at a time
        _grid[words] = _split_arguments(overrides, None)[0]
    jobs = _grid[words]
    size = max_batch_size or len(jobs)
    return [jobs[first : first + size] for first in range(0, len(jobs), size)]


class JobLoader(ConfigLoaderImpl):
    """Hydra's loader, which would read and merge the same files again for each job, three times over.

    Jobs that choose the same options differ in single values alone, such as seeds. Their files are merged
    once; each job gets a copy with its values. Whatever that cannot do, Hydra does: a job that is wrong in
    some way is composed by Hydra itself, whose errors are explained.
    """

    def __init__(self, config_search_path: Any) -> None:
        super().__init__(config_search_path)
        self._parser = OverridesParser.create()
        self._parsed: dict[str, Override] = {}
        self._merged: dict[tuple[str, ...], bytes] = {}
        self._jobs: dict[tuple[str, ...], bytes] = {}
        self._composes_job = False

    def parsed(self, words: Sequence[str]) -> list[Override]:
        """Return what the words of a command line mean; each word is parsed once."""
        for word in words:
            if word not in self._parsed:
                self._parsed[word] = self._parser.parse_overrides([word])[0]
        return [self._parsed[word] for word in words]

    def load_sweep_config(self, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        """Return the configuration of a job; who asks again gets an equal one.

        Parameters
        ----------
        master_config : DictConfig
            Of the sweep.
        sweep_overrides : list of str
            The words of the job.
        """
        words = tuple(sweep_overrides)
        if words not in self._jobs:
            # pickled, a configuration takes 17 kB, as an object more than a hundred times as much
            self._jobs[words] = pickle.dumps(self.compose_job(master_config, list(words)))
        config: DictConfig = pickle.loads(self._jobs[words])
        OmegaConf.copy_cache(from_config=master_config, to_config=config)  # its times, for one
        return config

    def compose_job(self, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        """Compose the configuration of a job."""
        self._composes_job = True
        try:
            return super().load_sweep_config(master_config, sweep_overrides)
        finally:
            self._composes_job = False

    def _load_configuration_impl(
        self, config_name: str | None, overrides: list[str], run_mode: RunMode, *rest: Any, **named: Any
    ) -> DictConfig:
        if self._composes_job:
            try:
                found = self._with_values(config_name, overrides, run_mode)
            except ConfigError:
                raise
            except Exception:  # composed by Hydra, the job says what is wrong with it
                found = None
            if found is not None:
                return found
        return super()._load_configuration_impl(config_name, overrides, run_mode, *rest, **named)

    def _with_values(self, name: str | None, words: Sequence[str], mode: RunMode) -> DictConfig | None:
        """Return the configuration with the options of these words, then with their values."""
        parsed = self.parsed(words)
        self.validate_sweep_overrides_legal(parsed, run_mode=mode, from_shell=True)
        values = [one for one in parsed if self._sets_value(one)]
        options = tuple(str(one.input_line) for one in parsed if not any(one is other for other in values))
        if options not in self._merged:
            merged = super()._load_configuration_impl(name, list(options), mode)
            self._merged[options] = pickle.dumps(merged)
        config: DictConfig = pickle.loads(self._merged[options])
        if config.hydra.searchpath:  # its folders may have groups that `_sets_value` does not know
            return None
        self._apply_overrides_to_config(values, config)
        task = [one for one in parsed if not one.is_hydra_override()]
        config.hydra.overrides.task = [one.input_line for one in task]
        shown = OmegaConf.to_container(config.hydra.job.config.override_dirname)
        assert isinstance(shown, dict)
        config.hydra.job.override_dirname = get_overrides_dirname(
            task, **{str(key): value for key, value in shown.items()}
        )
        return config

    def _sets_value(self, word: Override) -> bool:
        """Whether a word sets a value of the merged files, rather than choosing among the files."""
        if word.is_hydra_override() or word.package is not None:
            return False
        return isinstance(word.value(), dict) or not self.repository.group_exists(str(word.key_or_group))
