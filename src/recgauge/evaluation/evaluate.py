"""`recgauge.evaluate`: ranked lists from anywhere, as codes, measured under one convention."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recgauge.conventions import Convention, Definition, get_convention
from recgauge.data.catalogue import catalogue_size, make_catalogue, with_head
from recgauge.data.columns import is_row, is_series
from recgauge.data.ids import IdArray, as_ids, encode
from recgauge.data.interactions import Interactions, is_relevant, pairs_matrix
from recgauge.data.item_tables import ItemTable, read_features, read_similarity
from recgauge.data.lists import GradeCounts, Relevant, TopK
from recgauge.data.meeting import FEWEST, Meeting, meet_rows, require_meeting
from recgauge.data.spellings import spelling_keys
from recgauge.data.tables import Ragged, read_items, read_lists
from recgauge.errors import ConfigError, MetricError, SchemaError
from recgauge.evaluation import Evaluation, merge
from recgauge.evaluation.codes import inputs_of_codes, require_ids
from recgauge.evaluation.frames import IN_CELLS, check_scores, item_rows, ranked_rows
from recgauge.evaluation.outside import value_of_policies
from recgauge.evaluation.values import EvaluationInputs, ties_at_cutoffs
from recgauge.files.columns import CellFormat
from recgauge.files.frames import is_frame
from recgauge.judging import NoList, Repeats, Seen, TieOrder, Unknown, _lookup, check_longest
from recgauge.judging.ineligible import count_ineligible
from recgauge.metrics import SUITES, Kind, Metric, check_suite, metric_class, metric_key
from recgauge.metrics.names import split_label, without_label
from recgauge.recorded.direction import ListOrder
from recgauge.utils.checks import (
    BoolArray,
    IntArray,
    LongArray,
    check_choice,
    check_cutoffs,
    check_real,
    shown,
)

if TYPE_CHECKING:
    import pandas as pd


_NOT_LISTS: Mapping[Kind, str] = {
    "ratings": "measures predicted ratings, not lists; pass it to recgauge.evaluate_ratings",
    "full rankings": "needs the scores of all candidates, not lists: ask for it in a run, as "
    "metrics=[curves] does, or choose list_auc or partial_auc",
    "class labels": "measures class labels, not lists; call its value(actual, predicted)",
}
"""Kind of metric to what a message says about it."""

Metrics = str | Metric | Sequence[str | Metric] | Mapping[str, str | Metric]


def evaluate(  # noqa: PLR0913 -- the public signature: two tables and keyword-only settings
    recommendations: "Mapping[Any, Sequence[Any]] | pd.DataFrame | TopK",
    relevant: "Mapping[Any, Any] | pd.DataFrame | Relevant",
    *,
    metrics: Metrics = ("ndcg", "recall", "precision"),
    cutoffs: Sequence[int | None] | None = None,
    conventions: str | Convention = "standard",
    train: "Mapping[Any, Any] | pd.DataFrame | Interactions | None" = None,
    item_features: Any = None,
    item_similarity: Any = None,
    n_items: int | None = None,
    scores: Any = None,
    users: Sequence[Any] | None = None,
    head: Sequence[Any] | None = None,
    relevant_from: float | None = None,
    ties: TieOrder | None = None,
    unknown: Unknown | None = None,
    seen: Seen | None = None,
    repeats: Repeats | None = None,
    longest: int | None = None,
    no_list: NoList | None = None,
    keep: Collection[str] = (),
    seed: int = 0,
) -> Evaluation:
    """Evaluate ranked lists from anywhere.

    Parameters
    ----------
    recommendations : mapping, DataFrame or TopK
        ``{user: items}``, best first: a list, tuple, array or Series of items, ``{item: score}``, a Counter
        or pairs of item and score; those with scores are ranked by them, equal ones stay in their order. A
        set has no order and is refused. -1 at the end of a list fills it up. Or a table of pandas, polars or
        Arrow, which is read as a file of it is: columns of user, item and score (higher is better) or rank
        (lower is better) by their usual names. Or lists of codes, with `relevant` as codes or with
        Interactions among the other tables, whose ids they have then.
    relevant : mapping, DataFrame, Interactions or Relevant
        ``{user: items}``, where a set is as good as a list, or ``{user: {item: grade}}``; items without a
        grade beside others with grades have 1. Or a table with columns of user, item and, where items have
        grades, grade or rating; or held-out rows.
    metrics : sequence of str or Metric, mapping of str to either, str or Metric
        Suites are ranking, beyond_accuracy, diversity and curves.
        A name has the meaning of the convention; a metric object is used as it is. Names may carry the
        cutoffs: ``("ndcg@10", "recall@20")``.
    cutoffs : sequence of int or None, default (5, 10)
        Every metric is computed at each: only the first k items count; None: the whole list, whose keys have
        no ``_at_k``. A name with a cutoff has this one alone; others beside it have the whole list, unless
        `cutoffs` are given.
    conventions : str or Convention, default "standard"
        Whose definitions and policies: a library's, an article's, or recgauge's own.
    train : mapping, DataFrame or Interactions, optional
        Who had what in training, for novelty, popularity, serendipity and the like. A user whom a mapping
        names without items counts as a user of training.
    item_features : mapping, DataFrame or matrix, optional
        For diversity of lists: ``{item: vector}``, ``{item: {feature, ...}}`` or ``{item: {feature:
        weight}}``; a table with a column item, or items as its named index; or a matrix whose row is the
        item's id, with lists of codes its code.
    item_similarity : mapping, DataFrame or matrix, optional
        For diversity by similarities that are given, such as CAPRI's list_diversity; where it is left out,
        the cosine of `item_features` is used. ``{item: {item: similarity}}``, a table of pandas with items
        as index and columns, or a square matrix, as of features. A pair given in one direction counts for
        both; others are 0.
    n_items : int, optional
        Size of the catalogue; if left out, the items of `train`, `relevant` and the tables of items. Without
        `train`, the items of the lists, too, which is not enough for coverage or Gini of lists alone.
    scores : mapping or array, optional
        Scores of the listed items in the same shape, best first, or ``{user: {item: score}}``; ties in them
        follow `ties`.
    users : sequence, optional
        Everybody who counts where a convention counts users without a list or without relevant items; with
        lists of codes their codes.
    head : sequence, optional
        Items of the short head, for metrics with ``head_items="given"``; with lists of codes their codes.
    relevant_from : float, optional
        Lowest grade that is relevant, as ``dataset.relevant_from`` of a run; the convention's threshold if
        left out, mostly 1. A grade of 0 is relevant from a grade below 0 alone; 0: every grade above 0.
    ties : {"stable", "item_code", "id_descending", "average", "random", "expected"}, optional
        What becomes of equal scores; the convention's way if left out. See `Policies`. Needs scores. Lists do
        not say which items tie with their last one; `Evaluation.ties` says how many lists end in a tie.
    unknown, seen : {"miss", "drop"}, optional
        What becomes of listed items that are in no training row and no relevant one, and of those that the
        user has in training: their places count and hit nothing, or later items move up. ``seen="hit"``:
        as any other item, as under the conventions of libraries and articles. The convention's way if left
        out, mostly ``miss``. They need `train`, and lists by ids. `Evaluation.ineligible` has how many there
        are, and what another policy would give.
    repeats : {"miss", "drop", "every", "distinct", "refuse"}, optional
        What becomes of an item that a list has already; see `Policies`. The convention's way if left out,
        mostly ``miss``; codes with repeats are refused then.
    longest : int, optional
        Items of a list that are looked at, before any is dropped.
    no_list : {"zero", "skip", "nan", "raise"}, optional
        What becomes of users with relevant items and no list; the convention's way if left out. A list of
        which nothing is left is a list that hits nothing.
    keep : collection of str, default ()
        ``unmet`` goes on where lists and relevant items share next to no users or items, ``implausible``
        where ids of a table hardly are ids, such as NA or -1, ``rising_scores`` where scores look like ranks:
        they rise from row to row, or are 1 to n in any order, in nearly all lists.
    seed : int, default 0
        Of random orders of equal scores.

    Returns
    -------
    Evaluation

    Raises
    ------
    SchemaError
        If a table, list, id or grade cannot be used, or next to no users or items are in two of the tables,
        as where ids are written in two ways.
    ConfigError
        If a metric, cutoff or convention is unknown, or `ties` is given and scores are not.
    MetricError
        If a metric has no value for any user, or lacks what it needs.

    Notes
    -----
    Ids are whole numbers or text, and may be other values that are keys of a dict, such as tuples of text. 1
    and ``"1"`` are two ids. What is missing, fractions, times, and True and False are refused as ids. Rows
    of tables, and Series, are paired by their labels, never by their places.

    Examples
    --------
    >>> result = evaluate({"ann": [7, 2, 5]}, {"ann": [5, 7]}, metrics=("precision", "ndcg"), cutoffs=(3,))
    >>> {key: round(value, 4) for key, value in result.values().items()}
    {'precision_at_3': 0.6667, 'ndcg_at_3': 0.9197}
    """
    chosen = {"ties": ties, "unknown": unknown, "seen": seen, "repeats": repeats, "longest": longest}
    convention = get_convention(conventions).with_policies(chosen | {"no_list": no_list})
    metrics, cutoffs, keys = with_cutoffs(metrics, cutoffs)
    check_longest(convention.policies, cutoffs)
    check_measures_lists(select_metrics(metrics, convention))
    for name in keep:
        check_choice("keep", name, ("unmet", "implausible", "rising_scores"))
    inputs = convert(
        recommendations,
        relevant,
        train=train,
        item_features=item_features,
        item_similarity=item_similarity,
        n_items=n_items,
        scores=scores,
        users=users,
        head=head,
        threshold=convention.policies.threshold,
        relevant_from=relevant_from,
        cells=CellFormat(implausible="keep" if "implausible" in keep else "refuse"),
        closed=n_items is None or convention.uses_train,
        keep_rising="rising_scores" in keep,
    )
    if (unknown or seen) and inputs.catalogue.in_data is None:
        raise ConfigError("unknown and seen are known from training rows: pass train, and lists by ids.")
    lists, longest = inputs.top_k, convention.policies.longest
    counts: dict[str, int] = {}
    if not isinstance(recommendations, TopK):  # lists of models are codes
        counts = count_ineligible(lists.items, lists.users, inputs.catalogue, longest)
    usual = convention.for_ineligible({"repeats": repeats, "seen": seen})
    convention = convention.with_policies({name: usual[name] for name in usual if name in counts})
    suite = select_metrics(metrics, convention)
    has_scores = lists.scores.strides[0] != 0  # one row for all is made up
    if not has_scores and ties not in (None, "stable"):
        raise ConfigError(
            f"ties={ties} needs scores, and the lists have none: pass scores=..., or a table with scores."
        )
    _require_meetings(() if "unmet" in keep else inputs.meetings)
    measure = partial(inputs.evaluate, cutoffs=cutoffs, policies=convention.policies, seed=seed)
    try:
        result = measure(suite)
    except MetricError as error:
        if inputs.grades is None or not inputs.grades.warning:
            raise
        raise MetricError(f"{error} {inputs.grades.warning}.") from error
    if keys:
        result = merge([result], keys)
    bound = convention.policies.threshold if inputs.grades is None else inputs.grades.threshold
    n_listed = int(np.count_nonzero(lists.items[:, :longest] >= 0))
    ties_at = partial(ties_at_cutoffs, suite, lists, inputs.relevant, cutoffs=cutoffs, measure=measure)
    return replace(
        result,
        policies=replace(convention.policies, threshold=bound).definition(),
        ties=ties_at() if has_scores else None,
        meetings=inputs.meetings,
        grades=inputs.grades,
        ineligible=value_of_policies(counts, n_listed, suite, result, measure),
        reversed_lists=inputs.reversal,
        truth=inputs.relevant,
    )


def _require_meetings(meetings: Sequence[Meeting]) -> None:
    for meeting in meetings:
        # a split by users has none of the users in the training rows
        fewest = inf if meeting.name == "user" and meeting.sides[0] != "lists" else FEWEST
        require_meeting(meeting, way_on='keep=["unmet"]', fewest=fewest)


def select_metrics(metrics: Metrics, convention: Convention) -> dict[str, Definition]:
    """Return ``{result name: definition}``, names defined by `convention`.

    Raises
    ------
    ConfigError
        If a name is unknown or there twice, or an entry is neither a name nor a metric.

    Examples
    --------
    >>> from recgauge.conventions import get_convention
    >>> list(select_metrics(("ap", "ndcg"), get_convention("recbole")))
    ['ap', 'ndcg']
    """
    if isinstance(metrics, str) and metrics in SUITES:
        # what lists are enough for; a run can compute the others, too
        leaves = {name: metric_class(name) for name in SUITES[metrics]}
        metrics = tuple(name for name, leaf in leaves.items() if leaf is None or leaf.kind == "lists")
    elif isinstance(metrics, (str, Metric)):
        metrics = (metrics,)
    if isinstance(metrics, Mapping):
        named = list(metrics.items())
    else:
        named = [(metric.name if isinstance(metric, Metric) else metric, metric) for metric in metrics]
    suite: dict[str, Definition] = {}
    for name, metric in named:
        if name in suite:
            raise ConfigError(
                f"metrics: {name!r} is requested twice; pass a mapping of distinct result names to metrics."
            )
        if not isinstance(metric, (str, Metric)):
            raise ConfigError(f"metrics: expected names or metrics, got {type(metric).__name__}: {metric!r}.")
        if isinstance(metric, str):
            suite[name] = convention.definition(metric)
        else:
            suite[name] = Definition(metric, convention.policies)
    check_suite({name: definition.metric for name, definition in suite.items()})
    return suite


def check_measures_lists(suite: Mapping[str, Definition]) -> None:
    """Refuse metrics that measure something other than ranked lists, and say what evaluates them.

    Raises
    ------
    ConfigError
        If there is one.
    """
    for name, definition in suite.items():
        kind: Any = getattr(definition.metric, "kind", None)
        if kind != "lists":
            reason = _NOT_LISTS.get(kind, "must be a UserMetric or a RunMetric to measure lists")
            raise ConfigError(f"metrics: {name!r} {reason}.")


def with_cutoffs(
    metrics: Metrics, cutoffs: Sequence[int | None] | None
) -> tuple[Metrics, tuple[int | None, ...], list[str]]:
    """Return the metrics without cutoffs in their names, all cutoffs, and the keys of the results.

    There are no keys where no name has a cutoff, so that all metrics have all cutoffs.
    """
    if isinstance(metrics, str) and "," in metrics:  # as on the command line
        metrics = metrics.split(",")
    if isinstance(metrics, str):
        metrics = without_label(metrics)
    elif isinstance(metrics, (list, tuple)):
        metrics = [without_label(each) if isinstance(each, str) else each for each in metrics]
    named: Sequence[str | Metric] = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if isinstance(metrics, Mapping):
        named = []
    parts = [split_label(each) if isinstance(each, str) else (each, None) for each in named]
    if all(k is None for _, k in parts):
        return metrics, check_all_cutoffs((5, 10) if cutoffs is None else cutoffs), []
    if cutoffs is not None and all(k is not None for _, k in parts):
        raise ConfigError(f"cutoffs={cutoffs!r}: all names of metrics have their own. Leave cutoffs out.")
    rest = check_all_cutoffs((None,) if cutoffs is None else cutoffs)
    pairs = [(metric, k) for metric, own in parts for k in (rest if own is None else (own,))]
    keys = [metric_key(metric if isinstance(metric, str) else metric.name, k) for metric, k in pairs]
    if repeated := [key for at, key in enumerate(keys) if key in keys[:at]]:
        raise ConfigError(f"metrics: {repeated[0]!r} is requested twice.")
    whole = [None] if any(k is None for _, k in pairs) else []
    ks = [*sorted({k for _, k in pairs if k is not None}), *whole]
    return tuple(dict.fromkeys(metric for metric, _ in pairs)), check_all_cutoffs(ks), keys


def check_all_cutoffs(cutoffs: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return distinct cutoffs in ascending order, None for the whole list last."""
    numbers = [k for k in cutoffs if k is not None] if is_row(cutoffs) else cutoffs
    if is_row(cutoffs) and None in cutoffs:
        return (*(check_cutoffs("cutoffs", numbers) if numbers else ()), None)
    return check_cutoffs("cutoffs", numbers)


def convert(  # noqa: PLR0913 -- the arguments of the public function
    recommendations: Any,
    relevant: Any,
    *,
    threshold: float,
    train: Any = None,
    item_features: Any = None,
    n_items: int | None = None,
    scores: Any = None,
    users: Sequence[Any] | None = None,
    relevant_from: float | None = None,
    item_similarity: Any = None,
    head: Sequence[Any] | None = None,
    in_part: bool = False,
    cells: CellFormat | None = None,
    closed: bool = True,
    keep_rising: bool = True,
) -> EvaluationInputs:
    """Turn the arguments of :func:`recgauge.evaluate` into codes.

    `in_part`: these are some of the users, and all codes are items; the lists may be empty. `closed`:
    where training rows are given, the catalogue has no items that lists alone name. `keep_rising`: scores may
    look like ranks.

    Returns
    -------
    EvaluationInputs

    Raises
    ------
    SchemaError
        If an argument cannot be used; the message names it.
    """
    if isinstance(relevant, Relevant) and relevant_from is not None:
        raise ConfigError("relevant_from: codes (Relevant) are relevant already; say it where they are made.")
    features = None if item_features is None else read_features(item_features)
    similarity = None if item_similarity is None else read_similarity(item_similarity)
    if isinstance(recommendations, TopK) and isinstance(relevant, Relevant):
        if scores is not None:
            raise SchemaError(_OWN_SCORES)
        inputs = inputs_of_codes(recommendations, relevant, train, (features, similarity), n_items, users)
        return inputs if head is None else replace(inputs, catalogue=with_head(inputs.catalogue, head))
    if isinstance(relevant, Relevant):
        raise SchemaError("relevant: codes (Relevant) need recommendations as codes too (TopK).")
    cells = cells or CellFormat()
    lists, order = _lists(recommendations, scores, (relevant, train), cells, keep_rising=keep_rising)
    if len(lists.users) == 0 and not in_part:
        raise SchemaError("recommendations is empty: pass at least one user's list.")
    truth = _items("relevant", relevant, cells)
    bound, grades = _from_threshold(truth, relevant_from, threshold)
    history = None if train is None else _items("train", train, cells)
    user_ids, n_users, rows = _user_codes(lists, truth, history, users)
    item_ids, columns = _item_codes(lists, truth, history, (features, similarity))
    is_coded = isinstance(recommendations, TopK)  # lists of models
    with_lists = history is None or is_coded or not closed
    makers = [np.arange(len(item_ids), dtype=np.int32)] if in_part else columns[not with_lists :]
    outside = _outside(len(item_ids), makers, n_items, fewest=int(in_part))
    size = len(outside)
    of_items = [
        None if table is None else table.by_item(codes, item_ids, size, columns[0])
        for table, codes in zip((features, similarity), columns[3:], strict=True)
    ]
    seen = (
        None
        if history is None
        else pairs_matrix(np.repeat(rows[2], history.lengths), columns[2], (len(user_ids), size))
    )
    meetings: tuple[Meeting, ...] = ()
    if lists.n_codes is None:
        meetings = _meetings(user_ids, rows, item_ids, columns, has_train=history is not None)
    n_train_users = None if history is None else len(history.users)
    sized = n_items is not None
    judged = None if is_coded else columns[1]
    catalogue = make_catalogue(
        size, seen, *of_items, n_train_users=n_train_users, sized=sized, truth=judged, outside=outside
    )
    if head is not None:
        catalogue = with_head(catalogue, head, item_ids)
    of_truth = _relevant(truth, rows[1], columns[1], n_users, bound, is_chosen=relevant_from is not None)
    return EvaluationInputs(
        _lists_matrix(lists, rows[0], columns[0], n_users),
        replace(of_truth, user_ids=user_ids, item_ids=item_ids),
        user_ids,
        None,
        catalogue,
        meetings,
        grades,
        order,
    )


def _from_threshold(
    truth: Ragged, relevant_from: float | None, threshold: float
) -> tuple[float, GradeCounts | None]:
    """Return the lowest grade that is relevant, and the grades that there are."""
    bound, is_chosen = (threshold, False) if relevant_from is None else (relevant_from, True)
    check_real("relevant_from", bound, low=-inf, high=inf)
    if truth.values is not None:
        return bound, GradeCounts.of(truth.values, bound, is_chosen=is_chosen)
    if is_chosen:
        raise ConfigError("relevant_from: the truth has no grades to compare with.")
    return bound, None


def _meetings(
    user_ids: IdArray,
    users: Sequence[IntArray],
    item_ids: IdArray,
    items: Sequence[IntArray],
    *,
    has_train: bool,
) -> tuple[Meeting, ...]:
    """Count what lists, relevant items and training rows share, each as codes; the latter show more items."""
    base = "relevant items and training rows" if has_train else "relevant items"
    of_users = partial(meet_rows, user_ids, name="user", keys=spelling_keys(user_ids))
    of_items = partial(meet_rows, item_ids, name="item", keys=spelling_keys(item_ids))
    meetings = (
        of_users(users[0], [users[1]], sides=("lists", "relevant items")),
        of_items(items[0], items[1 : 2 + has_train], sides=("lists", base)),
    )
    if not has_train:
        return meetings
    sides = ("relevant items", "training rows")
    return (
        *meetings,
        of_users(users[1], [users[2]], sides=sides),
        of_items(items[1], [items[2]], sides=sides),
    )


_OWN_SCORES = "scores: a TopK carries its scores, and a table in a column 'score'; pass no scores with it."


def _lists(
    recommendations: Any, scores: Any, tables: Sequence[Any], cells: CellFormat, *, keep_rising: bool
) -> tuple[Ragged, ListOrder | None]:
    """Return ranked lists by ids, of codes by those of the tables beside them, and what ordered the lists."""
    if isinstance(recommendations, Ragged):
        return recommendations, None
    if scores is not None and (isinstance(recommendations, TopK) or _is_table(recommendations)):
        raise SchemaError(_OWN_SCORES)
    if isinstance(recommendations, TopK):
        rows = [table for table in tables if isinstance(table, Interactions)]
        if not rows:
            raise SchemaError(
                "recommendations: a TopK holds codes, and the other tables hold ids. Pass "
                "lists.by_ids(user_ids, item_ids), with the ids of all codes, such as those of split.train."
            )
        require_ids(recommendations, rows[0].user_ids, rows[0].item_ids)
        filled = recommendations.items >= 0
        return Ragged(
            as_ids("recommendations: user", rows[0].user_ids[recommendations.users]),
            filled.sum(axis=1),
            as_ids("recommendations: item", rows[0].item_ids[recommendations.items[filled]]),
            recommendations.scores[filled].astype(np.float64),
        ), None
    if _is_table(recommendations):
        return ranked_rows("recommendations", recommendations, cells, keep_rising=keep_rising)
    lists = read_lists(recommendations, scores)
    if lists.values is None or not all(isinstance(row, Mapping) for row in recommendations.values()):
        return lists, ListOrder()
    if not keep_rising:
        user = np.repeat(np.arange(len(lists.lengths)), lists.lengths)
        written = np.array([score for row in recommendations.values() for score in row.values()], np.float64)
        row = np.lexsort((-written, user))
        check_scores("recommendations", user, lists.values, row, IN_CELLS)
    return lists, IN_CELLS


def _items(subject: Literal["relevant", "train"], table: Any, cells: CellFormat) -> Ragged:
    return item_rows(subject, table, subject, cells) if _is_table(table) else read_items(subject, table)


def _is_table(table: Any) -> bool:
    return is_frame(table) and not is_series(table)


def _user_codes(
    lists: Ragged, truth: Ragged, history: Ragged | None, users: Sequence[Any] | None
) -> tuple[IdArray, int, list[IntArray]]:
    """Return the ids, how many of them count, and the rows of lists, relevance and training data."""
    named = None if users is None else as_ids("users", users)
    trained = np.empty(0, np.int64) if history is None else history.users
    columns = [lists.users, truth.users, trained]
    if named is not None:
        columns = [named, *columns]
    ids, codes = encode(columns, in_order=True)
    rows = codes[-3:]
    if named is None:
        n_users = int(max(rows[0].max(initial=-1), rows[1].max(initial=-1))) + 1
        return ids, n_users, rows
    if len(np.unique(codes[0])) < len(named):
        raise SchemaError("users: an id appears twice. Name everybody once.")
    for name, row in (("recommendations", rows[0]), ("relevant", rows[1])):
        if row.max(initial=-1) >= len(named):
            unknown = ids[row[row >= len(named)][0]]
            raise SchemaError(
                f"{name}: user {shown(unknown)} is not among `users`. Name everybody, or drop this user."
            )
    return ids, len(named), rows


def _item_codes(
    lists: Ragged, truth: Ragged, history: Ragged | None, tables: Sequence[ItemTable | None]
) -> tuple[IdArray, list[IntArray]]:
    """Return the ids, and the codes of lists, relevance, training data and each table of items."""
    none = np.empty(0, np.int64)
    columns = [lists.items, truth.items, none if history is None else history.items]
    columns += [none if table is None else table.items for table in tables]
    if lists.n_codes is not None:
        return np.arange(lists.n_codes), [np.asarray(column, np.int32) for column in columns]
    return encode(columns, in_order=False)


def _outside(n_codes: int, columns: Sequence[IntArray], n_items: int | None, *, fewest: int) -> BoolArray:
    """Return which codes are no items of the catalogue, whose further items are last.

    `columns` are the codes of the tables that make it.
    """
    own = np.zeros(n_codes, bool)
    for codes in columns:
        own[codes] = True
    n_own = int(np.count_nonzero(own))
    further = catalogue_size(max(n_own, fewest), n_items) - n_own
    return np.append(~own, np.zeros(further, bool))


def _lists_matrix(lists: Ragged, rows: IntArray, codes: IntArray, n_users: int) -> TopK:
    """Lay the lists out as rows, empty for users without one."""
    longest = max(1, int(lists.lengths.max(initial=0)))
    lengths, order = _by_row(lists.lengths, rows, n_users), _row_order(lists.lengths, rows)
    if order is not None:
        codes = codes[order]
    full = bool((lengths == longest).all())
    if full:
        items = codes.reshape(n_users, longest)
    else:
        filled = np.arange(longest) < lengths[:, None]
        items = np.full((n_users, longest), -1, np.int32)
        items[filled] = codes
    if lists.values is None:
        # no scores, no ties: any falling row says so, and one row serves all users
        scores: Any = np.broadcast_to(-np.arange(longest, dtype=np.float32), items.shape)
        return TopK(_everybody(n_users), items, scores, distinct=lists.distinct)
    values = lists.values if order is None else lists.values[order]
    scores = values.reshape(items.shape) if full else np.full(items.shape, -np.inf)
    if not full:
        scores[filled] = values
    return TopK(_everybody(n_users), items, scores, distinct=lists.distinct)


def _relevant(
    truth: Ragged, rows: IntArray, codes: IntArray, n_users: int, threshold: float, *, is_chosen: bool
) -> Relevant:
    """Keep what the threshold calls relevant, users in order of their codes; a convention's is above 0."""
    grades = np.ones(len(codes)) if truth.values is None else truth.values
    if grades.min(initial=0.0) < 0 and not is_chosen:
        user = truth.users[np.searchsorted(np.cumsum(truth.lengths), np.argmin(grades), side="right")]
        raise SchemaError(
            f"relevant: grades must be 0 or more, got {grades.min():g} for user {shown(user)}. Say from "
            "which grade items are relevant: relevant_from, on the command line --relevant-from."
        )
    n_judged = _by_row(truth.lengths, rows, n_users)
    order, counts = _row_order(truth.lengths, rows), n_judged
    if order is not None:
        codes, grades = codes[order], grades[order]
    start = np.concatenate(([0], np.cumsum(n_judged)))
    row = None if truth.distinct else _lookup.first_repeat_ragged(start, codes)
    if row is not None:
        name = next(iter(truth.users[rows == row]))
        raise SchemaError(
            f"relevant: user {shown(name)} has an item twice. Keep one row for each user and item."
        )
    kept = is_relevant(grades, threshold)
    if truth.values is not None and not kept.all():
        counts = np.bincount(np.repeat(_everybody(n_users), n_judged)[kept], minlength=n_users)
        codes, grades = codes[kept], grades[kept]
    none_relevant = np.flatnonzero((n_judged > 0) & (counts == 0)).astype(np.int32)
    start = np.concatenate(([0], np.cumsum(counts)))
    return Relevant(_everybody(n_users), start, codes, grades, 0, none_relevant)


def _row_order(lengths: LongArray, rows: IntArray) -> LongArray | None:
    """Return the order that brings users' entries to the order of their rows, None if it is theirs."""
    if (np.diff(rows) > 0).all():
        return None
    return np.argsort(np.repeat(rows, lengths), kind="stable")


def _by_row(counts: LongArray, rows: IntArray, n_users: int) -> LongArray:
    """Return the count of each of n users, 0 for those who have no row."""
    by_row = np.zeros(n_users, np.int64)
    by_row[rows] = counts
    return by_row


def _everybody(n_users: int) -> IntArray:
    return np.arange(n_users, dtype=np.int32)
