"""The words of a run's command line, and what the settings that they choose may do.

Hydra acts on a configuration: it builds callbacks, launchers and handlers of logging, imports packages that a
search path names, and sets environment variables. A file of settings may be a stranger's. So the same
configuration is composed here first, by Hydra's Compose API, and checked before Hydra acts on it.
"""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Override, QuotedString
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from recgauge.cli.explain import check_assignments, check_words, explain_config_error
from recgauge.cli.settings import ADDRESSES, check_hosts
from recgauge.errors import ConfigError, RecgaugeError, said
from recgauge.runs.targets import TARGET, allowed_packages, check_plain, installed_options
from recgauge.sweeps.jobs import check_single
from recgauge.sweeps.places import conf_folder, program

LAUNCHER = "hydra_plugins.recgauge_launcher.RecgaugeLauncher"
SWEEPER = "hydra_plugins.recgauge_sweeper.RecgaugeSweeper"
_CALLBACKS = {"sweep": {TARGET: "recgauge.cli.launching.SweepEnd"}}
_FLAGS = ("help", "hydra_help", "version", "resolve", "run", "multirun", "shell_completion")
_VALUES = ("cfg", "package", "config_path", "config_name", "config_dir", "experimental_rerun")
_BEGINS = "a run begins with recgauge's own settings. Choose from yours: --config-dir=FOLDER experiment=NAME."
_REFUSED = {
    "config_path": _BEGINS,
    "config_name": _BEGINS,
    "experimental_rerun": "such a file can hold any code and run it. Give the command of the run again; its "
    "tag recgauge.command has it.",
}
_SHORT = {"help": "h", "cfg": "c", "package": "p", "run": "r", "multirun": "m", "shell_completion": "sc",
          "config_path": "cp", "config_name": "cn", "config_dir": "cd", "info": "i"}  # fmt: skip
_RUN_CODE = ("address", "setup", "additional_parameters")
"""Settings of a launcher that run code: lines of shell, options of sbatch, another's cluster."""
_NO_VARIABLES = (
    "a configuration may not set environment variables, which decide what other programs do. Set them in the "
    "shell."
)


@dataclass(frozen=True)
class Words:
    """A command line as Hydra takes it apart."""

    options: Mapping[str, Any]
    overrides: tuple[str, ...]

    @classmethod
    def read(cls, words: Sequence[str]) -> "Words":
        """Take the words apart; settings may follow options, and ``--plan`` is short for ``plan=true``."""
        check_words(words)
        known, rest = _parser().parse_known_args(
            ["plan=true" if word == "--plan" else word for word in words]
        )
        options = {name: value for name, value in vars(known).items() if value and name != "overrides"}
        overrides = [*known.overrides, *(word for word in rest if not word.startswith("-"))]
        check_assignments([word for word in rest if word.startswith("-")], overrides)
        check_single(overrides)
        for name, reason in _REFUSED.items():
            if name in options:
                raise ConfigError(f"--{name.replace('_', '-')}: {reason}")
        if (folder := options.get("config_dir")) is not None:
            if not Path(folder).is_dir():
                raise ConfigError(f"--config-dir={folder}: there is no such folder.")
            options["config_dir"] = str(Path(folder).absolute())  # Hydra takes others for packages
        return cls(options, tuple(overrides))

    @cached_property
    def parsed(self) -> list[Override]:
        """The overrides as Hydra reads them."""
        return OverridesParser.create().parse_overrides(list(self.overrides))

    @property
    def plan(self) -> bool:
        """Whether only the plan of the command is wanted."""
        return any(word.key_or_group == "plan" and word.value() is True for word in self.parsed)

    @property
    def runs(self) -> bool:
        """Whether jobs will run, rather than only be shown."""
        shows = {"help", "hydra_help", "version", "shell_completion", "cfg", "info"}
        return shows.isdisjoint(self.options) and not self.plan

    def is_single(self, config: DictConfig) -> bool:
        """Whether one job is to run, rather than a sweep, and nothing only shown."""
        return (
            self.options.keys() <= {"run", "config_dir", "package"}
            and config.hydra.mode != RunMode.MULTIRUN
            and not any(word.is_sweep_override() for word in self.parsed)
        )

    def for_hydra(self, more: Sequence[str] = ()) -> list[str]:
        """Return the words in the order that Hydra's own parser understands."""
        options = [
            f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
            for name, value in self.options.items()
        ]
        own = [word for word in self.overrides if not word.startswith("hydra.searchpath=")]
        return [*options, *own, _search_path_word(self.search_path()), *more]

    def composed(self) -> DictConfig:
        """Return the configuration with Hydra's part, without what is swept, checked."""
        offer_metrics(self.parsed)
        single = [str(word.input_line) for word in self.parsed if not word.is_sweep_override()]
        own = [word for word in single if not word.startswith("hydra.searchpath=")]
        config_dir = self.options.get("config_dir")
        paths = [*([] if config_dir is None else [f"file://{config_dir}"]), *self.search_path()]
        folder = str(conf_folder())
        with _beside_a_sweep(), initialize_config_dir(folder, job_name="run", version_base="1.3"):
            try:
                config = compose("config", [*own, _search_path_word(paths)], return_hydra_config=True)
            except (HydraException, OmegaConfBaseException, YAMLError, RecgaugeError, OSError):
                raise
            except KeyError as error:  # how Hydra answers a variable that is not set
                raise ConfigError(f"hydra.job.env_copy: {_NO_VARIABLES}") from error
            except Exception as error:  # how Hydra and OmegaConf answer what they did not expect
                raise ConfigError(
                    f"the settings cannot be composed ({type(error).__name__}: {said(error)}). In lists of "
                    "defaults, options are texts, such as 'off' in quotes; a word hydra.KEY=VALUE names one "
                    "of Hydra's settings."
                ) from error
        check_settings(config, self.parsed)
        typed = [word for word in single if not word.startswith(("hydra.", "hydra/"))]
        if OmegaConf.to_container(config.hydra.overrides.task, resolve=False) != typed:
            raise ConfigError("hydra.overrides: a configuration may not say what was typed; leave it out.")
        _offer_swept_metrics(config)
        return config

    def search_path(self) -> list[str]:
        """Return the folders of settings beside the first: of installed packages, and named ones."""
        typed = [word.value() for word in self.parsed if word.key_or_group == "hydra.searchpath"]
        named = typed[0] if typed else []
        if not isinstance(named, (list, tuple)):
            raise ConfigError(f"hydra.searchpath: expected a list of folders, got {named!r}.")
        for path in named:
            if "${" in str(path) or ("://" in str(path) and not str(path).startswith("file://")):
                raise ConfigError(f"hydra.searchpath: {path!r} is not a folder; a package would be imported.")
        return [*(f"file://{folder}" for folder in installed_options().values()), *map(str, named)]


@contextmanager
def _beside_a_sweep() -> Iterator[None]:
    """Let Hydra compose where it has a sweep at work already, which goes on with its own afterwards."""
    running = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        yield
    finally:
        GlobalHydra.instance().hydra = running


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog=program(), add_help=False, allow_abbrev=False)
    parser.add_argument("overrides", nargs="*")
    kinds: dict[str, dict[str, Any]] = {name: {"action": "store_true"} for name in _FLAGS}
    kinds |= {name: {} for name in _VALUES} | {"info": {"nargs": "?", "const": "all"}}
    for name, kind in kinds.items():
        short = [f"-{_SHORT[name]}"] if name in _SHORT else []
        parser.add_argument(f"--{name.replace('_', '-')}", *short, **kind)
    return parser


def _search_path_word(paths: Sequence[str]) -> str:
    """Return the override of all folders, also of none: what a file of settings says does not count then."""
    return f"hydra.searchpath=[{','.join(map(_quoted, paths))}]"


def _quoted(path: str) -> str:
    return "'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"


def offer_metrics(parsed: Sequence[Override]) -> None:
    """Make each metric that is named among the suites a suite of its own: ``metrics=ndcg``."""
    for word in (word for word in parsed if word.key_or_group == "metrics"):
        value = word.value()
        if isinstance(value, dict) and not word.is_add():
            raise ConfigError(
                f"{word.input_line}: would only add to the suites that are chosen. Name what is to be "
                "computed: metrics=ndcg, metrics=[ndcg,recall]; add a definition of your own by "
                "'+metrics.NAME={_target_:...}'."
            )
        for name in _texts(value):
            if not (conf_folder() / "metrics" / f"{name}.yaml").is_file() and _is_metric(name):
                ConfigStore.instance().store(group="metrics", name=name, node={name: name})


def _offer_swept_metrics(config: DictConfig) -> None:
    params = OmegaConf.to_container(config.hydra.sweeper.get("params") or OmegaConf.create({}))
    if isinstance(params, dict) and "metrics" in params:
        offer_metrics(OverridesParser.create().parse_overrides([f"metrics={params['metrics']}"]))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, ChoiceSweep):
        value = value.list
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, QuotedString):
        yield value.text
    elif isinstance(value, str):
        yield value


def _is_metric(name: str) -> bool:
    from recgauge.conventions import conventions, get_convention

    try:
        get_convention("standard").metric(name)
    except ConfigError:
        return any(name in convention.metrics for convention in conventions().values())
    return True


def trusted_packages(typed: Sequence[Override]) -> list[str]:
    """Return the packages that the command line trusts."""
    values = [word.value() for word in typed if word.key_or_group == "allowed_targets"]
    return [str(name) for value in values if isinstance(value, list) for name in value]


def check_settings(config: DictConfig, typed: Sequence[Override]) -> None:
    """Refuse a configuration that would run code which the user has not allowed."""
    check_trust(config, typed)
    trusted = trusted_packages(typed)
    hydra: Any = OmegaConf.to_container(config.hydra, resolve=False)
    if (hydra["callbacks"] or {}) not in ({}, _CALLBACKS):
        raise ConfigError("hydra.callbacks: a configuration may not add callbacks; leave them out.")
    for part in ("launcher", "sweeper", "hydra_logging", "job_logging", "output_subdir"):
        if "${" in str(hydra[part]):  # which could be another thing by the time that Hydra acts on it
            raise ConfigError(f"hydra.{part}: write out what it is; it may not refer to other settings.")
    _check_plugin(hydra, "launcher", LAUNCHER, trusted)
    _check_plugin(hydra, "sweeper", SWEEPER, trusted)
    for part in ("hydra_logging", "job_logging"):
        if not _is_quiet(hydra[part]):
            raise ConfigError(
                f"hydra.{part}: settings of logging can name code to run; leave hydra/{part}=disabled."
            )
    if hydra["job"]["env_set"] or hydra["job"]["env_copy"]:
        raise ConfigError(f"hydra.job.env_set, hydra.job.env_copy: {_NO_VARIABLES}")
    if hydra["output_subdir"] is not None:
        raise ConfigError(
            "hydra.output_subdir: leave it null. Hydra would store the settings with all passwords; "
            "config.yaml in the output folder has them without."
        )
    _check_typed(hydra["launcher"], typed)


def check_trust(config: DictConfig, typed: Sequence[Override]) -> None:
    """Refuse packages, and addresses, that a file of settings names and the command line does not."""
    named = _resolved(config, "allowed_targets") or []
    trusted = trusted_packages(typed)
    if unknown := [name for name in named if name not in trusted]:
        raise ConfigError(
            f"allowed_targets: a file of settings names {', '.join(map(str, unknown))}. Say whose code you "
            f"trust on the command line: allowed_targets=[{','.join(map(str, named))}]."
        )
    allowed_packages(named)
    addresses = {path: _resolved(config, path) for path in ADDRESSES}
    check_hosts(addresses, [str(word.input_line) for word in typed])


def _check_plugin(hydra: Any, part: str, own: str, trusted: Sequence[str]) -> None:
    settings = dict(hydra[part] or {})
    target = settings.pop(TARGET, own)
    if target != own and not str(target).startswith(tuple(f"{package}." for package in trusted)):
        raise ConfigError(
            f"hydra.{part}.{TARGET}: {target!r} is not {own}. If you trust its package, name "
            "it on the command line: allowed_targets=[PACKAGE]."
        )
    check_plain(settings, f"hydra.{part}")
    for key in settings.get("params") or ():
        if str(key).lstrip("+~").startswith(("hydra", "allowed_targets")):
            raise ConfigError(f"hydra.{part}.params: {key} cannot be swept; name it on the command line.")


def _is_quiet(node: Any) -> bool:
    """Whether settings of logging have no handlers, formatters and filters, whose classes could be named."""
    root = (node or {}).get("root") or {}
    return set(node or ()) <= {"version", "root", "disable_existing_loggers"} and (
        set(root) <= {"level"} and str(root.get("level", "INFO")).isalpha()
    )


def _check_typed(launcher: Any, typed: Sequence[Override]) -> None:
    """Refuse settings of a launcher that can run code unless the user has typed them."""
    given = {word.key_or_group: word.value() for word in typed}
    for name in _RUN_CODE:
        node, path = (launcher or {}).get(name), f"hydra.launcher.{name}"
        value = given.get(path)
        names = {str(key) for key in value} if isinstance(value, dict) else set()
        names |= {key.removeprefix(f"{path}.") for key in given if key.startswith(f"{path}.")}
        mine = {str(key) for key in node} <= names if isinstance(node, Mapping) else path in given
        if node and not mine:
            raise ConfigError(f"{path}: a file of settings may not set it, since it can run code. Type it.")


def _resolved(config: DictConfig, key: str) -> Any:
    try:
        node = OmegaConf.select(config, key)
        return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node
    except OmegaConfBaseException as error:
        raise ConfigError(explain_config_error(error)) from error
