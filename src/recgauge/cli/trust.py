"""One rule of trust: what can run code or reach a host is as recgauge's own files and typed words have it.

A file of settings may be a stranger's. All else that it says are data.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from shlex import quote
from typing import Any

from hydra.conf import HydraConf
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.errors import ConfigError, printable
from recgauge.runs.targets import allowed_packages, check_plain, installed_options
from recgauge.sweeps.places import conf_folder

_QUIET = {"version": 1, "root": {"level": "ERROR"}, "disable_existing_loggers": True}
_OWN = {"hydra_logging": _QUIET, "job_logging": _QUIET, "output_subdir": None}
"""What conf/config.yaml says of Hydra itself."""
_DATA = {
    *("launcher", "sweeper", "mode", "run", "sweep", "searchpath", "verbose", "help", "hydra_help"),
    *("overrides", "runtime", "job.name", "job.chdir", "job.override_dirname", "job.id", "job.num"),
    *("job.config_name", "job.config"),
}
"""Settings of Hydra that files and words may change; all others are as recgauge and Hydra have them."""
TYPED = (
    "allowed_targets",
    "hydra.launcher.address",
    "hydra.launcher.setup",
    "hydra.launcher.additional_parameters",
)
"""Settings that can run code, as packages, lines of shell, options of sbatch and another's cluster can."""
_VARIABLES = ("RECGAUGE_", "MLFLOW_TRACKING_URI")
"""How the names of the environment's variables begin that can name a host."""
_ABOUT = ("source", "licence", "citation")
"""Settings that are only shown."""
_LOCAL = re.compile(
    r"(?!.*://)(?!\\\\)|sqlite[+:]|file:(?!.*::)|databricks(://|$)", re.IGNORECASE | re.DOTALL
)
_SIGNS_OF_LISTS = re.compile(r"[\s'\",\[\]{}]+")


def check_trusted(config: DictConfig, words: Sequence[Override]) -> None:
    """Refuse a configuration with code or a host that neither recgauge's own files nor the words name."""
    hydra: Any = OmegaConf.to_container(config.hydra, resolve=False)
    own = _settings_of_hydra(asdict(HydraConf())) | _OWN
    for path, value in _settings_of_hydra(hydra).items():
        if path not in _DATA and value != own.get(path, {}):
            raise ConfigError(
                f"hydra.{path}: stays as it is, since recgauge does not use it. Leave it out; variables of "
                "the environment are set in the shell."
            )
    check_plain(hydra["launcher"], "hydra.launcher")
    check_plain(hydra["sweeper"], "hydra.sweeper")
    if "${" in str(hydra["launcher"]):  # which could be another thing by the time that a sweep acts on it
        raise ConfigError("hydra.launcher: write values out; they may not refer to other settings.")
    typed = OmegaConf.create()
    for word in words:
        if not word.is_sweep_override() and word.key_or_group.startswith(TYPED):
            OmegaConf.update(typed, word.key_or_group, word.value())
    for path in TYPED:
        if (value := _resolved(config, path)) and value != _resolved(typed, path):
            raise _untyped(path, value)
    allowed_packages(_resolved(config, "allowed_targets") or [])
    addresses = {str(name): _resolved(config, str(name)) for name in config if name != "hydra"}
    addresses["hydra"] = {"launcher": hydra["launcher"]}  # what is swept is checked with each job
    check_addresses(addresses, [str(word.input_line) for word in words])


def check_addresses(
    settings: Mapping[str, Any],
    words: Sequence[str],
    environment: Mapping[str, str] = os.environ,
    *,
    owner: str = "a file of settings",
    option: str = "",
) -> None:
    """Refuse addresses that a file names, its `owner`, and neither the words nor the environment.

    A server gets passwords and signatures from the environment, and an address can carry whatever a file puts
    into it. `option` is what takes an address on this command line; without one it is the setting itself.

    Examples
    --------
    >>> settings = {"tracking": {"uri": "http://somewhere:5000"}}
    >>> check_addresses(settings, ["data.mirror=[http://somewhere:5000]"], {})
    >>> check_addresses(settings, [], {"MLFLOW_TRACKING_URI": "http://here:5000"})
    Traceback (most recent call last):
        ...
    recgauge.errors.ConfigError: tracking.uri: a file of settings, not you, names http://somewhere:5000...
    """
    pairs = [word.lstrip("+").partition("=")[::2] for word in words]
    variables = [text for name, text in environment.items() if name.startswith(_VARIABLES)]
    typed = [*words, *(value for _, value in pairs), *variables]
    trusted = {part for text in typed for part in (text, *_SIGNS_OF_LISTS.split(text))}
    keys = {key for key, _ in pairs}
    for path, text in sorted(_texts(settings)):
        if not (_LOCAL.match(text) or path in keys or text in trusted or text in _own_addresses()):
            raise _untyped(path, text, owner, option)


def _untyped(path: str, value: Any, owner: str = "a file of settings", option: str = "") -> ConfigError:
    words = option + quote(str(value)) if option else f"{path}=VALUE"
    return ConfigError(
        f"{path}: {owner}, not you, names {printable(str(value))}, which can run code, or get your data and "
        f"passwords. If you trust it, type {words}."
    )


def _texts(node: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts of settings with their paths."""
    if isinstance(node, str):
        yield path, node.strip()
    elif isinstance(node, Mapping):
        for key, part in node.items():
            if key not in _ABOUT:
                yield from _texts(part, f"{path}.{key}".lstrip("."))
    elif isinstance(node, (list, tuple)):
        for part in node:
            yield from _texts(part, path)


@cache  # of jobs that read the same files
def _own_addresses() -> frozenset[str]:
    """Return the addresses in recgauge's own files of settings, and in those of installed packages."""
    folders = (conf_folder(), *(folder for _, folder in installed_options()))
    texts = (file.read_text(encoding="utf-8") for folder in folders for file in folder.rglob("*.yaml"))
    return frozenset(part for text in texts for part in _SIGNS_OF_LISTS.split(text) if "://" in part)


def _settings_of_hydra(hydra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of Hydra by path: those of a job one by one."""
    of_job = {f"job.{name}": value for name, value in hydra["job"].items()}
    return {name: value for name, value in hydra.items() if name != "job"} | of_job


def _resolved(config: DictConfig, key: str) -> Any:
    """Return a setting with its references resolved, None where that fails: its user gets the error."""
    try:
        node = OmegaConf.select(config, key)
        return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node
    except OmegaConfBaseException:
        return None
