"""Areas under the ROC curve as far as a list of the best items shows it."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.errors import MetricError
from recgauge.judging import JudgedTopK, RankedGains
from recgauge.metrics.beyond import catalogue_of
from recgauge.metrics.metric import UserMetric, denominator, divide, list_length
from recgauge.utils.checks import DoubleArray, IntArray


def walk(judged: JudgedTopK, k: int | None) -> tuple[RankedGains, IntArray, DoubleArray]:
    """Walk down the first `k` ranks of each list (all if None).

    Returns
    -------
    hits : RankedGains
    misses_before : ndarray of int32, shape (h,)
        Misses above each hit.
    misses : ndarray of float64, shape (m,)
        Misses of each list.
    """
    hits = judged.hits.cut(k)
    return hits, hits.rank - hits.ordinal, list_length(judged, k) - hits.counts()


def limited_irrelevant(judged: JudgedTopK) -> DoubleArray | None:
    """Return the irrelevant candidates of each user, shape (m,), where a rule limits the candidates."""
    catalogue = judged.catalogue
    if catalogue is None or catalogue.irrelevant is None:
        return None
    return catalogue.irrelevant[judged.users].astype(np.float64)


@dataclass(frozen=True)
class ListAUC(UserMetric):
    r"""The chance that, of a hit and a miss in the list, the hit is first.

    .. math:: \frac{1}{h (n - h)} \sum_{\text{hits } i} |\{\text{misses below } i\}|

    In plain Python
    ---------------
    >>> def list_auc(items, grades, k):
    ...     hit = [item in grades for item in items[:k]]
    ...     in_order = sum(sum(hit[:rank]) for rank in range(len(hit)) if not hit[rank])
    ...     pairs = hit.count(True) * hit.count(False)
    ...     return in_order / pairs if pairs else float(any(hit))

    Notes
    -----
    Range [0, 1], higher is better. 0 without a hit, 1 for a list of hits only. Says nothing about what the
    list misses, and a longer list of the same model can be worse. RePlay's RocAuc.

    References
    ----------
    .. [1] A. Vasilev et al., "RePlay: a recommendation framework for experimentation and production use",
       RecSys 2024.

    Examples
    --------
    Hits at ranks 1 and 3 of three: one of two pairs of a hit and a miss is in order.

    >>> from recgauge.metrics.examples import judged_example
    >>> ListAUC().per_user(judged_example(), 3)
    array([0.5])
    """

    name: ClassVar[str] = "list_auc"
    label: ClassVar[str] = "List AUC"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the area of each list, shape (m,)."""
        hits, misses_before, misses = walk(judged, k)
        in_order = hits.total(misses[hits.owner] - misses_before)
        areas = divide(in_order, hits.counts() * misses)
        areas[(hits.counts() > 0) & (misses == 0)] = 1.0
        return areas


@dataclass(frozen=True)
class PartialAUC(UserMetric):
    r"""How many relevant items are above each of the first `k` misses, as a share of what is possible.

    .. math:: \frac{1}{k P} \sum_{j=1}^{k} \min(P, |\{\text{hits above miss } j\}|)

    Parameters
    ----------
    positives : {"relevant", "min_relevant_k"}, default "relevant"
        P: all relevant items of the user (pAUC), or at most k of them (pAp, so that k hits on top are
        perfect).

    Raises
    ------
    ConfigError
        If `positives` is unknown.
    MetricError
        Without a cutoff.

    In plain Python
    ---------------
    >>> def partial_auc(items, grades, k):
    ...     hit = [item in grades for item in items] + [False] * k
    ...     hits_above = [sum(hit[:rank]) for rank in range(len(hit)) if not hit[rank]]
    ...     return sum(hits_above[:k]) / (k * len(grades))

    Notes
    -----
    Range [0, 1], higher is better. Here k counts misses, not ranks: the whole list is read, and a list that
    ends before its k-th miss counts as if only misses followed. Longer lists may therefore give higher
    values at the same k. RecTools' PartialAUC and PAP.

    References
    ----------
    .. [1] L. E. Dodd, M. S. Pepe, "Partial AUC estimation and regression", Biometrics 59(3), 2003.

    Examples
    --------
    Hits at ranks 1 and 3: one hit above the first miss, two above the second, which does not exist.

    >>> from recgauge.metrics.examples import judged_example
    >>> PartialAUC().per_user(judged_example(), 2)
    array([0.75])
    """

    name: ClassVar[str] = "partial_auc"
    label: ClassVar[str] = "Partial AUC"

    positives: Literal["relevant", "min_relevant_k"] = "relevant"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the partial area of each list, shape (m,); 0 without relevant items."""
        if k is None:
            raise MetricError("PartialAUC: needs a cutoff, the number of misses; pass cutoffs=[...].")
        hits, misses_before, _ = walk(judged, None)
        most = judged.n_relevant.astype(np.float64)
        if self.positives == "min_relevant_k":
            most = np.minimum(most, k)
        misses_below = np.maximum(k - misses_before, 0)
        is_measured = hits.ordinal <= most[hits.owner]
        return divide(hits.total(np.where(is_measured, misses_below, 0).astype(np.float64)), k * most)


@dataclass(frozen=True)
class LimitedAUC(UserMetric):
    r"""The share of irrelevant candidates that each hit in the list leaves behind, misses counting nothing.

    .. math::
        \frac{1}{\min(|R_u|, k)} \sum_{\text{hits } i}
        \frac{N_u + 1 - |\{\text{misses above } i\}|}{N_u + 1}

    with N candidates that are not relevant: the catalogue less the user's training and relevant items, or
    what a candidate rule leaves of it.

    Raises
    ------
    MetricError
        If the lists were judged without a catalogue.

    In plain Python
    ---------------
    >>> def limited_auc(items, grades, k, train, user, n_items):
    ...     irrelevant, value, misses = n_items - len(train[user]) - len(grades), 0.0, 0
    ...     for item in items[:k]:
    ...         if item in grades:
    ...             value += (irrelevant + 1 - misses) / (irrelevant + 1)
    ...         else:
    ...             misses += 1
    ...     return value / min(len(grades), k)

    Notes
    -----
    Range [0, 1] for lists without training items, higher is better. Close to recall over at most k items,
    since few candidates of a large catalogue can be above a hit. Elliot's LAUC, which counts one candidate
    more than there is.

    References
    ----------
    .. [1] G. Schröder, M. Thiele, W. Lehner, "Setting goals and choosing metrics for recommender system
       evaluations", UCERSTI workshop at RecSys 2011.

    Examples
    --------
    Eleven items, two relevant: the hits leave 10 of 10 and 9 of 10 behind.

    >>> from dataclasses import replace
    >>> from recgauge.data.catalogue import Catalogue
    >>> from recgauge.metrics.examples import judged_example
    >>> LimitedAUC().per_user(replace(judged_example(), catalogue=Catalogue(11)), 3)
    array([0.95])
    """

    name: ClassVar[str] = "limited_auc"
    label: ClassVar[str] = "Limited AUC"
    needs: ClassVar[frozenset[str]] = frozenset({"n_items"})

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the value of each list, shape (m,); 0 without relevant items."""
        n_items, (hits, misses_before, _) = catalogue_of(self, judged).size, walk(judged, k)
        irrelevant = limited_irrelevant(judged)
        if irrelevant is None:
            irrelevant = (n_items - judged.n_relevant).astype(np.float64)
            if judged.catalogue is not None and judged.catalogue.seen is not None:
                irrelevant -= np.diff(judged.catalogue.seen.indptr)[judged.users]
        ahead_of = irrelevant[hits.owner] + 1.0
        shares = (ahead_of - misses_before) / ahead_of
        return divide(hits.total(shares), denominator("min_relevant_k", judged, k))


@dataclass(frozen=True)
class CompletedAUC(UserMetric):
    r"""AUC as if, beyond the list, the remaining relevant items were spread evenly over all other items.

    .. math::
        \frac{1}{|R_u| N_u} \left( \sum_{\text{misses } j} |\{\text{hits above } j\}|
        + \frac{h + |R_u|}{2} (N_u - \text{misses}) \right), \qquad N_u = n_{items} - |R_u|

    Raises
    ------
    MetricError
        If the lists were judged without a catalogue.

    In plain Python
    ---------------
    >>> def completed_auc(items, grades, k, n_items):
    ...     hit, others = [item in grades for item in items[:k]], n_items - len(grades)
    ...     if not others:
    ...         return math.nan
    ...     inside = sum(sum(hit[:rank]) for rank in range(len(hit)) if not hit[rank])
    ...     beyond = (hit.count(True) + len(grades)) / 2 * (others - hit.count(False))
    ...     return (inside + beyond) / (len(grades) * others)

    Notes
    -----
    Range [0, 1], higher is better; about .5 without a hit, so values of short lists say little. Items that
    the user has seen count among the N irrelevant ones, unless a rule limits the candidates. Undefined (NaN)
    if every item is relevant or none is. The AUC of implicit's ranking_metrics_at_k.

    References
    ----------
    .. [1] G. Schröder, M. Thiele, W. Lehner, "Setting goals and choosing metrics for recommender system
       evaluations", UCERSTI workshop at RecSys 2011.

    Examples
    --------
    Twelve items; hits at ranks 1 and 3 are all relevant ones, and one miss is between them.

    >>> from dataclasses import replace
    >>> from recgauge.data.catalogue import Catalogue
    >>> from recgauge.metrics.examples import judged_example
    >>> CompletedAUC().per_user(replace(judged_example(), catalogue=Catalogue(12)), 3)
    array([0.95])
    """

    name: ClassVar[str] = "completed_auc"
    label: ClassVar[str] = "Completed AUC"
    needs: ClassVar[frozenset[str]] = frozenset({"n_items"})

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the area of each user, shape (m,); NaN with one kind of items only."""
        hits, misses_before, misses = walk(judged, k)
        n_relevant = judged.n_relevant.astype(np.float64)
        n_irrelevant = limited_irrelevant(judged)
        if n_irrelevant is None:
            n_irrelevant = catalogue_of(self, judged).size - n_relevant
        inside = hits.total(misses[hits.owner] - misses_before)
        beyond = (hits.counts() + n_relevant) / 2.0 * (n_irrelevant - misses)
        return divide(inside + beyond, n_relevant * n_irrelevant, empty=np.nan)
