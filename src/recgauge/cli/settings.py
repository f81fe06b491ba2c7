"""The schema of a run's settings, and what a configuration may read and reach: it may be a stranger's."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

from recgauge.errors import ConfigError
from recgauge.runs.settings import RunSettings
from recgauge.sweeps.places import program, store_of_user, work_folder


def register_schema() -> None:
    """Make known to Hydra what conf/config.yaml refers to; the schema refuses unknown keys."""
    ConfigStore.instance().store(name="run_schema", node=RunSettings)
    register = partial(OmegaConf.register_new_resolver, replace=True)
    register("recgauge.work_folder", lambda name: str(work_folder() / name))
    register("recgauge.store_of_user", store_of_user)
    register("recgauge.program", program)
    restrict_variables()


def typed_settings(config: DictConfig) -> RunSettings:
    """Return a composed configuration, with Hydra's part or without, as the settings of a run."""
    known = [field.name for field in fields(RunSettings)]
    if unknown := [str(key) for key in config if key not in (*known, "hydra")]:
        raise ConfigError(f"{', '.join(unknown)}: there is no such setting. Settings: {', '.join(known)}.")
    values: dict[str, Any] = {name: config[name] for name in known}
    for name, node in values.items():
        values[name] = OmegaConf.to_object(node) if OmegaConf.is_config(node) else node
    return RunSettings(**values)


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


def restrict_variables() -> None:
    """Let ``${oc.env:NAME}`` read recgauge's own variables alone, so that none of the user's gets out."""
    OmegaConf.register_new_resolver("oc.env", _read_variable, replace=True)


def _read_variable(name: str, *default: Any) -> str | None:
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
