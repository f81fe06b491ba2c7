"""Conventions: what each library, article and this house computes under a metric's name, and for whom."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from recgauge.errors import ConfigError
from recgauge.judging.policies import Policies
from recgauge.metrics import Metric

FIRST_WORDS = {"hit": "hit_rate", "rr": "mrr", "ap": "map", "ar": "mar"}
"""Short first words of names and the house's own: ``ap`` is ``map``, ``ap_full`` is ``map_full``."""
OTHER_NAMES = {
    "average_precision": "map",
    "average_recall": "mar",
    "f_score": "f1",
    "hit_ratio": "hit_rate",
    "hr": "hit_rate",
    "reciprocal_rank": "mrr",
}


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
        The definitions that differ from the house's or that the source itself has, by the house's names.
    policies : Policies
    deviations : mapping of str to mapping
        Policies that differ for one metric: ``{"ndcg": {"no_list": "zero"}}``.

    Examples
    --------
    >>> recbole = get_convention("recbole")
    >>> recbole.metric("ap").definition(10)
    'MAP(normalizer=min_relevant_k)@10'
    """

    name: str
    about: str
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    policies: Policies = field(default_factory=Policies)
    deviations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def metric(self, name: str) -> Metric:
        """Return the definition that `name` has here; the house's where the source has none.

        Parameters
        ----------
        name : str
            A name of the house (``map``) or a short one (``ap``).

        Returns
        -------
        Metric

        Raises
        ------
        ConfigError
            If nobody knows the name; the message lists the valid ones.
        """
        from recgauge.evaluation.lanes import names_by_lane

        known = self.known()
        found = known.get(canonical_name(name))
        if found is not None:
            return found
        close = get_close_matches(name, [*known, *FIRST_WORDS, *OTHER_NAMES], n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        lists, ratings = names_by_lane(known)
        raise ConfigError(
            f"metrics: unknown metric {name!r}.{hint} Under conventions={self.name!r} there are, of lists, "
            f"{', '.join(lists)}; and of ratings, {', '.join(ratings)}."
        )

    def known(self) -> dict[str, Metric]:
        """Return every definition by name: the house's, overridden by the source's."""
        from recgauge.conventions.standard import standard_metrics

        return {**standard_metrics(), **self.metrics}

    def with_ties(self, ties: str | None) -> "Convention":
        """Return the same convention, but for what becomes of equal scores; itself for None.

        Raises
        ------
        ConfigError
            If `ties` is unknown.

        Examples
        --------
        >>> get_convention("trec").with_ties("expected").policies.ties
        'expected'
        """
        if ties is None:
            return self
        deviations = {
            name: {key: value for key, value in differing.items() if key != "ties"}
            for name, differing in self.deviations.items()
        }
        return replace(self, policies=replace(self.policies, ties=ties), deviations=deviations)

    def defines(self, name: str) -> bool:
        """Whether the source itself has this metric; if not, the house's definition stands in."""
        return canonical_name(name) in self.metrics or self.name == "standard"

    def definition(self, name: str) -> Definition:
        """Return a metric by name, as :meth:`metric` does, with the policies that hold for it."""
        differing = self.deviations.get(canonical_name(name), {})
        return Definition(self.metric(name), replace(self.policies, **differing))


def canonical_name(name: str) -> str:
    """Return the house's name of a metric.

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


def get_convention(name: str) -> Convention:
    """Return the convention called `name`.

    Parameters
    ----------
    name : str
        A library (``"ranx"``), an article (``"article_capri"``) or ``"standard"``.

    Returns
    -------
    Convention

    Raises
    ------
    ConfigError
        If there is none; the message lists the valid names.
    """
    known = conventions()
    if isinstance(name, str) and name in known:
        return known[name]
    close = get_close_matches(str(name), list(known), n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ConfigError(f"conventions: unknown name {name!r}.{hint} There are {', '.join(known)}.")


def conventions() -> dict[str, Convention]:
    """Return all conventions by name: the house's, libraries, articles."""
    from recgauge.conventions.articles import ARTICLES
    from recgauge.conventions.libraries import LIBRARIES
    from recgauge.conventions.standard import STANDARD

    return {convention.name: convention for convention in (STANDARD, *LIBRARIES, *ARTICLES)}
