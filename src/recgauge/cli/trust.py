"""One rule of trust: a file of settings may be a stranger's, so it decides neither code nor hosts.

What the rule guards is as our own files have it, or the user has typed it. All else are data.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from shlex import quote
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.errors import ConfigError, printable
from recgauge.runs.targets import TARGET, allowed_packages, check_plain, installed_options
from recgauge.sweeps.places import conf_folder

LAUNCHER = "hydra_plugins.recgauge_launcher.RecgaugeLauncher"
SWEEPER = "hydra_plugins.recgauge_sweeper.RecgaugeSweeper"
ENVIRONMENT = (
    "a configuration may not set environment variables (hydra.job.env_set, hydra.job.env_copy), which decide "
    "what other programs do. Set them in the shell."
)
_QUIET = (  # as Hydra's ``disabled`` and ``none``; other settings could name classes of handlers
    {"version": 1, "root": {"level": "ERROR"}, "disable_existing_loggers": True},
    {"version": 1, "root": None, "disable_existing_loggers": False},
)
_LOGS = "settings of logging can name code to run; leave disabled."
GUARDED: Mapping[str, tuple[Sequence[Any], str]] = {
    "callbacks": (
        ({}, {"sweep": {TARGET: "recgauge.cli.launching.SweepEnd"}}),
        "a configuration may not add callbacks; leave them out.",
    ),
    "job_logging": (_QUIET, _LOGS),
    "hydra_logging": (_QUIET, _LOGS),
    "job.env_set": (({},), ENVIRONMENT),
    "job.env_copy": (([],), ENVIRONMENT),
    "output_subdir": (
        (None,),
        "leave it null. Hydra would store the settings with all passwords; config.yaml in the output folder "
        "has them without.",
    ),
}
"""Settings of Hydra that can run code, the values that ours have, and what to do; nobody may type others."""
TYPED = ("launcher.address", "launcher.setup", "launcher.additional_parameters")
"""Settings of Hydra that are there to run code: lines of shell, options of sbatch, another's cluster."""
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


def check_trusted(config: DictConfig, words: Sequence[Override]) -> None:
    """Refuse a configuration with code or a host that neither our own files nor the words name."""
    hydra: Any = OmegaConf.to_container(config.hydra, resolve=False)
    for path, (ours, remedy) in GUARDED.items():
        if _at(hydra, path) not in (*ours, None):
            raise ConfigError(f"hydra.{path}: {remedy}")
    names = {word.key_or_group.removeprefix("hydra.") for word in words}
    for path in TYPED:
        value = _at(hydra, path)
        parts = [f"{path}.{key}" for key in value] if isinstance(value, Mapping) else [path]
        if value and path not in names and not names.issuperset(parts):
            raise ConfigError(
                f"hydra.{path}: a file of settings may not set it, since it can run code. Type it."
            )
    trusted = _check_packages(config, words)
    plugins = {"launcher": LAUNCHER, "sweeper": SWEEPER}
    for part, own in plugins.items():
        _check_plugin(hydra[part] or {}, f"hydra.{part}", own, trusted)
    settings = {str(name): _resolved(config, str(name)) for name in config if name != "hydra"}
    settings["hydra"] = {
        part: {key: node for key, node in (hydra[part] or {}).items() if key != "params"} for part in plugins
    }
    check_addresses(settings, [str(word.input_line) for word in words])


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
    >>> found = {"tracking": {"uri": "http://somewhere:5000/"}}
    >>> check_addresses(found, ["tracking.uri=http://ann:secret@somewhere:5000"], {})
    >>> check_addresses(found, [], {"MLFLOW_TRACKING_URI": "http://here:5000"})
    Traceback (most recent call last):
        ...
    recgauge.errors.ConfigError: tracking.uri: a file of settings, not you, names http://somewhere:5000...
    """
    typed = {word.lstrip("+").partition("=")[0] for word in words}
    places = [(path, place) for path, text in _texts(settings) if (place := _place(text)) is not None]
    typed_texts = [*words, *(text for name, text in environment.items() if name.startswith(_VARIABLES))]
    named = {place for path, place in places if path in typed} | _named(typed_texts)
    for path, place in sorted(places):
        if place not in named and place not in _ours():
            raise ConfigError(
                f"{path}: {owner}, not you, names {printable(place)}. If you trust it with your data and "
                f"passwords, type {option + quote(place) if option else f'{path}=ADDRESS'}."
            )


def _texts(node: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts of settings with their paths; a mirror's may be several, with ``|`` between them."""
    if isinstance(node, str):
        yield from ((path, text.strip()) for text in (node.split("|") if path.endswith("mirror") else [node]))
    elif isinstance(node, Mapping):
        for key, part in node.items():
            if key not in _ABOUT:
                yield from _texts(part, f"{path}.{key}".lstrip("."))
    elif isinstance(node, (list, tuple)):
        for part in node:
            yield from _texts(part, path)


def _place(text: str) -> str | None:
    """Return kind and host of an address, None of a file; an address in an odd form counts as a whole."""
    if _LOCAL.match(text):
        return None
    plain = _PLAIN.fullmatch(text)
    return text if plain is None else f"{plain[1]}://{plain['host']}".lower()


def _named(texts: Sequence[str]) -> set[str | None]:
    """Return the places of the addresses in texts, which can be lists in brackets."""
    found = [each for text in texts for each in (text, *text.split("|"), *_IN_A_TEXT.findall(text))]
    return {_place(form) for each in found for form in (each, each.rstrip("]})"))}


@cache
def _ours() -> set[str | None]:
    """Return the places that our own files of settings name, and those of installed packages."""
    folders = (conf_folder(), *installed_options().values())
    return _named([file.read_text(encoding="utf-8") for each in folders for file in each.rglob("*.yaml")])


def _check_packages(config: DictConfig, words: Sequence[Override]) -> list[str]:
    """Return the packages that the words trust; refuse others."""
    named = _resolved(config, "allowed_targets") or []
    values = [word.value() for word in words if word.key_or_group == "allowed_targets"]
    trusted = [str(name) for value in values if isinstance(value, list) for name in value]
    if unknown := [name for name in named if name not in trusted]:
        raise ConfigError(
            f"allowed_targets: a file of settings names {', '.join(map(str, unknown))}. Say whose code you "
            f"trust on the command line: allowed_targets=[{','.join(map(str, named))}]."
        )
    allowed_packages(named)
    return trusted


def _check_plugin(settings: Mapping[str, Any], path: str, own: str, trusted: Sequence[str]) -> None:
    target = settings.get(TARGET, own)
    if target != own and not str(target).startswith(tuple(f"{package}." for package in trusted)):
        raise ConfigError(
            f"{path}.{TARGET}: {target!r} is not {own}. If you trust its package, name it on the command "
            "line: allowed_targets=[PACKAGE]."
        )
    if "${" in str(settings):  # which could be another thing by the time that Hydra acts on it
        raise ConfigError(f"{path}: write out what it is; it may not refer to other settings.")
    check_plain({key: node for key, node in settings.items() if key != TARGET}, path)
    for key in settings.get("params") or ():
        if str(key).lstrip("+~").startswith(("hydra", "allowed_targets")):
            raise ConfigError(f"{path}.params: {key} cannot be swept; name it on the command line.")


def _at(node: Any, path: str) -> Any:
    """Return what stands at a path with dots, None if nothing does."""
    for key in path.split("."):
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def _resolved(config: DictConfig, key: str) -> Any:
    """Return a setting with what it refers to, None where that fails: whoever uses it gets the error."""
    try:
        node = OmegaConf.select(config, key)
        return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node
    except OmegaConfBaseException:
        return None
