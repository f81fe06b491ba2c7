"""The schema of a run's settings, and what a configuration may read and reach: it may be a stranger's."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from recgauge.errors import ConfigError, did_you_mean
from recgauge.runs.settings import RunSettings
from recgauge.runs.targets import TARGET, allowed_packages, check_plain
from recgauge.sweeps.places import program, store_of_user, work_folder

LAUNCHER = "hydra_plugins.recgauge_launcher.RecgaugeLauncher"
SWEEPER = "hydra_plugins.recgauge_sweeper.RecgaugeSweeper"
NO_VARIABLES = (
    "a configuration may not set environment variables, which decide what other programs do. Set them in the "
    "shell."
)
_CALLBACKS = {"sweep": {TARGET: "recgauge.cli.launching.SweepEnd"}}
_QUIET: tuple[dict[str, Any], ...] = (
    {"version": 1, "root": {"level": "ERROR"}, "disable_existing_loggers": True},
    {"version": 1, "root": None, "disable_existing_loggers": False},
)
"""Logging as ``disabled`` and ``none`` have it: other settings could name classes of handlers."""
_RUN_CODE = ("address", "setup", "additional_parameters")
"""Settings of a launcher that run code: lines of shell, options of sbatch, another's cluster."""
READABLE = "RECGAUGE_"
"""How the names of the variables begin that a configuration may read."""
ADDRESSES = {  # settings that hold an address, and the variable by which the user can name its host
    "data.mirror": "RECGAUGE_MIRROR",
    "dataset.mirror": "RECGAUGE_MIRROR",
    "tracking.uri": "MLFLOW_TRACKING_URI",
}
_LOCAL = re.compile(r"(?![a-z][\w+.-]+:)|sqlite[+:]|file:|databricks", re.IGNORECASE)
# What other programs take for the host depends on odd signs, and a database's driver takes hosts from the
# options, too: only in an address of this form is the host the one that everybody reads.
_PLAIN = re.compile(
    r"((?P<web>https?)|[a-z][\w+.-]+)://(?:[^\s/?#@\\]*@)?(?P<host>([\w.-]+|\[[\da-f:.]+\])(:\d+)?)"
    r"(?(web)([/?#].*)?|(/[\w.-]*)?)",
    re.IGNORECASE | re.DOTALL,
)
_IN_A_WORD = re.compile(r"[a-z][\w+.-]+://[^\s'\",|]+", re.IGNORECASE)


def register_schema() -> None:
    """Make known to Hydra what conf/config.yaml refers to; the schema refuses unknown keys."""
    ConfigStore.instance().store(name="run_schema", node=RunSettings)
    register = partial(OmegaConf.register_new_resolver, replace=True)
    register("recgauge.work_folder", lambda name: str(work_folder() / name))
    register("recgauge.store_of_user", store_of_user)
    register("recgauge.program", program)
    register("oc.env", _read_variable)  # so that none of the user's variables gets out


def typed_settings(config: DictConfig) -> RunSettings:
    """Return a composed configuration, with Hydra's part or without, as the settings of a run."""
    known = [field.name for field in fields(RunSettings)]
    if unknown := [str(key) for key in config if key not in (*known, "hydra")]:
        raise ConfigError(f"{', '.join(unknown)}: there is no such setting. Settings: {', '.join(known)}.")
    for name, default in vars(RunSettings()).items():
        if is_dataclass(default):
            _check_keys(config[name], default, name)
    values: dict[str, Any] = {name: config[name] for name in known}
    for name, node in values.items():
        values[name] = OmegaConf.to_object(node) if OmegaConf.is_config(node) else node
    if TARGET not in (values["tune"] or {}):  # tune=off
        values["tune"] = None
    return RunSettings(**values)


def _check_keys(node: Any, default: Any, path: str) -> None:
    """Refuse keys that a group of root settings does not have: an added one opens its schema."""
    settings = vars(default) if is_dataclass(default) else default
    for key in node:
        if key not in settings:
            raise ConfigError(
                f"{path}.{key}: there is no such setting. {did_you_mean(str(key), settings)}{path} has "
                f"{', '.join(settings)}."
            )
        if isinstance(settings[key], Mapping):
            _check_keys(node[key], settings[key], f"{path}.{key}")


def _read_variable(name: str, *default: Any) -> str | None:
    """Answer ``${oc.env:NAME}`` for recgauge's own variables alone."""
    if not str(name).startswith(READABLE):
        raise ConfigError(
            f"a configuration may only read environment variables that begin with {READABLE}, got {name}"
        )
    if name in os.environ:
        return os.environ[name]
    if not default:
        raise ConfigError(f"the environment variable {name} is not set")
    return None if default[0] is None else str(default[0])


def check_hosts(
    addresses: Mapping[str, Any], words: Sequence[str], environment: Mapping[str, str] = os.environ
) -> None:
    """Refuse to send anything to a host that only a file of settings names.

    A server gets passwords from the environment, and an address can carry whatever a file puts into it.

    Examples
    --------
    >>> found = {"tracking.uri": "http://somewhere:5000/"}
    >>> check_hosts(found, ["tracking.uri=http://ann:secret@somewhere:5000"], {})
    >>> check_hosts(found, [], {"MLFLOW_TRACKING_URI": "http://here:5000"})
    Traceback (most recent call last):
        ...
    recgauge.errors.ConfigError: tracking.uri: a file of settings, not you, names http://somewhere:5000...
    """
    typed = {word.lstrip("+").partition("=")[0] for word in words}
    found = [
        (path, place)
        for path, setting in addresses.items()
        for address in _texts(setting)
        if (place := _place(address)) is not None
    ]
    texts = [*words, *(environment.get(name, "") for name in ADDRESSES.values())]
    named = {_place(address) for text in texts for address in (*_texts(text), *_IN_A_WORD.findall(text))}
    named |= {_place(address.rstrip("]})")) for text in words for address in _IN_A_WORD.findall(text)}
    named |= {place for path, place in found if path in typed}
    for path, place in found:
        if place not in named:
            raise ConfigError(
                f"{path}: a file of settings, not you, names {place}. If you trust it with your data and "
                f"passwords, name it yourself: {path}=ADDRESS on the command line, or {ADDRESSES[path]}."
            )


def _texts(node: Any) -> Iterator[str]:
    """Yield the addresses of a setting: one text, several with ``|`` between them, or a list."""
    if isinstance(node, str):
        yield from (text.strip() for text in node.split("|"))
    elif isinstance(node, (list, tuple)):
        for part in node:
            yield from _texts(part)


def _place(address: str) -> str | None:
    """Return the kind and host of an address, None of a file; an address in an odd form counts as a whole."""
    if _LOCAL.match(address):
        return None
    plain = _PLAIN.fullmatch(address)
    return address if plain is None else f"{plain[1]}://{plain['host']}".lower()


def check_settings(config: DictConfig, typed: Sequence[Override]) -> None:
    """Refuse a configuration that would run code which the user has not allowed."""
    trusted = check_trust(config, typed)
    hydra: Any = OmegaConf.to_container(config.hydra, resolve=False)
    if (hydra["callbacks"] or {}) not in ({}, _CALLBACKS):
        raise ConfigError("hydra.callbacks: a configuration may not add callbacks; leave them out.")
    for part in ("launcher", "sweeper", "hydra_logging", "job_logging", "output_subdir"):
        if "${" in str(hydra[part]):  # which could be another thing by the time that Hydra acts on it
            raise ConfigError(f"hydra.{part}: write out what it is; it may not refer to other settings.")
    _check_plugin(hydra, "launcher", LAUNCHER, trusted)
    _check_plugin(hydra, "sweeper", SWEEPER, trusted)
    for part in ("hydra_logging", "job_logging"):
        if (hydra[part] or _QUIET[0]) not in _QUIET:
            raise ConfigError(
                f"hydra.{part}: settings of logging can name code to run; leave hydra/{part}=disabled."
            )
    if hydra["job"]["env_set"] or hydra["job"]["env_copy"]:
        raise ConfigError(f"hydra.job.env_set, hydra.job.env_copy: {NO_VARIABLES}")
    if hydra["output_subdir"] is not None:
        raise ConfigError(
            "hydra.output_subdir: leave it null. Hydra would store the settings with all passwords; "
            "config.yaml in the output folder has them without."
        )
    _check_typed(hydra["launcher"], typed)


def check_trust(config: DictConfig, typed: Sequence[Override]) -> list[str]:
    """Refuse packages, and addresses, that a file of settings names and the command line does not.

    Returns the packages that the command line trusts.
    """
    named = _resolved(config, "allowed_targets") or []
    values = [word.value() for word in typed if word.key_or_group == "allowed_targets"]
    trusted = [str(name) for value in values if isinstance(value, list) for name in value]
    if unknown := [name for name in named if name not in trusted]:
        raise ConfigError(
            f"allowed_targets: a file of settings names {', '.join(map(str, unknown))}. Say whose code you "
            f"trust on the command line: allowed_targets=[{','.join(map(str, named))}]."
        )
    allowed_packages(named)
    addresses = {path: _resolved(config, path) for path in ADDRESSES}
    check_hosts(addresses, [str(word.input_line) for word in typed])
    return trusted


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
    node = OmegaConf.select(config, key)
    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node
