"""Conventions: what a library, an article or a study computes under a metric's name, and for which users.

Libraries' conventions and those of publications are imported when one is requested.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from recgauge import metrics
from recgauge.errors import ConfigError, did_you_mean, nearest
from recgauge.judging import Policies
from recgauge.metrics import Metric, metric_class, metric_classes
from recgauge.metrics.names import label, without_label

FIRST_WORDS = {"hit": "hit_rate", "rr": "mrr", "ap": "map", "ar": "mar"}
"""Short first words of names and recgauge's: ``ap`` is ``map``, ``ap_full`` is ``map_full``."""
_PRINTED = re.compile(r"(.+?)(?:\(.*\))?(?:@([1-9][0-9]*))?")
"""A metric as it is printed: ``nDCG(gain=linear)@10``, ``ndcg@10``."""
_JOINED = re.compile(r"(.*?[A-Za-z])[@_-]?([1-9][0-9]*)")
OTHER_NAMES = {
    "average_precision": "map",
    "average_recall": "mar",
    "f_score": "f1",
    "hit_ratio": "hit_rate",
    "hr": "hit_rate",
    "reciprocal_rank": "mrr",
}
NAMED: Mapping[str, Callable[[], Metric]] = {
    "ndcg_exp": lambda: metrics.NDCG(gain="exponential"),
    "ndcg_binary": lambda: metrics.NDCG(gain="binary"),
    "list_diversity": lambda: metrics.Diversity(similarity="matrix"),
    "pap": lambda: metrics.PartialAUC(positives="min_relevant_k"),
}
"""Names of settings that differ from a class's defaults."""


@dataclass(frozen=True)
class Definition:
    """A metric with the policies that hold for it.

    Parameters
    ----------
    metric : Metric
    policies : Policies
    """

    metric: Metric
    policies: Policies


@dataclass(frozen=True)
class Convention:
    """Definitions of metrics by name, and the policies that go with them.

    Parameters
    ----------
    name : str
        Such as ``"recbole"``.
    about : str
        One line: whose numbers these are.
    metrics : mapping of str to Metric
        The definitions that the source itself has, by recgauge's names.
    policies : Policies
    deviations : mapping of str to mapping
        Policies that differ for one metric: ``{"ndcg": {"no_list": "zero"}}``.
    notes : str
        The versions whose values prove it, and what of the source is not defined here and why.

    Examples
    --------
    >>> from recgauge.conventions import get_convention
    >>> recbole = get_convention("recbole")
    >>> recbole.metric("ap").definition(10)
    'MAP(normalizer=min_relevant_k)@10'
    """

    name: str
    about: str
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    policies: Policies = field(default_factory=Policies)
    deviations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: str = ""

    def metric(self, name: str) -> Metric:
        """Return the definition that `name` has here; the default one where the source has none.

        Parameters
        ----------
        name : str
            A name of recgauge (``map``) or a short one (``ap``).

        Returns
        -------
        Metric

        Raises
        ------
        ConfigError
            If no metric has the name; the message has those that are near.
        """
        chosen = canonical_name(name)
        if chosen in self.metrics:
            return self.metrics[chosen]
        if make := NAMED.get(chosen) or metric_class(chosen):
            return make()
        first, sign, cutoff = name.partition("@")
        reason = f"After @ stands a whole number, as in {first}@10." if sign else explain_metric(name)
        if cutoff.isdecimal():
            reason = f"It has no cutoff: write {first}."
        raise ConfigError(f"metrics: unknown metric {name!r}. {reason}")

    def by_name(self) -> dict[str, Metric]:
        """Return every definition by name: the defaults, overridden by the source's. Imports every metric."""
        return {**standard_metrics(), **self.metrics}

    def with_policies(self, chosen: Mapping[str, Any]) -> "Convention":
        """Return the same convention with the chosen policies for all metrics; None leaves a policy.

        Raises
        ------
        ConfigError
            If a value is unknown.

        Examples
        --------
        >>> from recgauge.conventions import get_convention
        >>> get_convention("trec").with_policies({"ties": "expected", "no_list": None}).policies.ties
        'expected'
        """
        chosen = {name: value for name, value in chosen.items() if value is not None}
        if not chosen:
            return self
        deviations = {
            metric: {name: value for name, value in differing.items() if name not in chosen}
            for metric, differing in self.deviations.items()
        }
        return replace(self, policies=replace(self.policies, **chosen), deviations=deviations)

    def for_ineligible(self, chosen: Mapping[str, Any]) -> dict[str, str]:
        """Return the policies of repeated and seen items where lists from outside have such, unless chosen.

        Repeated items, which the convention refuses, miss. Libraries and articles do not look at training
        rows, so that seen items are as any other.

        Examples
        --------
        >>> from recgauge.conventions import get_convention
        >>> get_convention("recbole").for_ineligible({"repeats": "every", "seen": None})
        {'seen': 'hit'}
        """
        policies = {}
        if chosen.get("repeats") is None and self.policies.repeats == "refuse":
            policies["repeats"] = "miss"
        if chosen.get("seen") is None and not self.uses_train:
            policies["seen"] = "hit"
        return policies

    @property
    def uses_train(self) -> bool:
        """Whether training rows say which listed items are eligible: libraries and articles take all."""
        return self.name not in (*LIBRARIES, *ARTICLES)

    def defines(self, name: str) -> bool:
        """Whether the source itself has this metric; if not, the default definition is used."""
        return canonical_name(name) in self.metrics or self.name == "standard"

    def definition(self, name: str) -> Definition:
        """Return a metric by name, as :meth:`metric` does, with the policies that hold for it."""
        differing = self.deviations.get(canonical_name(name), {})
        return Definition(self.metric(name), replace(self.policies, **differing))


def canonical_name(name: str) -> str:
    """Return recgauge's name of a metric.

    Examples
    --------
    >>> canonical_name("ap_divide_by_k"), canonical_name("hit"), canonical_name("hit_rate")
    ('map_divide_by_k', 'hit_rate', 'hit_rate')
    """
    if name in OTHER_NAMES:
        return OTHER_NAMES[name]
    first, *rest = name.split("_")
    if first not in FIRST_WORDS or name == "hit_rate":
        return name
    return "_".join([FIRST_WORDS[first], *rest])


def is_metric_name(name: str) -> bool:
    """Whether recgauge, or any convention, has a metric of this name.

    Examples
    --------
    >>> is_metric_name("recall"), is_metric_name("ap"), is_metric_name("my_recall")
    (True, True, False)
    """
    chosen = canonical_name(name)
    if chosen in NAMED or metric_class(chosen) is not None:
        return True
    return any(chosen in convention.metrics for convention in conventions().values())


def meant_metric(printed: str, more: Iterable[str] = ()) -> tuple[str | None, int | None]:
    """Return the name and the cutoff that were probably meant by a metric as it is printed, or mistyped.

    Parameters
    ----------
    printed : str
    more : iterable of str
        Other names that may be meant, such as those of suites.

    Examples
    --------
    >>> meant_metric("nDCG(gain=linear)@10"), meant_metric("Hit_Rate_at_5"), meant_metric("bag")
    (('ndcg', 10), ('hit_rate', 5), (None, None))
    """
    match = _PRINTED.fullmatch(label(printed.strip()))
    name, k = (printed, None) if match is None else match.groups()
    metrics = STANDARD.by_name()
    labels: dict[str, str] = {}
    for key, metric in metrics.items():
        labels.setdefault(metric.label, key)  # of nDCG's names the first, which has its defaults
    near = nearest(name, [*more, *metrics, *FIRST_WORDS, *OTHER_NAMES, *labels])
    return labels.get(near or "", near), None if k is None else int(k)


def explain_metric(name: str, more: Iterable[str] = ()) -> str:
    """Return which names are near one that is no metric, and what lists all of them.

    Examples
    --------
    >>> explain_metric("ndgc")
    'Did you mean ndcg? Also near: dcg, ndcg_exp. `recgauge conventions standard` lists all metrics.'
    >>> explain_metric("ndcg10")
    'Did you mean ndcg@10? `recgauge conventions standard` lists all metrics.'
    """
    if (parts := _JOINED.fullmatch(label(name))) and is_metric_name(metric := without_label(parts[1])):
        return f"Did you mean {metric}@{parts[2]}? `recgauge conventions standard` lists all metrics."
    names = [*more, *STANDARD.by_name()]
    meant, _ = meant_metric(name, more)
    near = [each for each in get_close_matches(name.casefold(), names, n=3, cutoff=0.5) if each != meant]
    hints = [f"Did you mean {meant}?"] if meant else []
    hints += [f"Also near: {', '.join(near)}."] if near else []
    return " ".join([*hints, "`recgauge conventions standard` lists all metrics."])


STANDARD = Convention(
    name="standard",
    about="trec_eval's definitions; users without relevant items are left out and counted.",
)
"""Every metric with its defaults."""
LIBRARIES = (
    *("trec", "ranx", "recbole", "lenskit", "lenskit_2026", "rectools", "cornac", "irspack", "replay"),
    *("elliot", "warprec", "omnirec", "omnirec_1_1", "recommenders", "recmetrics", "capri", "implicit"),
    "sklearn",
)
"""All in `recgauge.conventions.libraries`. A name with a version holds since that version; a name without one
never changes its meaning."""
ARTICLES = tuple(
    f"article_{name}" for name in ("offline_metrics", "system_evaluation", "capri", "recmetrics", "ndcg_note")
)
STUDIES = ("dacrema_2021", "intent_aware_2025", "di_palma_2023", "zanon_2022")
"""Articles and studies are in `recgauge.conventions.publications`."""
NAMES = ("standard", *LIBRARIES, *ARTICLES, *STUDIES)


def get_convention(name: str | Convention) -> Convention:
    """Return the convention called `name`; a convention itself as it is.

    Parameters
    ----------
    name : str or Convention
        A library (``"ranx"``), an article (``"article_capri"``), a study (``"dacrema_2021"``) or
        ``"standard"``.

    Returns
    -------
    Convention

    Raises
    ------
    ConfigError
        If there is none; the message lists the valid names.
    """
    if isinstance(name, Convention):
        return name
    if not isinstance(name, str):
        raise ConfigError(f"conventions must be a name or a Convention, got {type(name).__name__}.")
    if name == "standard":
        return STANDARD
    if name in NAMES:
        module = "libraries" if name in LIBRARIES else "publications"
        convention: Convention = getattr(import_module(f"{__name__}.{module}"), name.upper())
        return convention
    hint = did_you_mean(name, NAMES)
    raise ConfigError(f"conventions: unknown name {name!r}. {hint}There are {', '.join(NAMES)}.")


def conventions() -> dict[str, Convention]:
    """Return all conventions by name: the default one, libraries, articles, studies. Imports them all."""
    return {name: get_convention(name) for name in NAMES}


def standard_metrics() -> dict[str, Metric]:
    """Return every default definition by name. Imports every metric.

    Examples
    --------
    >>> standard_metrics()["ndcg_exp"].definition()
    'nDCG(gain=exponential, discount=log2, ideal=at_k)'
    """
    named = {name: make() for name, make in NAMED.items()}
    return {leaf.name: leaf() for leaf in metric_classes()} | named
