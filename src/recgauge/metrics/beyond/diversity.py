"""Diversity of a list: how little its items resemble each other, per user or pooled over all pairs."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.errors import MetricError
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond.lists import sum_over_list
from recgauge.metrics.beyond.similarity import NEEDS, SimilarityKind, item_similarity
from recgauge.metrics.metric import RunMetric, UserMetric, divide, list_length
from recgauge.utils.checks import DoubleArray
from recgauge.utils.exact import exact_sum, from_limbs, to_float, to_limbs


@dataclass(frozen=True)
class IntraListSimilarity(UserMetric):
    r"""Mean similarity of two items of the list (ILS).

    .. math:: \mathrm{ILS@}k(u) = \frac{1}{\binom{n}{2}} \sum_{i < j \in L_k} \mathrm{sim}(i, j)

    Parameters
    ----------
    similarity : {"features", "matrix", "cooccurrence"}, default "features"
        Cosine of item features; similarities that are given (``item_similarity=``), or that cosine where none
        are; or the cosine of the items' sets of training users.
    single : {"nan", 0, 1, "raise"}, default "nan"
        The value of a list with one item (or one described item): none, so that the user drops out of the
        mean; 0; 1; or an error.
    undescribed : {"zero", "drop", "raise"}, default "zero"
        An item without features (all 0), or without training users, is similar to none; is not part of
        the list; or is an error.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def intra_list_similarity(items, k, features):
    ...     def cosine(i, j):
    ...         size = math.hypot(*features[i]) * math.hypot(*features[j])
    ...         return sum(a * b for a, b in zip(features[i], features[j])) / size if size else 0.0
    ...
    ...     pairs = list(itertools.combinations(items[:k], 2))
    ...     return sum(cosine(i, j) for i, j in pairs) / len(pairs) if pairs else math.nan

    Notes
    -----
    Range [-1, 1], [0, 1] for features >= 0 and co-occurrence; lower is better: more diverse. NaN for an
    empty list. With features no pair is built: the pairs' cosines add up to half of the squared length of the
    sum of the unit vectors, less their number. The other kinds visit every pair.

    recmetrics 0.1.5: ``single="raise"``. LensKit 2026 (source): ``single=1``. Others report
    `Diversity`.

    References
    ----------
    .. [1] C.-N. Ziegler, S. M. McNee, J. A. Konstan, G. Lausen, "Improving recommendation lists through
       topic diversification", WWW 2005.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> IntraListSimilarity().per_user(beyond_example(), 2)
    array([0., 0.])
    >>> IntraListSimilarity(similarity="cooccurrence").per_user(beyond_example(), 2)
    array([0., 0.])
    """

    name: ClassVar[str] = "intra_list_similarity"
    label: ClassVar[str] = "IntraListSimilarity"
    higher_is_better: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False

    similarity: SimilarityKind = "features"
    single: Literal["nan", 0, 1, "raise"] = "nan"
    undescribed: Literal["zero", "drop", "raise"] = "zero"

    @property
    def needs(self) -> frozenset[str]:
        """What the chosen similarity is made from."""
        return NEEDS[self.similarity]

    @property
    def smallest_k(self) -> int:
        """A list of one item has no pair: 2, unless such a list has a value."""
        return 1 if self.single in (0, 1) else 2

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the value of each list, shape (m,)."""
        sums, counted = _pairs(self, judged, k)
        if self.single == "raise" and (counted < 2).any():
            raise MetricError(
                f"{self.label}: every list must have at least two items, but {int((counted < 2).sum())} "
                "have fewer; choose their value with single='nan', 0 or 1."
            )
        values = self._from_similarity(divide(sums, counted * (counted - 1) / 2, empty=np.nan))
        if self.single in (0, 1):
            values[(counted < 2) & (list_length(judged, k) > 0)] = float(self.single)
        return values

    def _from_similarity(self, similarity: DoubleArray) -> DoubleArray:
        return similarity


@dataclass(frozen=True)
class Diversity(IntraListSimilarity):
    r"""One minus the mean similarity of two items of the list (intra-list diversity, ILD).

    .. math:: \mathrm{ILD@}k(u) = 1 - \mathrm{ILS@}k(u)

    Parameters
    ----------
    similarity : {"features", "matrix", "cooccurrence"}, default "features"
        As in `IntraListSimilarity`.
    single : {"nan", 0, 1, "raise"}, default "nan"
        The diversity of a list with one item.
    undescribed : {"zero", "drop", "raise"}, default "zero"
        As in `IntraListSimilarity`.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def diversity(items, k, features):
    ...     def cosine(i, j):
    ...         size = math.hypot(*features[i]) * math.hypot(*features[j])
    ...         return sum(a * b for a, b in zip(features[i], features[j])) / size if size else 0.0
    ...
    ...     pairs = list(itertools.combinations(items[:k], 2))
    ...     return 1 - sum(cosine(i, j) for i, j in pairs) / len(pairs) if pairs else math.nan

    Notes
    -----
    Range [0, 2], [0, 1] for features >= 0 and co-occurrence; higher is better: more diverse, though often
    less accurate. NaN for an empty list.

    RecTools 0.19.0 IntraListDiversity with cosine distance: ``single=0``. recommenders 1.2.1 diversity
    with item features: defaults; without: ``similarity="cooccurrence"``. CAPRI listDiversity:
    ``similarity="matrix", single="raise"``.

    References
    ----------
    .. [1] S. Vargas, P. Castells, "Rank and relevance in novelty and diversity metrics for recommender
       systems", RecSys 2011.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> Diversity().per_user(beyond_example(), 2)
    array([1., 1.])
    """

    name: ClassVar[str] = "diversity"
    label: ClassVar[str] = "Diversity"
    higher_is_better: ClassVar[bool] = True

    def _from_similarity(self, similarity: DoubleArray) -> DoubleArray:
        return 1.0 - similarity


@dataclass(frozen=True)
class PooledDiversity(RunMetric):
    r"""One minus the mean similarity over all pairs of all lists together.

    .. math:: 1 - \frac{\sum_u \sum_{i < j \in L_{u,k}} \mathrm{sim}(i, j)}{\sum_u \binom{|L_{u,k}|}{2}}

    Parameters
    ----------
    similarity : {"features", "matrix", "cooccurrence"}, default "features"
        As in `IntraListSimilarity`.
    undescribed : {"zero", "drop", "raise"}, default "zero"
        As in `IntraListSimilarity`.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    Notes
    -----
    Range [0, 2], [0, 1] for features >= 0 and co-occurrence; higher is better: more diverse. A list of n
    items weighs n (n - 1) / 2; with lists of one length the value is the mean of `Diversity`. 1 if no list
    has a pair.

    References
    ----------
    .. [1] K. Bradley, B. Smyth, "Improving recommendation diversity", AICS 2001.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = PooledDiversity()
    >>> metric.value(metric.sums(beyond_example(), 2))
    1.0
    """

    name: ClassVar[str] = "pooled_diversity"
    label: ClassVar[str] = "PooledDiversity"
    needs_relevant: ClassVar[bool] = False

    similarity: SimilarityKind = "features"
    undescribed: Literal["zero", "drop", "raise"] = "zero"

    @property
    def needs(self) -> frozenset[str]:
        """What the chosen similarity is made from."""
        return NEEDS[self.similarity]

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the number of pairs and the exact sum of similarities, shape (1 + LIMBS,)."""
        sums, counted = _pairs(self, judged, k)
        return np.append((counted * np.maximum(counted - 1, 0) / 2).sum(), to_limbs(exact_sum(sums)))

    def value(self, sums: DoubleArray) -> float:
        """Return the diversity."""
        return 1.0 - to_float(from_limbs(sums[1:])) / float(sums[0]) if sums[0] else 1.0


def _pairs(
    metric: IntraListSimilarity | PooledDiversity, judged: JudgedTopK, k: int | None
) -> tuple[DoubleArray, DoubleArray]:
    """Return the sum over pairs and the number of items that make them, each of shape (m,)."""
    similarity = item_similarity(metric, judged, metric.similarity)
    counted = list_length(judged, k)
    if metric.undescribed != "zero":
        described = sum_over_list(similarity.described, judged, k)
        if metric.undescribed == "raise" and (described < counted).any():
            raise MetricError(
                f"{metric.label}: every recommended item must be described (features that are not all 0, or "
                "training users), but some are not; complete item_features= or set undescribed='zero'."
            )
        counted = described
    return similarity.pair_sums(judged, k), counted
