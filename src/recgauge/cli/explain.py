"""Errors of Hydra and of the system in one message: what is wrong, where, and what would be right."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hydra.errors import OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import GrammarParseError, InterpolationResolutionError, MissingMandatoryValue

from recgauge.errors import ConfigError, did_you_mean, nearest
from recgauge.runs.settings import RunSettings, expected
from recgauge.runs.targets import installed_options
from recgauge.sweeps.places import conf_folder, program

_OPTION = re.compile(r"Could not (?:find|load) '([\w@/]+)/([^'/]+)'")
_VALUE = re.compile(r"^Error merging override (\S+=.*)")
_KEY = re.compile(r"Could not override '([^']+)'")
_AMBIGUOUS = re.compile(r"Ambiguous value for argument '([^=']+)=([^']*)'")
_NEEDS_SWEEP = re.compile(r"Sweep parameters '([^']*)' requires --multirun")
_PLUGINS = {
    "hydra/launcher": ("joblib", "ray_aws", "rq"),
    "hydra/sweeper": ("optuna", "ax", "nevergrad"),
}
"""Hydra's other launchers and sweepers, which packages such as hydra-joblib-launcher bring."""
LAUNCHER = "hydra/launcher"


def check_words(words: Sequence[str]) -> None:
    """Refuse words of the command line that are not text: nothing could record them."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ConfigError(
                f"{word}: has bytes that are not UTF-8 text, and records could not name it. Rename the file, "
                "or name it by a pattern: dataset.path='ratings-*.csv'."
            ) from None


def check_assignments(options: Sequence[str], overrides: Sequence[str]) -> None:
    """Refuse options that do not exist, and words that set nothing, with the way to write them."""
    values = [word for word in overrides if "=" not in word and not word.startswith("~")]
    lone = [word for word in values if _is_key(word)]
    for word in options:
        key, _, value = word.lstrip("-").partition("=")
        if _is_key(key):
            value = value or next((other for other in values if other not in lone), "VALUE")
            raise ConfigError(f"{word}: settings have no dashes. Write {key}={value}.")
        raise ConfigError(f"{word}: there is no such option. {program()} --help lists what there is.")
    if lone:
        value = next((other for other in values if other not in lone), "VALUE")
        raise ConfigError(f"{lone[0]}: a setting needs a value. Write {lone[0]}={value}.")
    if values:
        raise ConfigError(f"{values[0]}: expected GROUP=OPTION or KEY=VALUE, such as model=svd or seed=1.")


@dataclass(frozen=True)
class Choices:
    """What the command line chose, and the folders whose files it chose from."""

    words: Sequence[str] = ()
    config_dir: str | None = None

    def options(self, group: str) -> list[str]:
        """Return the names of the options of a group."""
        return sorted({file.stem for folder in self._folders for file in (folder / group).glob("*.yaml")})

    def groups(self) -> list[str]:
        """Return the names of all groups."""
        found = {path.name for folder in self._folders for path in folder.iterdir() if path.is_dir()}
        return sorted(found - {"hydra"})

    def chosen(self, group: str) -> list[str]:
        """Return the options of a group that the command line or the defaults list chooses."""
        typed = [word.partition("=")[2] for word in self.words if word.startswith(f"{group}=")]
        if typed:
            return [name.strip() for name in typed[-1].strip("[]").split(",") if name.strip()]
        defaults = OmegaConf.load(conf_folder() / "config.yaml").defaults
        chosen = [entry[group] for entry in defaults if OmegaConf.is_dict(entry) and group in entry]
        return [str(name) for entry in chosen for name in (entry if OmegaConf.is_list(entry) else [entry])]

    def settings(self, group: str, option: str) -> list[str]:
        """Return the names of an option's settings, with those of the options that its defaults list names.

        A filter's file holds them below its name.
        """
        files = (folder / group / f"{option}.yaml" for folder in self._folders)
        file = next((path for path in files if path.exists()), None)
        node: Any = {} if file is None else OmegaConf.load(file)
        bases = [
            one for one in node.get("defaults", ()) if isinstance(one, str) and one not in (option, "_self_")
        ]
        inherited = [name for base in bases for name in self.settings(group, base)]
        own = node.get(option, {}) if group == "filters" else node
        names = dict.fromkeys([*inherited, *map(str, own)])
        own = ("_target_", "defaults", *(["engine"] if group == LAUNCHER else []))
        return [name for name in names if name not in own]

    @property
    def _folders(self) -> list[Path]:
        own = [] if self.config_dir is None else [Path(self.config_dir)]
        folders = (*own, conf_folder(), *installed_options().values())
        return [folder for folder in folders if folder.is_dir()]


_DEFAULTS = Choices()


def group_options(group: str) -> list[str]:
    """Return the names of the options of a config group."""
    return _DEFAULTS.options(group)


def explain_config_error(error: Exception, choices: Choices = _DEFAULTS) -> str:
    """Return the message for an error of Hydra or OmegaConf."""
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key} has no value, and must have one: add {error.full_key}=VALUE."
    text = str(error)
    if isinstance(error, InterpolationResolutionError | GrammarParseError):
        reason = text.splitlines()[0].partition(" raised while resolving interpolation: ")
        return (
            f"{error.full_key}: {reason[2] or reason[0]}. ${{...}} in a value refers to another "
            "setting; for a file with such a name write ? instead of $, which is a pattern."
        )
    for word in choices.words:
        group, _, value = word.partition("=")
        if group == "dataset" and Path(value).suffix:
            return f"{word}: a data set has a name. For your file: dataset=table dataset.path={value}."
    if match := _OPTION.search(text):
        return _explain_option(match.group(1), match.group(2), choices)
    if match := _KEY.search(text):
        return _explain_key(match.group(1), choices)
    if isinstance(error, OverrideParseException):
        return (
            f"cannot read {error.override!r} on the command line: {text.splitlines()[0]}. Put quotes around "
            "a value with special characters: 'KEY=\"VALUE\"' (docs/data.md)."
        )
    return _explain_value(text) or _own_words(error, text)


def _explain_value(text: str) -> str | None:
    """Explain several values without -m, or a value of a wrong type."""
    if match := _AMBIGUOUS.search(text):
        key, value = match.groups()
        is_list = key in ("metrics", "filters") or expected(key).startswith("a list")
        return (
            f"{key}={value}: these are several values. To run each of them, add -m: {program()} -m "
            f"{key}={value}.{f' For one list write {key}=[{value}].' if is_list else ''}"
        )
    if match := _NEEDS_SWEEP.search(text):
        return f"{match.group(1)}: these are several values. To run each of them, add -m."
    if match := _VALUE.search(text):
        key, _, value = match.group(1).partition("=")
        return f"{key}={value}: {key} must be {expected(key)}."
    return None


def _own_words(error: Exception, text: str) -> str:
    cause = str(error.__cause__).splitlines()[0] if error.__cause__ else ""
    first = text.split("\nConfig search path")[0].strip()
    return f"{first}: {cause}" if cause and cause not in first else first


def _explain_option(group: str, option: str, choices: Choices) -> str:
    if option in _PLUGINS.get(group, ()):
        package = f"hydra-{option.partition('_')[0]}-{group.partition('/')[2]}"
        return (
            f"{group}={option}: the package {package} is not installed. Install it (pip install {package}), "
            "and say that its code may run: allowed_targets=[hydra_plugins]."
        )
    if group == "metrics":
        return _explain_metric(option, choices)
    return (
        f"{group}={option}: {group} has no such option. {_valid('Options', option, choices.options(group))}"
    )


def _explain_metric(option: str, choices: Choices) -> str:
    """Explain a metric that is mistyped, or typed as it is printed, with its cutoff."""
    from recgauge.conventions import get_convention, meant_metric

    suites, names = choices.options("metrics"), list(get_convention("standard").known())
    typed = choices.chosen("metrics")
    meant = {name: meant_metric(name, suites)[0] for name in [*typed, option]}
    cutoffs = sorted({k for name in meant if (k := meant_metric(name)[1]) is not None})
    near = list(dict.fromkeys(filter(None, meant.values())))
    if cutoffs and near:
        hint = f"Cutoffs stand apart: metrics=[{','.join(near)}] cutoffs=[{','.join(map(str, cutoffs))}]. "
    else:
        hint = f"Did you mean {meant[option]}? " if meant[option] else ""
    return (
        f"metrics={option}: there is no such suite or metric. {hint}"
        f"Suites: {', '.join(suites)}. Metrics: {', '.join(names)}."
    )


def _explain_key(key: str, choices: Choices) -> str:
    group, _, rest = key.partition(".")
    if key.startswith("hydra.launcher."):
        group, rest = LAUNCHER, key.removeprefix("hydra.launcher.")
    if group == "filters" and rest:
        return _explain_filter(key, *rest.partition(".")[::2], choices=choices)
    if rest and group in (*choices.groups(), LAUNCHER):
        chosen = choices.chosen("model" if group == "search" else group)  # a search is that of the model
        if chosen in ([], ["None"]):
            options = " or ".join(f"{group}={option}" for option in choices.options(group))
            return f"{key}: nothing of {group} is chosen. Add {options}, or leave {key} out."
        option = next((one for one in chosen if rest not in choices.settings(group, one)), chosen[0])
        names = choices.settings(group, option)
        if rest.partition(".")[0] == "settings" and "settings" in names:
            return f"{key}: {group} {option} does not list it. To hand it to the library, write +{key}=VALUE."
        having = [one for one in choices.options(group) if rest in choices.settings(group, one)]
        is_clear = 0 < len(having) < 4 and nearest(rest, names) is None
        of = f"It is one of {group}={' and '.join(having)}. " if is_clear else ""
        return f"{key}: {group} {option} has no such setting. {of}{_valid('Settings', rest, names)}"
    roots = [field.name for field in fields(RunSettings)] + ["experiment", "debug", "hydra"]
    elsewhere = [f"{group}.{key}" for group in choices.groups() if _has(group, key, choices)]
    hint = f" Did you mean {' or '.join(elsewhere)}?" if elsewhere else ""
    return f"{key}: there is no such setting.{hint} {_valid('Settings', key, roots)}"


def _explain_filter(key: str, name: str, setting: str, choices: Choices) -> str:
    """Explain a setting of a filter; filters are chosen as a list, and each file holds one by its name."""
    chosen, options = choices.chosen("filters"), choices.options("filters")
    if name not in options:
        return f"{key}: there is no such filter. {_valid('Filters', name, options)}"
    if name not in chosen:
        return f"{key}: {name} is not among the filters. Choose it: filters=[{','.join([*chosen, name])}]."
    names = choices.settings("filters", name)
    return f"{key}: {name} has no such setting. {_valid('Settings', setting, names)}"


def _has(group: str, key: str, choices: Choices) -> bool:
    return any(key in choices.settings(group, option) for option in choices.chosen(group))


def _is_key(word: str) -> bool:
    return word.partition(".")[0] in {*_DEFAULTS.groups(), *(field.name for field in fields(RunSettings))}


def _valid(kind: str, wrong: str, names: Sequence[str]) -> str:
    return f"{did_you_mean(wrong, names)}{kind}: {', '.join(names) or 'none'}."
