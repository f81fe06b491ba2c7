"""Hydra's errors in one message: what is wrong, where, and what would be right."""

import re
import sys
from dataclasses import fields
from difflib import get_close_matches

from hydra.errors import OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import GrammarParseError, InterpolationResolutionError, MissingMandatoryValue

from recgauge.app.settings import RunSettings, conf_folder
from recgauge.errors import ConfigError

_OPTION = re.compile(r"Could not (?:find|load) '([\w@]+)/([^']+)'")
_VALUE = re.compile(r"^Error merging override (\S+=.*)")
_EXPECTED = {
    "cutoffs": "a list of whole numbers such as [5,10]",
    "seed": "a whole number such as 0",
    "ties": "a name such as expected",
    "conventions_table": "true or false",
    "sanity": "true or false",
    "guards": "left as it is; set what is in it, such as guards.override=[NAME]",
    "guards.override": "a list of names such as [overlap]",
    "figures": "true or false",
    "artifacts": "left as it is; set what is in it, such as artifacts.lists=false",
    "reuse": "true or false",
    "force": "true or false",
    "data.offline": "true or false",
    "allowed_targets": "a list of package names such as [mypackage]",
    "engine": "left as it is; set what is in it, such as engine.memory_mib=256",
    "data": "left as it is; set what is in it, such as data.mirror=FOLDER",
    "engine.memory_mib": "a whole number such as 256",
}
_KEY = re.compile(r"Could not override '([^']+)'")


def check_words(words: list[str]) -> None:
    """Refuse words of the command line that are no text: nothing could record them.

    Raises
    ------
    ConfigError
        If a word has bytes that are not UTF-8.
    """
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ConfigError(
                f"{word}: has bytes that are no UTF-8 text, and records could not name it. Rename the file, "
                "or name it by a pattern: dataset.path='ratings-*.csv'."
            ) from None


def explain_config_error(error: Exception) -> str:
    """Return the message for an error of Hydra or OmegaConf.

    Parameters
    ----------
    error : Exception
        Raised while the configuration was composed.

    Returns
    -------
    str
        For an unknown option or key: the valid ones and the nearest; else the error's own words.
    """
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key} has no value, and must have one: add {error.full_key}=VALUE."
    text = str(error)
    if isinstance(error, InterpolationResolutionError | GrammarParseError):
        reason = text.splitlines()[0].partition(" raised while resolving interpolation: ")
        return (
            f"{error.full_key}: {reason[2] or reason[0]}. ${{...}} in a value stands for another "
            "setting; for a file with such a name write ? in place of $, which is a pattern."
        )
    if match := _OPTION.search(text):
        group, option = match.groups()
        options = group_options(group)
        return f"{group}={option}: {group} has no such option. {_valid('Options', option, options)}"
    if match := _KEY.search(text):
        return _explain_key(match.group(1))
    if isinstance(error, OverrideParseException):
        return (
            f"cannot read {error.override!r} on the command line: {text.splitlines()[0]}. Put quotes around "
            "a value with special signs: 'KEY=\"VALUE\"' (docs/data.md)."
        )
    if match := _VALUE.search(text):
        key, _, value = match.group(1).partition("=")
        return f"{key}={value}: {key} must be {_EXPECTED.get(key, 'of another type')}."
    cause = str(error.__cause__).splitlines()[0] if error.__cause__ else ""
    first = text.split("\nConfig search path")[0].strip()
    return f"{first}: {cause}" if cause and cause not in first else first


def group_options(group: str) -> list[str]:
    """Return the names of the options of a config group."""
    return sorted(path.stem for path in (conf_folder() / group).glob("*.yaml"))


def _explain_key(key: str) -> str:
    group, _, rest = key.partition(".")
    if group == "filters" and rest:
        return _explain_filter(key, *rest.partition(".")[::2])
    if rest and (conf_folder() / group).is_dir():
        lacking = [option for option in _chosen(group) if rest not in _settings(group, option)]
        option = lacking[0] if lacking else _chosen(group)[0]
        names = _settings(group, option)
        return f"{key}: {group} {option} has no such setting. {_valid('Settings', rest, names)}"
    roots = [field.name for field in fields(RunSettings)] + ["experiment", "debug", "hydra"]
    groups = sorted(folder.name for folder in conf_folder().iterdir() if folder.is_dir())
    elsewhere = [f"{group}.{key}" for group in groups if _has(group, key)]
    hint = f" Did you mean {' or '.join(elsewhere)}?" if elsewhere else ""
    return f"{key}: there is no such setting.{hint} {_valid('Settings', key, roots)}"


def _explain_filter(key: str, name: str, setting: str) -> str:
    """Explain a setting of a filter; filters are chosen as a list, and each file holds one by its name."""
    chosen = [word.strip("[] ") for word in _chosen("filters") if word.strip("[] ")]
    if name not in group_options("filters"):
        return f"{key}: there is no such filter. {_valid('Filters', name, group_options('filters'))}"
    if name not in chosen:
        return f"{key}: {name} is not among the filters. Choose it: filters=[{','.join([*chosen, name])}]."
    node = OmegaConf.select(OmegaConf.load(conf_folder() / "filters" / f"{name}.yaml"), name)
    names = [str(key) for key in node if key != "_target_"]
    return f"{key}: {name} has no such setting. {_valid('Settings', setting, names)}"


def _has(group: str, key: str) -> bool:
    return any(key in _settings(group, option) for option in _chosen(group))


def _settings(group: str, option: str) -> list[str]:
    file = conf_folder() / group / f"{option}.yaml"
    return [name for name in map(str, OmegaConf.load(file)) if name != "_target_"] if file.exists() else []


def _chosen(group: str) -> list[str]:
    """Return the options of `group` that the command line or the defaults list chooses."""
    given = [word.partition("=")[2] for word in sys.argv[1:] if word.startswith(f"{group}=")]
    if given:
        return given[-1].split(",")
    defaults = OmegaConf.load(conf_folder() / "config.yaml").defaults
    return [str(entry[group]) for entry in defaults if OmegaConf.is_dict(entry) and group in entry]


def _valid(kind: str, wrong: str, names: list[str]) -> str:
    near = get_close_matches(wrong, names, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return f"{hint}{kind}: {', '.join(names) or 'none'}."
