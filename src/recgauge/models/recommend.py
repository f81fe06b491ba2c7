"""From a split to a fitted model, and from it to ranked lists.

Which rows a model learns from, then the rows of held-out users; candidates, mask, rank and ties, once for all
models.
"""

import inspect
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy import sparse

from recgauge import models
from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.data.lists import TopK
from recgauge.data.split import Split
from recgauge.engine import ItemWeights, rank_candidates, top_k
from recgauge.errors import ConfigError, ModelError, ScoreError
from recgauge.models import Factors, FoldsIn, GivesLists, RatingPredictor, Recommender, TakesHistories
from recgauge.utils.checks import FloatArray, IntArray, check_choice, check_int
from recgauge.utils.progress import Progress

FitOn = Literal["train", "train_validation", "all"]
"""Rows that a model can be fitted on."""


def rows_to_fit(split: Split, fit_on: FitOn, model: object = None) -> Interactions:
    """Return the rows that a model learns from.

    Parameters
    ----------
    split : Split
    fit_on : {"train", "train_validation", "all"}
        ``train``: the training rows. ``train_validation``: the same, for the validation rows have joined
        the training part by then (`Split.with_validation_in_train`). ``all``: those of every part, test
        included. That is what some articles do, such as counting an item's popularity before they split;
        their numbers can only be repeated so. Such a run is marked, for its model has seen the answers.
    model : Recommender or RatingPredictor, optional
        Who learns from them: one that uses their order gets them by user, the oldest first.

    Returns
    -------
    Interactions
        For ``all`` in the order train, fold-in, validation, test, over the same ids. Ids of queries are only
        known to models that give lists.

    Raises
    ------
    ConfigError
        If the model uses the order of rows, and the split has none; or it gives a list of each user, and
        there are several queries.

    Examples
    --------
    >>> rows = Interactions.from_ids([1, 1, 2, 2], [1, 2, 1, 2])
    >>> split = Split("x", rows.take(np.array([0, 2])), None, rows.take(np.array([1, 3])))
    >>> len(rows_to_fit(split, "train")), len(rows_to_fit(split, "all"))
    (2, 4)
    """
    everything = check_choice("fit_on", fit_on, get_args(FitOn)) == "all"
    sequences = split.sequences
    if isinstance(model, TakesHistories) and model.uses_order:
        if sequences is None:
            raise ConfigError(
                f"{type(model).__name__}: needs users' rows in their order, and split={split.name} has none. "
                "Choose next_item, leave_one_out_last, last_n or temporal_per_user."
            )
        return sequences.in_order(None if everything else sequences.train)
    if sequences is not None and sequences.query_of is not None:
        if not isinstance(model, GivesLists):
            return sequences.rows if everything else split.history
        if not isinstance(model, TakesHistories):
            raise ConfigError(
                f"{type(model).__name__}: gives one list a user, and split.target=successive asks for "
                "several. Choose split.target=first, last, random or all, or a model that takes histories."
            )
    if not everything:
        return split.train
    parts = [p for p in (split.train, split.fold_in, split.validation, split.test) if p is not None]
    return reduce(Interactions.followed_by, parts)


def leak_mark(fit_on: str) -> str | None:
    """Return what a run must say of itself because of the rows its model saw, None if nothing."""
    if fit_on != "all":
        return None
    return "fit_on=all: the model was fitted on the test rows, too; compare with no honest run"


def fit(
    model: Recommender | RatingPredictor,
    split: Split,
    fit_on: FitOn = "train",
    *,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Recommender | RatingPredictor:
    """Fit a model on the training rows; give it the fold-in rows of held-out users, if there are any.

    Parameters
    ----------
    model : Recommender or RatingPredictor
    split : Split
    fit_on : {"train", "train_validation", "all"}
        See `rows_to_fit`; with ``all`` nobody is left to fold in.
    rng : numpy.random.Generator
        The stream of the fit stage.
    progress : Progress, optional
        Given to models whose `fit` takes it.

    Returns
    -------
    Recommender or RatingPredictor
        The model itself.

    Raises
    ------
    ConfigError
        If users are held out and the model cannot fold them in; said before it is trained.
    FitError
        If training fails.
    ModelError
        If the model's `fit` returns no model.

    Examples
    --------
    >>> from recgauge.data.interactions import Interactions
    >>> from recgauge.models.popularity import Popularity
    >>> from recgauge.splits.shares import RandomRows
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> split = RandomRows(test_size=0.5).split(ratings, rng=np.random.default_rng(0))
    >>> fit(Popularity(), split, rng=np.random.default_rng(0)).score(np.array([0], np.int32)).shape
    (1, 3)
    """
    rows = rows_to_fit(split, fit_on, model)
    reports = "progress" in inspect.signature(model.fit).parameters
    extra: dict[str, Any] = {"progress": progress} if reports else {}
    folds = split.fold_in is not None and fit_on != "all"
    if folds and not isinstance(model, FoldsIn):
        raise ConfigError(
            f"split={split.name}: its test users are not in the training rows, and {type(model).__name__} "
            "cannot serve users whom it was not trained on (it has no fold_in). Choose a model that can: "
            f"{', '.join(models_that_fold_in())}; or a split that holds out rows, such as random_per_user."
        )
    fitted: Any = model.fit(rows, rng=rng, **extra)
    if not issubclass(type(fitted), Recommender | RatingPredictor):
        got = "None" if fitted is None else type(fitted).__name__
        raise ModelError(f"{type(model).__name__}.fit returned {got}; end it with return self.")
    served: Recommender | RatingPredictor = fitted.fold_in(split.fold_in) if folds else fitted
    return served


def serving(model: Recommender, split: Split) -> Recommender:
    """Return a fitted model as it answers for the evaluated users of a split, whose codes may be queries.

    Parameters
    ----------
    model : Recommender
        Fitted on the rows of the split.
    split : Split

    Returns
    -------
    Recommender
        One that takes histories has the rows before the targets, if the split says so
        (``history=grows``, ``history=train_validation``). Others answer by what they were fitted on, a query
        as its user; where each user is asked once, that is the model itself.

    Raises
    ------
    SchemaError
        If the histories of many queries do not fit into memory.

    Examples
    --------
    >>> from recgauge import ItemKNN
    >>> from recgauge.splits import NextItem
    >>> rows = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3], None, [1, 8, 9, 2, 3, 10])
    >>> split = NextItem(quantile=0.5, target="successive").split(rows, rng=np.random.default_rng(0))
    >>> model = fit(ItemKNN(), split, rng=np.random.default_rng(0))
    >>> lists = recommend(serving(model, split), split.test_users, 1, excluded=split.past)
    >>> split.test.user_ids[lists.users].tolist(), split.test.item_ids[lists.items[:, 0]].tolist()
    (['1#2', '1#3', '2#3'], [2, 3, 3])
    """
    sequences = split.sequences
    if sequences is None or not (sequences.grows or split.query_of is not None):
        return model
    if isinstance(model, TakesHistories):
        rows = split.before if sequences.grows else sequences.trained(split.test)
        return model if rows is None else model.with_histories(rows)
    if split.query_of is None:
        return model
    return _OfUsers(model, split.query_of)


@dataclass(eq=False)
class _OfUsers(Recommender):
    """A fitted model that is asked for queries and answers for their users, shape (n_codes,)."""

    model: Recommender
    query_of: IntArray

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Fit the model itself."""
        self.model = self.model.fit(train, rng=rng)
        return self

    def score(self, users: IntArray) -> FloatArray:
        """Return the scores of the queries' users."""
        return self.model.score(self.query_of[users])

    def factors(self) -> Factors | None:
        """Return the factors with a row for each code."""
        factors = self.model.factors()
        return None if factors is None else Factors(factors.user[self.query_of], factors.item)

    def item_weights(self) -> ItemWeights | None:
        """Return the weights with a row of interactions for each code."""
        weights = self.model.item_weights()
        return None if weights is None else ItemWeights(weights.interactions[self.query_of], weights.weights)


def models_that_fold_in() -> list[str]:
    """Return the names of recgauge's models that can fold in users, as ``model=NAME`` has them.

    Examples
    --------
    >>> "svd" in models_that_fold_in()
    True
    """
    exported = [getattr(models, name) for name in dir(models)]
    folding = [each for each in exported if hasattr(each, "fold_in") and each.__module__ != models.__name__]
    return sorted({each.__module__.rpartition(".")[2] for each in folding})


def recommend(
    model: Recommender,
    users: IntArray,
    k: int,
    *,
    excluded: sparse.csr_array | None = None,
    candidates: CandidateItems | None = None,
    memory_mib: int = 256,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> TopK:
    """Return each user's `k` best items among the candidates.

    Parameters
    ----------
    model : Recommender
        Fitted.
    users : ndarray of int32, shape (m,)
        User codes, distinct. For the test users of a split that gives histories, or whose rows are queries of
        their own, the model is ``serving(model, split)``.
    k : int
        Length of the lists, >= 1; lists are shorter where fewer items are left.
    excluded : scipy.sparse.csr_array, shape (n_users, n_items), optional
        Stored entries are left out, such as the training rows; short for candidates that only leave out.
    candidates : CandidateItems, optional
        What a candidate rule gives; everything if neither is given.
    memory_mib : int
        Memory for blocks of users, MiB; never changes a list.
    n_threads : int, optional
        As many as this process may use if not given; never changes a list.
    progress : Progress, optional

    Returns
    -------
    TopK

    Raises
    ------
    ConfigError
        If both `excluded` and `candidates` are given, or users are no codes that the model has.
    ScoreError
        If the model's scores or lists have a wrong shape or type, or scores are not finite.
    """
    check_int("recommend: k", k, minimum=1)
    check_int("recommend: memory_mib", memory_mib, minimum=1)
    if candidates is not None and excluded is not None:
        raise ConfigError("recommend: give either excluded or candidates, which can hold the excluded.")
    chosen = candidates or CandidateItems(excluded=excluded)
    users = _user_codes(users)
    if isinstance(model, GivesLists):
        lists = model.lists(users, k, chosen)
        if not (isinstance(lists, TopK) and np.array_equal(lists.users, users) and lists.items.shape[1] <= k):
            raise ScoreError(
                f"{type(model).__name__}: lists must return a TopK of the users in their order, of at most "
                f"{k} items each; got {lists!r}."
            )
        return lists
    with (progress or Progress()).step("recommend", len(users), "users") as advance:
        factors, weights = model.factors(), model.item_weights()
        _check_range(model, users, factors, weights)
        source = factors or weights or model
        settings: Any = {
            "memory_mib": memory_mib,
            "n_threads": n_threads,
            "on_progress": advance,
            "name": type(model).__name__,
        }
        if chosen.per_user is not None:
            items, scores = rank_candidates(source, users, k, chosen.per_user, **settings)
        else:
            items, scores = top_k(source, users, k, seen=chosen.excluded, items=chosen.items, **settings)
    return TopK(users, items, scores, distinct=True)


def _user_codes(users: IntArray) -> IntArray:
    """Return distinct codes of users; ids are refused, and codes below 0, which numpy counts from the end."""
    codes = np.asarray(users)
    if codes.ndim != 1 or (codes.size and (codes.dtype.kind not in "iu" or codes.min() < 0)):
        raise ConfigError(
            "recommend: users must be codes, whole numbers from 0: the positions of users in user_ids."
        )
    if len(np.unique(codes)) < len(codes):
        raise ConfigError("recommend: a user stands twice. Name everybody once.")
    return codes.astype(np.int32, copy=False)


def _check_range(
    model: Recommender, users: IntArray, factors: Factors | None, weights: ItemWeights | None
) -> None:
    """Refuse codes of users whom the model has no row for, such as those of queries."""
    known = factors.user if factors is not None else None if weights is None else weights.interactions
    if known is not None and users.max(initial=-1) >= known.shape[0]:
        raise ConfigError(
            f"recommend: users must be in 0..{known.shape[0] - 1}, which are those that "
            f"{type(model).__name__} was fitted on; got {users.max()}. For the test users of a split whose "
            "rows are queries, give serving(model, split) in place of the model."
        )
