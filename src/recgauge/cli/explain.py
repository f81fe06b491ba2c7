"""Errors of Hydra in one message: the setting, the rule and the valid values."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
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

from recgauge.errors import ConfigError, RecgaugeError, did_you_mean, said
from recgauge.runs.targets import TARGET, installed_options
from recgauge.sweeps.places import conf_folder

Compose = Callable[[Sequence[str]], DictConfig]
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


def first_comment(file: Path) -> list[str]:
    """Return the lines of the comment that a file of settings begins with."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.lstrip("# ") for line in takewhile(lambda line: line.startswith("#"), lines)]


@contextmanager
def explained(words: Sequence[str] = (), compose: Compose | None = None) -> Iterator[None]:
    """Give an error of Hydra, OmegaConf or YAML about words of a command line as one message."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:  # some are OSErrors, too
        raise ConfigError(_explanation(error, words, compose)) from error
    except (RecgaugeError, OSError):
        raise
    except YAMLError as error:
        raise ConfigError(f"a file of settings cannot be read: {said(error)}.") from error
    except KeyError as error:  # how Hydra answers a variable that is not set
        raise ConfigError("hydra.job.env_copy: set variables of the environment in the shell.") from error
    except Exception as error:  # how Hydra and OmegaConf answer what they did not expect
        raise ConfigError(
            f"the settings cannot be composed ({type(error).__name__}: {said(error)}). In lists of "
            "defaults, options are texts, such as 'off' in quotes; a word hydra.KEY=VALUE names one "
            "of Hydra's settings."
        ) from error


def _explanation(error: Exception, words: Sequence[str], compose: Compose | None) -> str:
    text = str(error)
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key} has no value, and must have one: add {error.full_key}=VALUE."
    if isinstance(error, InterpolationResolutionError | GrammarParseError):
        reason = text.splitlines()[0].partition(" raised while resolving interpolation: ")
        return (
            f"{error.full_key}: {reason[2] or reason[0]}. ${{...}} in a value refers to another "
            "setting; for a file with such a name write ? instead of $, which is a pattern."
        )
    if isinstance(error, MissingConfigException) and (match := _OPTION.search(text)):
        return _explain_option(match[1], match[2], error.options or ())
    if (match := _KEY.search(text)) and compose is not None:
        return _explain_key(match[1], words, compose)
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
        from recgauge.conventions import explain_metric

        suites = options or group_options("metrics")
        return (
            f"metrics={option}: there is no such suite or metric. {explain_metric(option, suites)} "
            f"Suites: {', '.join(sorted(suites))}."
        )
    return (
        f"{group}={option}: {group} has no such option. {did_you_mean(option, options)}"
        f"Options: {', '.join(sorted(options))}.{_MORE.get(group, '')}"
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
