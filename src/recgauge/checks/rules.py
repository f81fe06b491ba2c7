"""The rules of a check: what a candidate must keep, read from YAML or a mapping."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import inf
from pathlib import Path
from typing import Any, Literal, Self, get_args

import yaml  # type: ignore[import-untyped]

from recgauge.errors import ConfigError, did_you_mean, listed
from recgauge.metrics.names import Directions, as_key, label
from recgauge.utils.checks import check_choice, check_int, check_real
from recgauge.utils.files import read_own

Kind = Literal["not_worse", "better_by", "at_least", "at_most", "cost"]
Cost = Literal["fit_seconds", "recommend_seconds", "peak_bytes", "model_bytes"]
Undecided = Literal["fail", "pass"]

_LONGEST_FILE = 1 << 20
_EXAMPLE = "not_worse: {ndcg@10: 2%}"
_SECTIONS = (*get_args(Kind), "segments")
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"


@dataclass(frozen=True, slots=True)
class Rule:
    """What must hold for a metric or a cost.

    Parameters
    ----------
    kind : {"not_worse", "better_by", "at_least", "at_most", "cost"}
        Not worse than the baseline by `value` or more; better than it by more than `value`, both in the
        direction that is better for the metric; or the candidate's own value above or below `value`. A cost
        is at most `value`; it is measured once, so it is compared and not tested.
    metric : str
        Key, such as ``ndcg_at_10``; or ``fit_seconds``, ``recommend_seconds``, ``peak_bytes``,
        ``model_bytes``.
    value : float
        In the metric's own units, or a share of the baseline's value.
    relative : bool
        Which of the two.
    by : str
        An attribute of users, such as ``activity``: the rule must hold in each of its groups. Empty: all
        users as one.

    Raises
    ------
    ConfigError
        If every candidate, or none, would keep the rule.

    Examples
    --------
    >>> rule = Rule.of("not_worse", "ndcg@10", "2%")
    >>> rule.path, rule.value, rule.relative, str(rule)
    ('not_worse.ndcg@10', 0.02, True, 'not worse by 2 %')
    """

    kind: Kind
    metric: str
    value: float
    relative: bool = False
    by: str = ""

    @classmethod
    def of(cls, kind: Kind, metric: str, text: object, by: str = "") -> Self:
        """Return a rule with a number such as ``0.005``, or a share such as ``2%``."""
        path = ".".join(filter(None, ["segments" if by else kind, by, metric]))
        match = re.fullmatch(rf"\s*({_NUMBER})\s*(%?)\s*", str(text)) if type(text) is not bool else None
        if match is None:
            raise ConfigError(
                f"{path}: expected a number, such as 0.005, or a share of the baseline's value, such as 2%; "
                f"got {text!r}."
            )
        value = check_real(path, float(match[1]), low=-1e300, high=1e300)
        return cls(kind, as_key(metric), round(value / 100, 15) if match[2] else value, bool(match[2]), by)

    def __post_init__(self) -> None:
        check_choice("a rule's kind", self.kind, get_args(Kind))
        if self.kind == "cost":
            check_choice("cost", self.metric, get_args(Cost))
        above_zero = self.kind == "cost" or (self.is_value and self.relative)
        lowest = 0.0 if above_zero or not self.is_value else -inf
        check_real(self.path, self.value, low=lowest, high=inf, low_open=above_zero)
        if self.kind == "not_worse" and self.relative and self.value >= 1:
            raise ConfigError(
                f"{self.path}: a candidate that may lose {self.bound} of the baseline's value may lose all "
                "of it; give less than 100%."
            )

    @property
    def bound(self) -> str:
        """The number as people write it."""
        return f"{100 * self.value:.6g} %" if self.relative else f"{self.value:.6g}"

    @property
    def is_value(self) -> bool:
        """Whether it is about the candidate's own value, and not about its difference from the baseline."""
        return self.kind in ("at_least", "at_most", "cost")

    @property
    def path(self) -> str:
        """Its path in a file of rules: ``segments.activity.ndcg@10``."""
        return ".".join(filter(None, ["segments" if self.by else self.kind, self.by, label(self.metric)]))

    def __str__(self) -> str:
        words = {"not_worse": "not worse by", "better_by": "better by", "at_least": "at least"}
        of = " of the baseline's" if self.relative and self.is_value else ""
        return f"{words.get(self.kind, 'at most')} {self.bound}{of}"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a candidate must keep to be let in, and how sure that must be.

    Parameters
    ----------
    rules : tuple of Rule
    confidence : float
        1 - `alpha`: the chance that any rule is *shown* although it does not hold is at most alpha, and so is
        that of any *worse* of a rule that holds, by Hochberg's method over all rules and groups that are
        tested.
    undecided : {"fail", "pass"}
        What a check does whose rules are shown or undecided.
    groups : int
        Into how many groups numbers of users, such as their activity, are cut.
    lower_is_better, higher_is_better : tuple of str
        Metrics of which less or more is better, where neither runs nor recgauge have a direction.

    Raises
    ------
    ConfigError
        If there is no rule, one stands there twice, or a value is not valid.

    Examples
    --------
    >>> rules = Rules.of({"not_worse": {"ndcg@10": "2%"}, "segments": {"activity": {"ndcg@10": 0.01}}})
    >>> [(rule.path, str(rule)) for rule in rules.rules]
    [('not_worse.ndcg@10', 'not worse by 2 %'), ('segments.activity.ndcg@10', 'not worse by 0.01')]
    """

    rules: tuple[Rule, ...] = ()
    confidence: float = 0.95
    undecided: Undecided = "fail"
    groups: int = 4
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_real("confidence", self.confidence, low=0.5, high=0.9999)
        check_choice("undecided", self.undecided, get_args(Undecided))
        check_int("groups", self.groups, minimum=2)
        paths = [rule.path for rule in self.rules]
        if not paths:
            raise ConfigError(f"rules: there is none. Give at least one of {listed(_SECTIONS)}.")
        if twice := [path for path in paths if paths.count(path) > 1]:
            raise ConfigError(f"rules: {twice[0]} is there twice.")
        self.directions.check_names(self.keys)

    @property
    def directions(self) -> Directions:
        """Of which metrics less or more is better; metrics that are compared with a number need none."""
        directed = [rule.metric for rule in self.rules if not rule.is_value]
        indifferent = tuple(key for key in self.keys if key not in directed)
        return replace(Directions.of(self.lower_is_better, self.higher_is_better), indifferent=indifferent)

    @property
    def alpha(self) -> float:
        """The largest corrected p with which a rule is shown, or worse."""
        return round(1 - self.confidence, 12)

    @property
    def keys(self) -> tuple[str, ...]:
        """The metrics that rules name, each once."""
        return tuple(dict.fromkeys(rule.metric for rule in self.rules if rule.kind != "cost"))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes whose groups are compared, each once."""
        return tuple(dict.fromkeys(rule.by for rule in self.rules if rule.by))

    @classmethod
    def of(cls, source: "Rules | Mapping[str, Any] | str | Path") -> "Rules":
        """Return the rules of a mapping, or of a YAML file.

        Raises
        ------
        ConfigError
            If a file cannot be read, or a key or a value is not valid.
        """
        if isinstance(source, Rules):
            return source
        if isinstance(source, Mapping):
            return cls._of_mapping(source)
        file = Path(source)
        try:
            return cls._of_mapping(_read(file))
        except ConfigError as error:
            raise ConfigError(f"{file}: {error}") from error

    @classmethod
    def _of_mapping(cls, content: Mapping[str, Any]) -> Self:
        options = [field.name for field in fields(cls) if field.name != "rules"]
        keys = [*_SECTIONS, *options]
        if unknown := [str(key) for key in content if key not in keys]:
            hint = did_you_mean(unknown[0], keys)
            raise ConfigError(f"rules: there is no {unknown[0]}. {hint}There are {listed(keys)}.")
        rules = [
            Rule.of(kind, metric, value)
            for kind in get_args(Kind)
            for metric, value in _entries(kind, content.get(kind)).items()
        ]
        for by, margins in _entries("segments", content.get("segments")).items():
            entries = _entries(f"segments.{by}", margins)
            rules += [Rule.of("not_worse", metric, value, by) for metric, value in entries.items()]
        chosen = {key: content[key] for key in options if key in content}
        for key in ("lower_is_better", "higher_is_better"):
            if isinstance(names := chosen.get(key, ()), str):
                names = [names]
            if not isinstance(names, Sequence):
                raise ConfigError(f"{key}: expected a list of metrics, such as [loss]; got {names!r}.")
            chosen[key] = tuple(names)
        return cls(tuple(sorted(rules, key=lambda rule: rule.kind == "cost")), **chosen)


def _entries(path: str, value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{path}: expected names with a value each, such as ndcg@10: 2%; got {value!r}.")
    return {str(key): each for key, each in value.items()}


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses aliases, and names that are there twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise ConfigError("has an alias, which rules do not need. Write the value.")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise ConfigError(f"{twice[0]} is there twice.")
        return super().construct_mapping(node, deep)


def _read(path: Path) -> Mapping[str, Any]:
    """Read a YAML file that holds a mapping."""
    try:
        text = read_own(path)
        if len(text) > _LONGEST_FILE:
            raise ConfigError(f"longer than {_LONGEST_FILE:,} characters, so these are no rules.")
        content = yaml.load(text, _Loader)
    except ConfigError:
        raise
    except (yaml.YAMLError, OSError, TypeError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"is no YAML that can be read, such as {_EXAMPLE} ({reason}).") from error
    if not isinstance(content, Mapping):
        raise ConfigError(f"expected rules, such as {_EXAMPLE}.")
    return content
