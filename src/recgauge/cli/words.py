"""The words of a run's command line, and the configuration that they choose.

A file of settings may be a stranger's. So Hydra composes the configuration, and acts on nothing of it, and it
is checked before anything else is done.
"""

import re
import shlex
from argparse import ArgumentError, ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, read_write

from recgauge.cli.explain import explained, option_words
from recgauge.cli.trust import check_trusted
from recgauge.errors import ConfigError, nearest
from recgauge.metrics.names import without_cutoffs, without_label
from recgauge.runs.settings import RunSettings, option_groups
from recgauge.runs.targets import installed_options
from recgauge.search.space import value_of
from recgauge.sweeps.places import conf_folder, program

_PRINTED = re.compile(r"metrics=(?:\w+@\d+|\[(?:\w+,)*\w+@\d+(?:,\w+(?:@\d+)?)*\])")
_NO_DASHES = "settings have no dashes: write {0}"
_TYPOS = {
    r"--?(?!(?:cd|cfg|multirun|resolve|version|help)=)([\w./@+~]{2,}=.*)": f"{_NO_DASHES}.",
    r"-(m\w+)": f"{_NO_DASHES}=VALUE.",
    r"(-m|--multirun)=(.*=.*)": "write {0} {1}.",
    r"(-m|--multirun)=.*": "write {0} {likely}.",
}
"""Words with dashes that are no options, and what is to be typed instead."""
_SEPARATOR = re.compile(r"=([,;|:\s]+)\Z")
_PART = re.compile(
    r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\$\{[^}]*\}|[^][{}(),:='"\\\s]+(?: +[^][{}(),:='"\\\s]+)*"""
)
"""What is in quotes, a reference, or a bare text of a value."""
_OTHER_LETTER = re.compile(r"[^\W\x00-\x7f]")
_NO_NAME = re.compile(r"true|false|[+-]?[0-9.]+(e[+-]?[0-9]+)?", re.IGNORECASE)
"""What Hydra takes for a truth or a number where a group has options."""
_TEXT = "dataset.weights="
"""The mapping whose keys are anyone's words, which recgauge reads from a text, too."""
_TAKES_ONE = (*option_groups("rows", "model", "output", options="one"), "tune", "experiment", "debug")


@dataclass(frozen=True)
class CommandLine:
    """Words that choose and change settings, and the options beside them."""

    overrides: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, words: Sequence[str]) -> "CommandLine":
        """Take the words apart; settings may follow options, and ``--plan`` is short for ``plan=true``."""
        options, rest = _taken_apart(words)
        if rest:
            own, name = "; files of yours come by --config-dir=FOLDER", rest[0].lstrip("-")
            name = ("." not in name and nearest(name, RunSettings.__annotations__)) or name
            value = next((word for word in words[words.index(rest[0]) + 1 :][:1] if "=" not in word), "VALUE")
            raise ConfigError(
                f"{rest[0]}: there is no such option; {program()} --help lists what there is. Settings "
                f"have no dashes: write {name}={value}{own * name.startswith('c')}."
            )
        if options.resolve:
            options.cfg = options.cfg or "job"
        # quotes of dataset.separator=";" that the shell has taken away, and that Hydra needs, as for umlauts
        typed = [_quoted(_SEPARATOR.sub(r"='\1'", word)) for word in options.overrides]
        if apart := [word for word in typed if word.endswith(",") or word == "="]:
            raise ConfigError(f"{apart[0]}: write no blanks around = and commas: model=popularity,svd.")
        overrides = _with_cutoffs([*typed, *(["plan=true"] if options.plan else [])])
        for word in overrides:
            if word != word.encode(errors="replace").decode():  # Python's signs for what it cannot decode
                raise ConfigError(
                    f"{word}: has bytes that are not UTF-8 text, and records could not name it. Rename the "
                    "file, or name it by a pattern: dataset.path='ratings-*.csv'."
                )
            if word.lstrip("+~").startswith("hydra.searchpath"):
                raise ConfigError("hydra.searchpath: cannot be set. Type --config-dir=FOLDER.")
        return cls((*overrides, *_search_path(options.config_dir)), vars(options))

    @cached_property
    def parsed(self) -> list[Override]:
        """The overrides as Hydra reads them; those of one model without its name, unless models are swept."""
        parser = OverridesParser.create()
        with explained():
            parsed = parser.parse_overrides(list(self.overrides))
            model = next((word for word in parsed if word.key_or_group == "model"), None)
            if model is None or model.is_sweep_override():
                return parsed
            return parser.parse_overrides(words_of_model(self.overrides, [name := str(model.value())], name))

    @property
    def typed(self) -> str:
        """The command line without ``-m``, as one types it."""
        folder, plan = self.options.get("config_dir"), self.options.get("plan")
        own = [*(["--plan"] if plan else []), *([f"--config-dir={folder}"] if folder else [])]
        return shlex.join([*self.options.get("overrides", self.overrides), *own])

    @property
    def swept(self) -> list[str]:
        """The overrides that give a setting several values."""
        return [str(word.input_line) for word in self.parsed if word.is_sweep_override()]

    def composed(self) -> DictConfig:
        """Return the checked configuration, Hydra's part included, without swept values.

        Its mode says whether one job runs or a sweep; Hydra's list of overrides has the swept words, too.
        """
        check_words(self.parsed)
        for word in self.parsed:
            if word.key_or_group == "metrics":
                offer_metrics(str(word.input_line).partition("=")[2])
        with explained(), hydra_loader():
            words = [str(word.input_line) for word in _single(self.parsed)]
            config = compose("config", words, return_hydra_config=True)
        check_trusted(config, self.parsed)
        if len(config.hydra.overrides.task) + len(config.hydra.overrides.hydra) > len(words):
            raise ConfigError("hydra.overrides: a configuration may not say what was typed; leave it out.")
        is_sweep = self.options.get("multirun") or config.hydra.mode == RunMode.MULTIRUN
        if self.swept and not is_sweep:
            key, _, value = self.swept[0].partition("=")
            chosen = value_of(OmegaConf.to_container(config, resolve=False), key)  # type: ignore[arg-type]
            is_list, in_brackets = isinstance(chosen, list), value.startswith("[")
            takes_list = is_list or chosen == "???" or key in ("metrics", "filters")
            remedies = [f"To run each of them, add -m: {program()} -m {self.typed}."]
            if isinstance(chosen, float) and re.fullmatch(r"\d+,\d+", value):
                remedies = [f"A number has a decimal point: {key}={value.replace(',', '.')}."]
            elif "@" in value or (is_list and not in_brackets):
                remedies = []
            remedies += [f"For one list write {key}=[{value}]."] * (takes_list and not in_brackets)
            raise ConfigError(" ".join([f"{self.swept[0]}: these are several values.", *remedies]))
        if declared := (config.hydra.sweeper.get("params") or {}).get("metrics"):
            offer_metrics(str(declared))
        with read_write(config.hydra):
            config.hydra.mode = RunMode.MULTIRUN if is_sweep else RunMode.RUN
            config.hydra.overrides.task = task_words(self.parsed)
        return config


@contextmanager
def hydra_loader() -> Iterator[ConfigLoader]:
    """Give Hydra's loader of recgauge's settings; a sweep at work goes on with its own afterwards."""
    running = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(conf_folder()), job_name="run", version_base="1.3"):
            yield GlobalHydra.instance().config_loader()
    finally:
        GlobalHydra.instance().hydra = running


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog=program(), add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("overrides", nargs="*")
    for name, short in (("help", "-h"), ("version", "-v"), ("resolve", "-r"), ("multirun", "-m")):
        parser.add_argument(f"--{name}", short, action="store_true")
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--cfg", "-c", choices=("job",))
    parser.add_argument("--config-dir", "-cd")
    return parser


def _taken_apart(words: Sequence[str]) -> tuple[Namespace, list[str]]:
    """Return the options and settings of a command line, and options that do not exist."""
    for word, (typo, remedy) in product(words, _TYPOS.items()):
        if match := re.fullmatch(typo, word, re.DOTALL):
            likely = [*option_words(word.partition("=")[2]), "GROUP=OPTION,OPTION"][0]
            raise ConfigError(f"{word}: {remedy.format(*match.groups(), likely=likely)}")
    try:
        return _parser().parse_known_intermixed_args(words)
    except ArgumentError as error:
        raise ConfigError(
            f"{error.argument_name}: {error.message}. {program()} --help lists what there is."
        ) from error


def _search_path(own: str | None) -> list[str]:
    """Return the override with the user's folder of settings and those of installed packages, if any."""
    folders = [folder for _, folder in installed_options()]
    if own is not None:
        if not Path(own).is_dir():
            raise ConfigError(f"--config-dir={own}: there is no such folder.")
        folders.insert(0, Path(own).absolute())
    quoted = [str(folder).replace("\\", "\\\\").replace("'", "\\'") for folder in folders]
    paths = ",".join(f"'file://{folder}'" for folder in quoted)
    return [f"hydra.searchpath=[{paths}]"] if folders else []


def _quoted(word: str) -> str:
    """Return a word with quotes around letters that Hydra has no name for: ``[Kauf,'Rückgabe']``.

    So are options of a group that it takes for no text, such as ``tune=true``. Hydra takes no quotes around
    keys of a mapping; that of weights becomes a text.
    """
    key, sign, value = word.partition("=")
    is_group = "." not in key and value[:1] != "{" and (conf_folder() / key).is_dir()
    if word.startswith(f"{_TEXT}{{") and _OTHER_LETTER.search(value):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"{key}='{escaped}'"

    def part(match: re.Match[str]) -> str:
        text = match[0]
        is_other = _OTHER_LETTER.search(text) or (is_group and _NO_NAME.fullmatch(text))
        return f"'{text}'" if is_other and text[0] not in "'\"$" else text

    return f"{key}{sign}{_PART.sub(part, value)}"


def weights_of(text: str) -> dict[str, float]:
    """Return the weights of events that a text in YAML has.

    Raises
    ------
    ConfigError
        If it is no mapping of names to numbers.

    Examples
    --------
    >>> weights_of("{Kauf: 5, Rückgabe: 0}")
    {'Kauf': 5.0, 'Rückgabe': 0.0}
    """
    try:
        weights: Any = OmegaConf.to_container(OmegaConf.create(text), resolve=False)
        return {str(name): float(weight) for name, weight in weights.items()}
    except Exception as error:  # of YAML, and of what is no mapping or no number
        raise ConfigError(
            f"dataset.weights: a number for each event, such as {{view: 1, purchase: 5}}; got {text}."
        ) from error


def _with_cutoffs(words: list[str]) -> list[str]:
    """Return the words with metrics as they are printed taken apart.

    ``metrics=[ndcg@10,recall@20]`` becomes ``metrics=[ndcg,recall] cutoffs=[10,20]``.
    """
    named = next((word for word in words if _PRINTED.fullmatch(word)), None)
    if named is None:
        return words
    if typed := [word for word in words if word.startswith("cutoffs=")]:
        raise ConfigError(f"{named}: names cutoffs, as {typed[0]} does. Leave out one, or what is behind @.")
    names, cutoffs = without_cutoffs(named.partition("=")[2].strip("[]").split(","))
    own = [f"metrics=[{','.join(names)}]", f"cutoffs=[{','.join(map(str, cutoffs))}]"]
    return [part for word in words for part in (own if word == named else [word])]


def _single(words: Sequence[Override]) -> list[Override]:
    """Return the words that Hydra composes before a sweep.

    Settings of a component that is swept come with each job: of ``-m model=bpr,slim model.l2=1`` the settings
    that all jobs share have the default model, perhaps without l2.
    """
    swept = {word.key_or_group for word in words if word.is_sweep_override()}
    swept |= {"search"} if "model" in swept else set()  # its space is that of the model
    return [word for word in words if swept.isdisjoint((word.key_or_group, word.key_or_group.split(".")[0]))]


def words_of_model(words: Sequence[str], models: Sequence[str], model: str) -> list[str]:
    """Return the words of a run of one of the models: those of it alone without its name.

    Examples
    --------
    >>> words = ["model=svd", "search.svd.n_factors.high=64", "model.ease.l2=9"]
    >>> words_of_model(words, ["svd", "ease"], "svd")
    ['model=svd', 'search.n_factors.high=64']
    """
    own = []
    for word in words:
        key, equals, value = word.partition("=")
        part, dot, rest = key.partition(".")
        of, _, name = rest.partition(".")
        if part.lstrip("+~") not in ("model", "search") or not name or of not in models:
            own.append(word)
        elif of == model:
            own.append(f"{part}{dot}{name}{equals}{value}")
    return own


def task_words(words: Sequence[Override]) -> list[str]:
    """Return the words that are not about Hydra, as typed."""
    return [str(word.input_line) for word in words if not word.is_hydra_override()]


def offer_metrics(text: str) -> None:
    """Make each metric that is named among the suites a suite of its own: ``metrics=ndcg``."""
    from recgauge.conventions import is_metric_name

    for option in re.findall(r"\w+", text):
        name = without_label(option)
        if not (conf_folder() / "metrics" / f"{option}.yaml").is_file() and is_metric_name(name):
            ConfigStore.instance().store(group="metrics", name=option, node={name: name})


def check_words(parsed: Sequence[Override]) -> None:
    """Refuse a setting that is typed twice, and choices that Hydra would mix or drop, in silence."""
    typed: dict[str, Override] = {}
    for word in parsed:
        group, value, reason = word.key_or_group, word.value(), ""
        if not word.is_delete() and (before := typed.setdefault(group, word)) is not word:
            reason = f"{group} is set twice: {before.input_line} and {word.input_line}. Leave one out"
        elif word.is_sweep_override() and word.is_hydra_override():
            reason = "is of the whole sweep and cannot have several values"
        elif group in _TAKES_ONE and (value is None or isinstance(value, list)):
            several = ",".join(map(str, value)) if isinstance(value, list) and value else "A,B"
            reason = f"{group} takes one option. To run several: -m {group}={several}; for none leave it out"
        elif group == "metrics" and isinstance(value, dict) and not word.is_add():
            reason = "would only add to the suites chosen. Type metrics=[NAME,NAME] or '+metrics={...}'"
        elif group == "filters" and isinstance(value, list) and len(set(map(str, value))) < len(value):
            reason = "each filter may be named once. For a second n-core add n_core_again (docs/filters.md)"
        if reason:
            raise ConfigError(f"{word.input_line}: {reason}.")
