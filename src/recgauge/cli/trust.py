"""One rule of trust: a file of settings may be a stranger's, so it decides neither code nor hosts.

What Hydra acts on is as recgauge's own files have it; what can run code, and the hosts that get data and
passwords, the user has typed. All else are data.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from shlex import quote
from typing import Any

from hydra.conf import HydraConf
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.errors import ConfigError, printable
from recgauge.runs.targets import TARGET, allowed_packages, check_plain, installed_options
from recgauge.sweeps.places import conf_folder

_PLUGINS = {
    "launcher": "hydra_plugins.recgauge_launcher.RecgaugeLauncher",
    "sweeper": "hydra_plugins.recgauge_sweeper.RecgaugeSweeper",
}
_QUIET = {"version": 1, "root": {"level": "ERROR"}, "disable_existing_loggers": True}
_OWN = {  # other handlers of logging could run code
    "hydra_logging": _QUIET,
    "job_logging": _QUIET,
    "output_subdir": None,  # a copy of all settings with their passwords
}
_DATA = {
    *("mode", "run", "sweep", "searchpath", "verbose", "help", "hydra_help", "overrides", "runtime"),
    *("job.name", "job.chdir", "job.override_dirname", "job.id", "job.num", "job.config_name", "job.config"),
    *("launcher", "sweeper"),  # which have a check of their own
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
# What other programs take for the host depends on odd signs, and drivers take hosts from the options or from
# a second address, too: only in an address of this form is the host the one that everybody reads.
_PLAIN = re.compile(
    r"((?P<web>https?)|[a-z][\w+.-]+)://(?:[^\s/?#@\\]*@)?(?P<host>([\w.-]+|\[[\da-f:.]+\])(:\d+)?)"
    r"(?(web)([/?#]((?!::).)*)?|(/[\w./*-]*)?)",
    re.IGNORECASE | re.DOTALL,
)
_IN_A_TEXT = re.compile(r"[a-z][\w+.-]+:[/:][^\s'\",|]+", re.IGNORECASE)
_SIGNS_OF_YAML = re.compile(r"[\s'\",|\[\]{}]+")


def check_trusted(config: DictConfig, words: Sequence[Override]) -> None:
    """Refuse a configuration with code or a host that neither recgauge's own files nor the words name."""
    plain: Any = OmegaConf.to_container(config, resolve=False)
    settings, own = _of_hydra(plain["hydra"]), _of_hydra(asdict(HydraConf()) | _OWN)
    for path, value in settings.items():
        if path not in _DATA and value != own.get(path, {}):
            raise ConfigError(
                f"hydra.{path}: stays as it is, since Hydra acts on it before anything is checked. Leave it "
                "out; set variables of the environment in the shell."
            )
    typed = {word.key_or_group for word in words if not word.is_sweep_override()}
    for path in TYPED:
        _check_typed(_at(plain, path), path, typed)
    allowed_packages(_resolved(config, "allowed_targets") or [])
    addresses = {str(name): _resolved(config, str(name)) for name in config if name != "hydra"}
    for part, target in _PLUGINS.items():
        plugin = settings[part] or {}
        _check_plugin(plugin, f"hydra.{part}", target)
        # what is swept is checked with each job
        addresses[f"hydra.{part}"] = {key: node for key, node in plugin.items() if key != "params"}
    check_addresses(addresses, [str(word.input_line) for word in words])


def check_addresses(
    settings: Mapping[str, Any],
    words: Sequence[str],
    environment: Mapping[str, str] = os.environ,
    *,
    owner: str = "a file of settings",
    option: str = "",
) -> None:
    """Refuse addresses at hosts that a file names, its `owner`, and neither the words nor the environment.

    A server gets passwords and signatures from the environment, and an address can carry whatever a file puts
    into it. One in an odd form, such as with a second address in it, must be typed as it is. `option` is what
    takes an address on this command line; without one it is the setting itself.

    Examples
    --------
    >>> settings = {"tracking": {"uri": "http://somewhere:5000/"}}
    >>> check_addresses(settings, ["tracking.uri=http://ann:secret@somewhere:5000"], {})
    >>> check_addresses(settings, [], {"MLFLOW_TRACKING_URI": "http://here:5000"})
    Traceback (most recent call last):
        ...
    recgauge.errors.ConfigError: tracking.uri: a file of settings, not you, names http://somewhere:5000...
    """
    keys = {word.lstrip("+").partition("=")[0] for word in words}
    addresses = [(path, text, host) for path, text in _texts(settings) if (host := _host(text)) is not None]
    of_variables = [text for name, text in environment.items() if name.startswith(_VARIABLES)]
    named = {host for path, _, host in addresses if path in keys} | _hosts([*words, *of_variables])
    for path, text, host in sorted(addresses):
        if host not in named and not _is_own(text):
            raise ConfigError(
                f"{path}: {owner}, not you, names {printable(host)}. If you trust it with your data and "
                f"passwords, type {option + quote(host) if option else f'{path}=ADDRESS'}."
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


def _host(text: str) -> str | None:
    """Return kind and host of an address, None of a file; an address in an odd form counts as a whole."""
    if _LOCAL.match(text):
        return None
    plain = _PLAIN.fullmatch(text)
    return text if plain is None else f"{plain[1]}://{plain['host']}".lower()


def _hosts(texts: Sequence[str]) -> set[str | None]:
    """Return the hosts of the addresses in texts, which can be lists in brackets."""
    addresses = [part for text in texts for part in (text, *_IN_A_TEXT.findall(text))]
    return {_host(form) for text in addresses for form in (text, text.rstrip("]})"))}


@cache  # of jobs that read the same files
def _is_own(address: str) -> bool:
    """Whether recgauge's own files of settings, or those of installed packages, have this very address."""
    folders = (conf_folder(), *installed_options().values())
    texts = (file.read_text(encoding="utf-8") for folder in folders for file in folder.rglob("*.yaml"))
    return any(address in _SIGNS_OF_YAML.split(text) for text in texts)


def _check_typed(value: Any, path: str, typed: Collection[str]) -> None:
    """Refuse a value that a file has set, also by a reference to another setting."""
    if not value or (path in typed and "${" not in str(value)):
        return
    if not isinstance(value, Mapping) or path in typed:
        raise ConfigError(
            f"{path}: a file of settings names {value}, which can run code. If you trust it, type "
            f"{path}=VALUE."
        )
    for key, part in value.items():
        _check_typed(part, f"{path}.{key}", typed)


def _check_plugin(settings: Mapping[str, Any], path: str, own: str) -> None:
    """Refuse what Hydra would build from a launcher's or sweeper's settings beside recgauge's own class."""
    if settings.get(TARGET) != own:
        raise ConfigError(
            f"{path}.{TARGET}: stays {own}. Leave it out; hydra/launcher=NAME chooses an engine."
        )
    if "${" in str(settings):  # which could be another thing by the time that Hydra acts on it
        raise ConfigError(f"{path}: write out what it is; it may not refer to other settings.")
    check_plain({key: node for key, node in settings.items() if key != TARGET}, path)


def _of_hydra(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of Hydra by path: those of a job one by one."""
    of_job = {f"job.{name}": value for name, value in settings["job"].items()}
    return {name: value for name, value in settings.items() if name != "job"} | of_job


def _at(node: Any, path: str) -> Any:
    """Return the value at a path with dots, None if there is none."""
    for key in path.split("."):
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def _resolved(config: DictConfig, key: str) -> Any:
    """Return a setting with its references resolved, None where that fails: its user gets the error."""
    try:
        node = OmegaConf.select(config, key)
        return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node
    except OmegaConfBaseException:
        return None
