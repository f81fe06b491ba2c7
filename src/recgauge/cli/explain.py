"""Errors of Hydra in one message: the setting, the rule and the valid values."""

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
)

from recgauge.errors import ConfigError, RecgaugeError, did_you_mean, said
from recgauge.files.columns import LOOK
from recgauge.runs.settings import use_of
from recgauge.runs.targets import TARGET, installed_options
from recgauge.sweeps.places import conf_folder, program

_OWN_FILE = "A file of yours: dataset=table dataset.path=FILE."
_REMEDIES = {
    "dataset": _OWN_FILE,
    "tune": "To tune: tune=tpe.",
    "model": "One of yours: --config-dir=FOLDER (docs/own_model.md).",
}
"""Where an option of a group does not exist."""
_SETTING_REMEDIES = {
    "dataset": _OWN_FILE,
    "filters": "Choose a filter first: filters=[NAME].",
    "tune": "Choose a search first: tune=tpe.",
    "search": "Another setting of the model: '+search.NAME=[VALUE,VALUE]' (docs/tuning.md).",
    "model.settings": "What is not listed goes to the library by +model.settings.NAME=VALUE.",
}
"""Where a setting does not exist and nothing else is near it."""
_WHOLE = "expected a whole number, such as 1; several with -m: 1,2."
_TYPES = {
    "converted to Integer": _WHOLE,
    "converted to Float": "expected a number, such as 0.5.",
    "not a valid bool": "expected true or false.",
    "not Optional": "expected a value.",
    "NoneType is not": "expected a value.",
    "not a ListConfig": "expected a list, which is written in brackets: KEY=[VALUE].",
    "Settings. value": "has settings of its own, which docs/settings.md lists.",
    "DictConfig with ListConfig": "has settings of its own. For a list: '~NAME' '+NAME=[A,B]'.",
}
"""What OmegaConf says of a value of the wrong type, and what is expected."""
_MENDED_BY = {
    "nterpolation": "${...} refers to another setting; for a file with such a name write ? instead of $.",
    "KeyError": "hydra.job.env_copy: set variables of the environment in the shell.",
    "": "docs/settings.md says what can be set, and to what.",
}
"""What else Hydra and OmegaConf say, and what is to be typed instead; the last for all else."""


def group_options(group: str) -> list[str]:
    """Return the names of the options of a config group."""
    return [file.stem for file in option_files(group)]


def option_files(group: str, own: str | None = None) -> list[Path]:
    """Return the files of the options of a config group, by name; `own` is the user's folder of settings."""
    installed = [folder for _, folder in installed_options()]
    folders = [conf_folder(), *installed, *([] if own is None else [Path(own)])]
    files = [file for folder in folders for file in (folder / group).glob("*.yaml")]
    return sorted(files, key=lambda file: file.stem)


def first_comment(file: Path) -> list[str]:
    """Return the lines of the comment that a file of settings begins with."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.lstrip("# ") for line in takewhile(lambda line: line.startswith("#"), lines)]


@contextmanager
def explained(model: str = "") -> Iterator[None]:
    """Give an error of Hydra, OmegaConf or YAML as one message; `model` is that of a sweep's job."""
    try:
        yield
    except MissingConfigException as error:  # an OSError, too
        raise ConfigError(_explain_option(error)) from error
    except (RecgaugeError, OSError):
        raise
    except Exception as error:  # Hydra, OmegaConf and YAML have no common one
        raise ConfigError(_explain(error, model)) from error


def _explain(error: Exception, model: str) -> str:
    """Return what is wrong by the first line of Hydra, OmegaConf or YAML, and what is expected."""
    cause = error.__cause__ or error
    if isinstance(cause, ConfigKeyError | ConfigAttributeError):
        return _explain_key(cause, model)
    first, reason = (str(each).partition("\n")[0].rstrip(".") for each in (error, cause))
    if isinstance(error, OverrideParseException):
        return f"{error.override}: {_unread(error.override)}"
    if not isinstance(cause, (HydraException, OmegaConfBaseException)):
        reason = f"{type(cause).__name__} {said(cause)}"
    subject = getattr(error, "full_key", None) or "settings"
    if isinstance(error, MissingMandatoryValue):
        look = f" {LOOK}" * (subject == "dataset.path")
        return f"{subject} has no value, and must have one: add {subject}=VALUE.{look}"
    if cause is not error:
        subject = first.removeprefix("Error merging override ")
    if expected := next((text for words, text in _TYPES.items() if words in reason), ""):
        return _expected(expected, subject, cause)
    remedy = next(text for words, text in _MENDED_BY.items() if words in reason)
    return f"{subject}: {reason}. {remedy}"


def _unread(word: str) -> str:
    """Return what is expected of a word that is no setting."""
    for first, last in ("[]", "{}"):
        if word.count(first) > word.count(last):
            return f"a bracket is missing: write {last} behind the value."
    key, _, value = word.partition("=")
    if re.fullmatch(r"\([^{}]*\)|\[[^{}]*[;\s][^{}]*\]", value):
        cells = re.findall(r"\"[^\"]*\"|'[^']*'|[^\s,;\"'()[\]]+", value)
        return f"a list has square brackets and commas: {shlex.quote(f'{key}=[' + ','.join(cells) + ']')}."
    if word in ("help", "version", "plan", "resolve", "multirun"):
        return f"is an option: {program()} --{word}."
    if likely := option_words(word):
        return f"expected GROUP=OPTION. Did you mean {' or '.join(likely)}?"
    return (
        "expected GROUP=OPTION or KEY=VALUE, such as model=svd or seed=1, and quotes around a value with "
        "special characters: 'KEY=\"VALUE\"' (docs/data.md)."
    )


def option_words(option: str) -> list[str]:
    """Return what to type to choose an option whose group is not given."""
    groups = sorted(folder.name for folder in conf_folder().iterdir())
    return [f"{group}={option}" for group in groups if group != "search" and option in group_options(group)]


def _expected(expected: str, subject: str, cause: BaseException) -> str:
    """Return what is expected of a typed word, or of its one cell that is wrong, and what to type instead."""
    (key, _, value), found = subject.partition("="), getattr(cause, "value", None)
    if use_of(key.split(".")[0]) in ("place", "output"):
        expected = expected.replace("; several with -m: 1,2", "")
    if (cell := str(getattr(cause, "full_key", ""))).endswith("]"):
        return f"{subject}: {cell} is {found!r}; {expected.partition(';')[0].rstrip('.')}."
    if expected.startswith("has settings"):
        likely = "".join(f" Did you mean {word}?" for word in option_words(value))
        return f"{key}: {expected}{likely}"
    if expected is _WHOLE and (ends := re.fullmatch(r"(\d{1,9})(?:-|\.\.|:)(\d{1,9})", value)):
        first, last = map(int, ends.groups())
        return (
            f"{subject}: expected a whole number. For a run with each: -m '{key}=range({first},{last + 1})'."
        )
    values = "5,10" if key == "cutoffs" and not value.isdecimal() else value or found
    return f"{subject}: {expected.replace('KEY=[VALUE]', f'{key}=[{values}]')}"


def _explain_option(error: MissingConfigException) -> str:
    """Explain an option that does not exist by those that are in its group."""
    name = str(error.missing_cfg_file)  # of an option, which may itself be the path of a file
    group, _, option = name.rpartition("/") if name.startswith("hydra/") else name.partition("/")
    if group == "dataset" and ("." in option or Path(option).exists()):
        path = shlex.quote(f"dataset.path={option}")
        return f"dataset={option}: is no option. A file of yours is a table: dataset=table {path}."
    options = sorted(error.options or group_options(group))
    if group == "metrics" and "@" in option:
        if not option.partition("@")[2].isdecimal():
            return f"metrics={option}: after @ stands a whole number, as in ndcg@10."
        return f"metrics={option}: of metrics with cutoffs write one list: metrics=[ndcg@10,recall@20]."
    if group == "metrics":
        from recgauge.conventions import explain_metric

        reason = f"there is no such suite or metric. {explain_metric(option, options)} Suites"
    else:
        titles = {file.stem: " ".join(first_comment(file)[:1]).lower() for file in option_files(group)}
        of_word = [name for name, title in titles.items() if option.lower() in title.split()][:3]
        likely = f"Did you mean {' or '.join(of_word)}? " if of_word else did_you_mean(option, options)
        reason = f"{group} has no such option. {likely}Options"
    return f"{group}={option}: {reason}: {', '.join(options)}. {_REMEDIES.get(group, '')}".rstrip()


def _explain_key(error: OmegaConfBaseException, model: str) -> str:
    """Explain a setting that does not exist by those that are beside it."""
    key, node = str(error.full_key), error.parent_node
    parent, name = key.rpartition(".")[0], str(error.key)
    settings: Any = [] if node is None else OmegaConf.to_container(node, resolve=False)
    names = [str(each) for each in settings if each not in (TARGET, "hydra")]
    owner = parent or "recgauge"
    if TARGET in settings:
        owner += f" ({settings[TARGET].rpartition('.')[2]})"
    inside = [
        f"{each}.{name}" for each in names if isinstance(settings[each], dict) and name in settings[each]
    ]
    likely = f"Did you mean {' or '.join(inside)}? " if inside else did_you_mean(name, names)
    likely = likely or did_you_mean(re.sub("fraction|ratio|share", "size", name), names)
    remedy = "" if likely else _SETTING_REMEDIES.get(parent, "")
    if parent in ("model", "search") and name in group_options("model"):
        return f"{key}: holds beside model={name} alone, which is not typed. Add it, or leave {key} out."
    if parent in ("model", "search") and model:
        owner = f"the search of model={model}" if parent == "search" else owner
        likely = likely or did_you_mean(name, group_options("model"))
        remedy = "" if likely else f"For another model of the sweep alone write {parent}.MODEL.{name}."
    reason = f"{owner} has no such setting. {likely}Settings"
    return f"{key}: {reason}: {', '.join(names) or 'none'}. {remedy}".rstrip()
