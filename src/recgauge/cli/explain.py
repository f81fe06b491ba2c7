"""Errors of Hydra in one message: the setting, the rule and the valid values."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import (
    GrammarParseError,
    InterpolationResolutionError,
    MissingMandatoryValue,
    OmegaConfBaseException,
)
from yaml import YAMLError  # type: ignore[import-untyped]

from recgauge.errors import RecgaugeError, did_you_mean
from recgauge.runs.targets import TARGET, installed_options
from recgauge.sweeps.places import conf_folder

Compose = Callable[[list[str]], DictConfig]
"""Composes a configuration, Hydra's part too, from words of a command line."""
_OPTION = re.compile(r"Could not (?:find|load) '((?:hydra/)?[\w@]+)/([^']+)'")
_MORE = {
    "dataset": " A file of yours: dataset=table dataset.path=FILE.",
    "filters": " Choose a filter first: filters=[NAME].",
    "model.settings": " What is not listed goes to the library by +model.settings.NAME=VALUE.",
}
_KEY = re.compile(r"Could not override '([^']+)'")
_MERGE = re.compile(r"Error merging override ([^=]+)=")
_TYPES = {
    "Integer": "expected a whole number, such as 1",
    "Float": "expected a number, such as 0.5",
    "bool": "expected true or false",
    "Optional": "it must have a value",
    "ListConfig": "expected a list, which is written in brackets, such as [5,10]",
}
"""What OmegaConf's messages name, and what is to be typed."""


def group_options(group: str) -> list[str]:
    """Return the names of the options of a config group."""
    return sorted({file.stem for file in option_files(group)})


def option_files(group: str, own: str | None = None) -> list[Path]:
    """Return the files of the options of a config group, by name; `own` is the user's folder of settings."""
    folders = [conf_folder(), *installed_options().values(), *([] if own is None else [Path(own)])]
    files = [file for folder in folders for file in (folder / group).glob("*.yaml")]
    return sorted(files, key=lambda file: file.stem)


def explain_config_error(error: Exception, words: Sequence[str] = (), compose: Compose | None = None) -> str:
    """Return the message for an error of Hydra, OmegaConf or YAML about words of a command line."""
    text = str(error)
    if isinstance(error, YAMLError):
        return f"a file of settings cannot be read: {' '.join(text.split())}."
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key} has no value, and must have one: add {error.full_key}=VALUE."
    if isinstance(error, InterpolationResolutionError | GrammarParseError):
        reason = text.splitlines()[0].partition(" raised while resolving interpolation: ")
        return (
            f"{error.full_key}: {reason[2] or reason[0]}. ${{...}} in a value refers to another "
            "setting; for a file with such a name write ? instead of $, which is a pattern."
        )
    if isinstance(error, MissingConfigException) and (match := _OPTION.search(text)):
        return _explain_option(match.group(1), match.group(2), sorted(error.options or ()))
    if (match := _KEY.search(text)) and compose is not None:
        return _explain_key(match.group(1), words, compose)
    if isinstance(error, OverrideParseException):
        return (
            f"cannot read {error.override!r} on the command line: {text.splitlines()[0]}. Put quotes around "
            "a value with special characters: 'KEY=\"VALUE\"' (docs/data.md)."
        )
    cause = str(error.__cause__).splitlines()[0] if error.__cause__ else ""
    first = text.split("\nConfig search path")[0].strip()
    rule = next((rule for name, rule in _TYPES.items() if re.search(rf"\b{name}\b", f"{first} {cause}")), "")
    if rule and (match := _MERGE.match(first)):
        word = next((word for word in words if word.startswith(f"{match[1]}=")), match[1])
        return f"{word}: {rule}."
    return f"{first}: {cause}" if cause and cause not in first else first


def _explain_option(group: str, option: str, options: Sequence[str]) -> str:
    if group == "metrics":
        return _explain_metric(option, options)
    return (
        f"{group}={option}: {group} has no such option. {did_you_mean(option, options)}"
        f"Options: {', '.join(options)}.{_MORE.get(group, '')}"
    )


def _explain_metric(option: str, suites: Sequence[str]) -> str:
    """Explain a metric that is mistyped."""
    from recgauge.conventions import get_convention, meant_metric

    name, _ = meant_metric(option, suites)
    hint = f"Did you mean {name}? " if name else ""
    suites = suites or group_options("metrics")
    return (
        f"metrics={option}: there is no such suite or metric. {hint}Suites: {', '.join(suites)}. "
        f"Metrics: {', '.join(get_convention('standard').by_name())}."
    )


def _explain_key(key: str, words: Sequence[str], compose: Compose) -> str:
    """Explain a setting that does not exist by those that are beside it, as the options are chosen."""
    config = OmegaConf.create()
    chosen = [word for word in words if "." not in (name := word.partition("=")[0]) and name != key]
    with suppress(HydraException, OmegaConfBaseException, RecgaugeError):
        config = compose(chosen)
    parent, _, name = key.rpartition(".")
    while parent and not OmegaConf.is_dict(OmegaConf.select(config, parent)):
        if parent in config:  # as null
            options = " or ".join(f"{parent}={option}" for option in group_options(parent))
            return f"{key}: nothing of {parent} is chosen. Add {options}, or leave {key} out."
        parent, _, name = parent.rpartition(".")
    node = OmegaConf.select(config, parent) if parent else config
    names = [str(each) for each in node if each not in ((TARGET, "engine") if parent else ("hydra",))]
    choices, group = config.hydra.runtime.choices if "hydra" in config else {}, parent.replace(".", "/")
    subject = f"{parent} {choices.get(group) or ''}".strip() or "recgauge"
    return (
        f"{key}: {subject} has no such setting. {did_you_mean(name, names)}"
        f"Settings: {', '.join(names) or 'none'}.{_MORE.get(parent, '')}"
    )
