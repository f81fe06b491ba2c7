"""Checks every configuration that Hydra composes before Hydra acts on it, since it can name code to run."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from hydra._internal import hydra as hydra_program
from hydra._internal.config_repository import CachingConfigRepository
from hydra._internal.utils import get_args_parser
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict, read_write
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.names import check_single
from recgauge.app.places import program
from recgauge.app.sweep.clusters import check_typed
from recgauge.app.sweep.composing import JobLoader, grid
from recgauge.app.sweep.launcher import SweepLauncher
from recgauge.app.targets import TARGET, allowed_packages, check_plain, installed_options
from recgauge.app.terminal.explain import Choices, check_assignments, explain_config_error, own_folder
from recgauge.errors import ConfigError

READABLE = ("RECGAUGE_", "MLFLOW_TRACKING_URI")
"""What the names of environment variables begin with that a configuration may read."""
NOT_COMPOSED = "not_composed"
"""Key of a job that runs only to say why its settings cannot be composed."""
_CALLBACKS = {"sweep": {TARGET: "recgauge.app.main.SweepSummary"}}
_BASIC = {
    "launcher": "hydra._internal.core_plugins.basic_launcher.BasicLauncher",
    "sweeper": "hydra._internal.core_plugins.basic_sweeper.BasicSweeper",
}
_LOGGING_KEYS = {"version", "root", "disable_existing_loggers"}
_NO_VARIABLES = (
    "a configuration may not set environment variables, which decide what other programs do. Set them in the "
    "shell."
)
_PROGRAM: Any = hydra_program  # where Hydra looks up the class of its loader; there is no setting for it


@contextmanager
def checked_hydra(overrides: Sequence[str]) -> Iterator[None]:
    """Let Hydra, while the context is open, compose only configurations that are safe to act on.

    Parameters
    ----------
    overrides : sequence of str
        What the user typed. Only here may ``allowed_targets`` be set: a file that someone else wrote must not
        say whose code is trusted.
    """
    typed = OverridesParser.create().parse_overrides(list(overrides))
    OmegaConf.register_new_resolver("oc.env", _read_variable, replace=True)
    original, plugins = _PROGRAM.ConfigLoaderImpl, Plugins.instance().class_name_to_class
    basic: Any = plugins[_BASIC["launcher"]]
    sweeper: Any = plugins[_BASIC["sweeper"]]
    split = sweeper.split_arguments
    _PROGRAM.ConfigLoaderImpl = partial(CheckedLoader, typed=typed)
    plugins[_BASIC["launcher"]] = SweepLauncher
    sweeper.split_arguments = staticmethod(grid)
    try:
        yield
    finally:
        _PROGRAM.ConfigLoaderImpl = original
        plugins[_BASIC["launcher"]] = basic
        sweeper.split_arguments = split


def parse_words(words: Sequence[str]) -> tuple[Namespace, ArgumentParser]:
    """Parse the command line of a run as Hydra does; settings may follow options, too.

    Returns
    -------
    Namespace
        Hydra's options, and the settings as ``overrides``.
    ArgumentParser
        Hydra's, which prints its help.

    Raises
    ------
    ConfigError
        If an option does not exist or would make Hydra run code, or a word sets nothing.
    SystemExit
        If an option lacks its value.
    """
    parser = get_args_parser()
    parser.prog = program()
    parser.add_argument("--plan", action="store_true", help="Show the jobs and what they take; run nothing")
    asked, unknown = parser.parse_known_args(words)
    asked.overrides += [word for word in unknown if not word.startswith("-")]
    check_assignments([word for word in unknown if word.startswith("-")], asked.overrides)
    check_single(asked.overrides)
    if asked.plan and (asked.cfg or asked.info or asked.help or asked.hydra_help):
        raise ConfigError("--plan: shows the jobs of a run or a sweep; leave out the other option.")
    if asked.experimental_rerun is not None:
        raise ConfigError(
            "--experimental-rerun: such a file can hold any code and run it. Give the command of the run "
            "again; its tag recgauge.command has it."
        )
    if (asked.config_path or "").startswith("pkg:"):
        raise ConfigError(
            f"--config-path={asked.config_path}: must be a folder; a package would be imported."
        )
    return asked, parser


class CheckedLoader(JobLoader):
    """Hydra's loader, through which every configuration goes: of a run, of a sweep and of each of its jobs.

    Parameters
    ----------
    config_search_path : ConfigSearchPath
    typed : sequence of Override
        The words of the command line, which alone can say whose code is trusted.
    """

    def __init__(self, config_search_path: Any, typed: Sequence[Override]) -> None:
        for name, folder in installed_options().items():  # after recgauge's own, which win
            config_search_path.prepend(name, f"file://{folder}", anchor="schema")
        super().__init__(config_search_path)
        self.typed = typed
        self.trusted = _trusted(typed)

    def load_configuration(self, *arguments: Any, **named: Any) -> DictConfig:
        """Compose a configuration and check it.

        Raises
        ------
        ConfigError
            If acting on it would run code that the user has not allowed.
        """
        try:
            self._offer_metrics(named["overrides"] if "overrides" in named else arguments[1])
            config = super().load_configuration(*arguments, **named)
        except KeyError as error:  # how Hydra answers a variable that is not set
            raise ConfigError(f"hydra.job.env_copy: {_NO_VARIABLES}") from error
        except (AssertionError, AttributeError) as error:  # how OmegaConf answers a key of what is null
            if not any(str(word.key_or_group).startswith("hydra.") for word in self.typed):
                raise
            told = str(error).partition("\n")[0]
            raise ConfigError(f"a word hydra.KEY=VALUE: Hydra cannot set that key ({told}).") from error
        _check_trust(config, self.trusted)
        with read_write(config):
            _check_hydra(config.hydra, self.trusted)
            check_typed(config.hydra.launcher, self.typed)
        return config

    def _offer_metrics(self, overrides: Sequence[str]) -> None:
        """Make each metric that the command line names among the suites a suite of its own: metrics=ndcg."""
        for word in (word for word in self.parsed(overrides) if word.key_or_group == "metrics"):
            value = word.value()
            if isinstance(value, dict) and not word.is_add():
                raise ConfigError(
                    f"{word.input_line}: would only add to the suites that are chosen. Name what is to be "
                    "computed: metrics=ndcg, metrics=[ndcg,recall]; add a definition of your own by "
                    "'+metrics.NAME={_target_:...}'."
                )
            names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
            suites = self.repository.get_group_options("metrics")
            for name in names:
                if name not in suites and _is_metric(name):
                    ConfigStore.instance().store(group="metrics", name=name, node={name: name})

    def compose_job(self, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        """Compose the configuration of a sweep's job; one that cannot be composed stops its own job only."""
        try:
            return super().compose_job(master_config, sweep_overrides)
        except (HydraException, OmegaConfBaseException, ConfigError) as error:
            own = [word for word in sweep_overrides if word.startswith("hydra.")]
            config = super().compose_job(master_config, own)
            known = isinstance(error, ConfigError)
            choices = Choices(sweep_overrides, own_folder(self.config_search_path.get_path()))
            with read_write(config), open_dict(config):
                config.hydra.overrides.task = list(sweep_overrides)
                config[NOT_COMPOSED] = str(error) if known else explain_config_error(error, choices)
            return config

    def _process_config_searchpath(
        self, config_name: str | None, parsed_overrides: list[Override], repo: CachingConfigRepository
    ) -> None:
        """Refuse packages as locations of files: Hydra imports them."""
        found = repo.load_config(config_path=config_name) if config_name is not None else None
        listed = [] if found is None else [OmegaConf.select(found.config, "hydra.searchpath")]
        listed += [word.value() for word in parsed_overrides if word.key_or_group == "hydra.searchpath"]
        paths = [str(path) for some in listed if isinstance(some, Sequence) for path in some]
        for path in paths:
            if "://" in path and not path.startswith("file://"):
                raise ConfigError(f"hydra.searchpath: {path!r} is not a folder; a package would be imported.")
        super()._process_config_searchpath(config_name, parsed_overrides, repo)


def _is_metric(name: object) -> bool:
    from recgauge.conventions import conventions, get_convention

    if not isinstance(name, str):
        return False
    with suppress(ConfigError):
        get_convention("standard").metric(name)
        return True
    return any(name in convention.metrics for convention in conventions().values())


def _trusted(typed: Sequence[Override]) -> tuple[str, ...]:
    values = [word.value() for word in typed if word.key_or_group == "allowed_targets"]
    return tuple(str(name) for value in values if isinstance(value, list) for name in value)


def _check_trust(config: DictConfig, trusted: Sequence[str]) -> None:
    named = _resolved(config, "allowed_targets") or []
    unknown = [name for name in named if name not in trusted]
    if unknown:
        raise ConfigError(
            f"allowed_targets: a file of settings names {', '.join(map(str, unknown))}. Say whose code you "
            f"trust on the command line: allowed_targets=[{','.join(map(str, named))}]."
        )
    allowed_packages(named)


def _check_hydra(hydra: DictConfig, trusted: Sequence[str]) -> None:
    """Check what Hydra builds or hands on, and store it resolved, so that it cannot change any more."""
    callbacks = _frozen(hydra, "callbacks")
    if any(_CALLBACKS.get(name) != node for name, node in (callbacks or {}).items()):
        raise ConfigError("hydra.callbacks: a configuration may not add callbacks; leave them out.")
    for part, basic in _BASIC.items():
        _check_plugin(_frozen(hydra, part), f"hydra.{part}", basic, trusted)
    for part in ("hydra_logging", "job_logging"):
        if not _is_quiet(_frozen(hydra, part)):
            raise ConfigError(
                f"hydra.{part}: settings of logging can name code to run; leave hydra/{part}=disabled."
            )
    if _frozen(hydra.job, "env_set"):
        raise ConfigError(f"hydra.job.env_set, hydra.job.env_copy: {_NO_VARIABLES}")
    if _frozen(hydra, "output_subdir") is not None:
        raise ConfigError(
            "hydra.output_subdir: leave it null. Hydra would store the settings with all passwords; "
            "config.yaml in the output folder has them without."
        )


def _check_plugin(node: Any, path: str, basic: str, trusted: Sequence[str]) -> None:
    settings = dict(node) if isinstance(node, Mapping) else {}
    target = settings.pop(TARGET, basic)
    if target != basic and not str(target).startswith(tuple(f"{package}." for package in trusted)):
        raise ConfigError(
            f"{path}.{TARGET}: {target!r} is not Hydra's basic {path.rpartition('.')[2]}. If you trust its "
            "package, name it on the command line: allowed_targets=[PACKAGE]."
        )
    check_plain(settings, path)


def _is_quiet(node: Any) -> bool:
    """Whether settings of logging have no handlers, formatters and filters, whose classes could be named."""
    if node is None:
        return True
    root = node.get("root") or {}
    return set(node) <= _LOGGING_KEYS and set(root) <= {"level"} and str(root.get("level", "INFO")).isalpha()


def _frozen(config: DictConfig, key: str) -> Any:
    plain = _resolved(config, key)
    config[key] = plain
    return plain


def _resolved(config: DictConfig, key: str) -> Any:
    try:
        node = OmegaConf.select(config, key)
        return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node
    except OmegaConfBaseException as error:
        raise ConfigError(explain_config_error(error)) from error


def _read_variable(name: str, *default: Any) -> Any:
    """Stand in for ``oc.env``, which would write any variable, such as a token, into results."""
    if not str(name).startswith(READABLE):
        raise ConfigError(
            f"a configuration may only read environment variables that begin with {' or '.join(READABLE)}, "
            f"got {name}"
        )
    if name in os.environ:
        return os.environ[name]
    if not default:
        raise ConfigError(f"the environment variable {name} is not set")
    return None if default[0] is None else str(default[0])
