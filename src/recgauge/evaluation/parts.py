"""Evaluation in parts: all rows of some users are judged at a time, and what they add up to is merged."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from hashlib import sha256
from io import BytesIO
from math import inf
from operator import add
from typing import Any
from zipfile import BadZipFile

import numpy as np

from recgauge.conventions import Convention, Definition, get_convention
from recgauge.data.ids import IdArray
from recgauge.data.lists import GradeCounts
from recgauge.data.meeting import FEWEST, Meeting
from recgauge.errors import ConfigError, MetricError, SchemaError
from recgauge.evaluation import Evaluation, merge
from recgauge.evaluation.evaluate import (
    Metrics,
    check_measures_lists,
    convert,
    select_metrics,
    with_cutoffs,
)
from recgauge.evaluation.recorded_runs import needed
from recgauge.evaluation.values import JudgedUsers, MetricAtCutoff, Sums, entries, ways_to_judge
from recgauge.files.frames import as_arrow
from recgauge.files.ids import Ids, join_ids, read_ids
from recgauge.files.rows import Rows
from recgauge.judging import check_longest, judge
from recgauge.metrics import RunMetric
from recgauge.recorded import join_recorded, rows_of_table
from recgauge.recorded.findings import Finding, ListSettings, check_meeting, unmet
from recgauge.recorded.lists import ARE_TRUTH
from recgauge.utils.checks import DoubleArray, shown
from recgauge.utils.exact import Moments
from recgauge.utils.plain import Arrays, pack, unpack

_FORMAT = 6  # of stored parts; another is never read
_KINDS = {kind.__name__: kind for kind in (Moments, Meeting, Finding, GradeCounts)}  # they are made of these


@dataclass(frozen=True, eq=False)
class Part:
    """What the judged lists of some users add up to; `PartTask.merge` makes an evaluation of parts.

    Parameters
    ----------
    task : str
        The digest of the task, which all parts to be merged have in common.
    sums : mapping of str to Moments or ndarray of float64
        By the key of the result; they are exact, so that no order of adding changes them.
    counts : mapping of str to int
        Of users, as `Evaluation.counts`; ``lists`` and ``parts``, and ``truths``: parts whose lists are the
        truth.
    meetings : tuple of Meeting
        How many users, and items, of lists and truth met.
    findings : tuple of Finding
        What is odd about the lists.
    grades : GradeCounts or None
        Which rows of the truth are relevant; None where there are no grades.
    values : tuple of mapping of str to ndarray
        Ids of users, as ``user``, and their values by key; one for each judged part, none if the task does
        not ask for them.
    """

    task: str
    sums: Mapping[str, Sums]
    counts: Mapping[str, int]
    meetings: tuple[Meeting, ...]
    findings: tuple[Finding, ...]
    grades: GradeCounts | None
    values: tuple[Mapping[str, np.ndarray[Any, Any]], ...] = ()

    @property
    def n_lists(self) -> int:
        """How many lists there are."""
        return self.counts["lists"]

    @property
    def warnings(self) -> list[str]:
        """What must be said first of the lists: what did not meet, and lists that are the truth."""
        warnings = [meeting.warning for meeting in self.meetings if meeting.warning]
        return [*warnings, ARE_TRUTH] if self.counts["truths"] == self.counts["parts"] else warnings

    def __add__(self, other: "Part") -> "Part":
        """Return the part that the users of both make; ConfigError for parts of different tasks."""
        if self.task != other.task:
            raise ConfigError(
                "Part: parts of different tasks cannot be merged; judge all with the same metrics, cutoffs, "
                "conventions and items."
            )
        findings = {finding.name: finding for finding in self.findings}
        for finding in other.findings:
            first = findings.get(finding.name, replace(finding, count=0))
            findings[finding.name] = replace(first, count=first.count + finding.count)
        return Part(
            self.task,
            {key: sums + other.sums[key] for key, sums in self.sums.items()},  # type: ignore[operator]
            {name: count + other.counts[name] for name, count in self.counts.items()},
            tuple(own + its for own, its in zip(self.meetings, other.meetings, strict=True)),
            tuple(findings.values()),
            self.grades and other.grades and self.grades + other.grades,
            self.values + other.values,
        )

    def to_bytes(self) -> bytes:
        """Return the part as a compressed file of NumPy's, without pickles, to be sent or stored."""
        arrays: Arrays = {}
        about, content = json.dumps(pack(vars(self), "part", arrays, _KINDS)), BytesIO()
        np.savez_compressed(content, about=np.array(about), **arrays)  # type: ignore[arg-type]
        return content.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Part":
        """Return the part that `to_bytes` wrote.

        Raises
        ------
        SchemaError
            If these are other bytes.
        """
        try:
            with np.load(BytesIO(content)) as arrays:
                return cls(**unpack(json.loads(str(arrays["about"])), arrays, _KINDS))
        except (ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile) as error:
            raise SchemaError("Part.from_bytes needs what Part.to_bytes wrote.") from error


@dataclass(frozen=True, eq=False)
class PartTask:
    """What is asked of all parts: users' rows are judged part by part, anywhere, and merged to one result.

    The result is that of `recgauge.evaluate` with all rows at once, to the last bit, for every number of
    parts, order of parts and order of users: sums are exact.

    Parameters
    ----------
    metrics, cutoffs, conventions
        As for `recgauge.evaluate`. Metrics that need training rows or features, and random orders of equal
        scores, are refused.
    items : array-like, optional
        Ids of all items that lists and truth name. Metrics of items, such as coverage, need them, and so does
        a convention that orders equal scores by items whose ids are text.
    n_items : int, optional
        Size of the catalogue, for shares of it.
    relevant_from : float, optional
        Grades of the truth below it are not relevant.
    per_user : bool, default False
        Whether parts keep the users' own values; then a user in two parts is refused.
    settings : ListSettings, optional
        What of the lists is refused; see `recgauge.recorded.ListSettings`.

    Raises
    ------
    ConfigError
        If a metric, cutoff or convention is unknown or cannot be had in parts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> task = PartTask(metrics=("precision", "ndcg"), cutoffs=(2,))
    >>> lists = pa.table({"user": [1, 1, 2, 2], "item": [7, 8, 7, 9], "rank": [1, 2, 1, 2]})
    >>> truth = pa.table({"user": [1, 2], "item": [8, 5]})
    >>> parts = [task.judge(lists.slice(at, 2), truth.slice(row, 1)) for row, at in ((0, 0), (1, 2))]
    >>> {key: round(value, 4) for key, value in task.merge(parts).values().items()}
    {'precision_at_2': 0.25, 'ndcg_at_2': 0.3155}
    """

    metrics: Metrics = ("ndcg", "recall", "precision")
    cutoffs: Sequence[int | None] | None = None
    conventions: str | Convention = "standard"
    items: Any = None
    n_items: int | None = None
    relevant_from: float | None = None
    per_user: bool = False
    settings: ListSettings = field(default_factory=ListSettings)

    def __post_init__(self) -> None:
        check_longest(self._convention.policies, self._named[1])
        for name, definition in self._suite.items():
            metric, ways = definition.metric, definition.policies
            drawn = ways.ties == "random" or (ways.ties == "expected" and not metric.has_expected)
            if metric.needs - {"n_items"} or drawn or ways.round_mean is not None:
                raise ConfigError(
                    f"metrics: {name} needs training rows, features, random orders of equal scores or a "
                    "rounded sum, which parts do not have; evaluate all rows at once with recgauge.evaluate."
                )

    @cached_property
    def _convention(self) -> Convention:
        return get_convention(self.conventions)

    @cached_property
    def _named(self) -> tuple[Metrics, tuple[int | None, ...], Sequence[str]]:
        """The metrics without cutoffs, all cutoffs, and the keys of the results; no keys: of all of them."""
        return with_cutoffs(self.metrics, self.cutoffs)

    @cached_property
    def _suite(self) -> dict[str, Definition]:
        suite = select_metrics(self._named[0], self._convention)
        check_measures_lists(suite)
        return suite

    @cached_property
    def _entries(self) -> tuple[MetricAtCutoff, ...]:
        return tuple(entries(self._suite, self._named[1], self._convention.policies))

    @cached_property
    def _items(self) -> Ids | None:
        """The ids of all items, once each; text that holds whole numbers is read as such, as files are."""
        import pyarrow as pa

        if self.items is None:
            return None
        _, distinct = join_ids([read_ids(pa.chunked_array([self.items]))], "item")
        return Ids(np.arange(len(distinct), dtype=np.int32), distinct, distinct.dtype.kind in "iu")

    @property
    def needs_items(self) -> bool:
        """Whether items are asked for, or equal scores are ordered by them."""
        return any(
            isinstance(each.metric, RunMetric) or each.policies.ties in ("item_code", "id_descending")
            for each in self._suite.values()
        )

    @cached_property
    def digest(self) -> str:
        """What tells this task from others: definitions, policies, items and how lists are read."""
        definitions = [entry.key + entry.definition for entry in self._entries]
        options = [self._convention.policies.definition(), self.n_items, self.relevant_from, self.per_user]
        reading = [self.settings.order, sorted(self.settings.keep), sorted(self.settings.refuse)]
        items = None if self._items is None else self._items.distinct.tolist()
        return sha256(json.dumps([definitions, options, reading, items, _FORMAT]).encode()).hexdigest()

    def judge(self, lists: Any, truth: Any) -> Part:
        """Judge the lists of some users: all rows that they have in lists and truth.

        Parameters
        ----------
        lists : table of Arrow, pandas or polars
            Columns of user, item, and rank or score, known by their usual names.
        truth : likewise
            Columns of user, item and, where there are grades, grade.

        Returns
        -------
        Part

        Raises
        ------
        DataError
            If rows cannot be used, or something is found that is refused.
        MetricError
            If a definition or a policy refuses a user.
        """
        rows = rows_of_table(as_arrow(lists, "lists"), "lists", "lists")
        return self.judge_rows(rows, rows_of_table(as_arrow(truth, "truth"), "relevant", "truth"))

    def judge_rows(self, lists: Rows, truth: Rows) -> Part:
        """Judge rows that have been read and checked; see `judge`."""
        policies, cutoffs = self._convention.policies, self._named[1]
        longest = max((k for k in cutoffs if k is not None), default=None)
        threshold = policies.threshold if self.relevant_from is None else self.relevant_from
        settings = replace(self.settings, in_part=True, longest=longest, threshold=threshold)
        recorded = join_recorded([("lists", lists)], [truth], [], settings, self._items)
        (run,) = recorded.runs
        if self._items is not None and len(recorded.item_ids) > len(self._items.distinct):
            raise SchemaError("items: lists or truth have others, too. Name all items.")
        inputs = convert(
            needed(run, self._suite.values(), cutoffs),
            recorded.relevant,
            n_items=self.n_items,
            threshold=policies.threshold,
            relevant_from=self.relevant_from,
            in_part=True,
        )
        catalogue = None if self._items is None else inputs.catalogue
        sums: dict[str, Sums] = {}
        values: dict[str, DoubleArray] = {}
        for (judging, _), group in ways_to_judge(self._suite).items():
            way = replace(judging, repeats="miss") if judging.repeats == "refuse" else judging
            judged = judge(inputs.top_k, inputs.relevant, catalogue, policies=way, user_ids=inputs.user_ids)
            judged_users = JudgedUsers(judged, inputs.user_ids[judged.users])
            for entry in entries(group, cutoffs, policies):
                sums[entry.key], per_user = entry.sums(judged_users)
                if per_user is not None:
                    values[entry.key] = per_user
        of_lists = {"lists": len(run.lists.users), "parts": 1, "truths": int(run.are_truth)}
        return Part(
            self.digest,
            {entry.key: sums[entry.key] for entry in self._entries},
            judged_users.counts(policies, 0) | of_lists,
            run.meetings,
            run.findings,
            inputs.grades,
            ({"user": judged_users.ids, **values},) if self.per_user else (),
        )

    def merge(self, parts: Iterable[Part]) -> Evaluation:
        """Return the evaluation of all users of the parts.

        Parameters
        ----------
        parts : iterable of Part
            In any order; one is held at a time, but for the users' values, where parts have them.

        Returns
        -------
        Evaluation
            Its `users` are sorted; without values of users they are empty.

        Raises
        ------
        ConfigError
            If there is no part, or one is of another task.
        MetricError
            If a metric has no value for any user.
        SchemaError
            If a user is in two parts, which users' values show.
        """
        return self.evaluation(self.total(parts))

    def total(self, parts: Iterable[Part], name: str = "merge") -> Part:
        """Return the part that all users make, with what did not meet; errors begin with `name`."""
        rest = iter(parts)
        if (first := next(rest, None)) is None:
            raise ConfigError(f"{name} needs at least one part.")
        whole = reduce(add, rest, first)
        if whole.task != self.digest:
            raise ConfigError(f"{name}: the parts are of another task; judge all parts with this one.")
        if whole.counts["lists"] == 0:
            raise MetricError(f"{name}: no part has a list, so there is nothing to measure.")
        users, items = whole.meetings
        is_sure = whole.counts["parts"] == 1 or not items.n_both  # few items of few users meet
        check_meeting(users, name, self.settings, 1)
        check_meeting(items, name, self.settings, FEWEST if is_sure else inf)
        finding = unmet(whole.meetings if is_sure else [users], name)
        return whole if finding is None else replace(whole, findings=(*whole.findings, finding))

    def evaluation(self, whole: Part) -> Evaluation:
        """Return the evaluation of the part that all users make."""
        users, values = _values_of(whole.values)
        results = tuple(entry.result(whole.sums[entry.key], values.get(entry.key)) for entry in self._entries)
        policies = self._convention.policies
        if whole.grades is not None:
            policies = replace(policies, threshold=whole.grades.threshold)
        counts = {name: count for name, count in whole.counts.items() if name.startswith("users_")}
        evaluation = Evaluation(users, results, counts, policies.definition())
        keys = self._named[2] or [entry.key for entry in self._entries]
        return replace(merge([evaluation], keys), grades=whole.grades)


def text_users(tables: Iterable[Mapping[str, IdArray]]) -> bool:
    """Whether users of several parts are text: unless all are whole numbers; of a part text may look so."""
    return any(table["user"].dtype.kind in "UO" for table in tables if len(table["user"]))


def _values_of(tables: Sequence[Mapping[str, IdArray]]) -> tuple[IdArray, dict[str, DoubleArray]]:
    """Return all users, sorted, and their values; nobody and nothing if parts have none."""
    if not tables:
        return np.empty(0, np.int64), {}
    kind = object if text_users(tables) else np.int64
    users = np.concatenate([table["user"].astype(str if kind is object else kind) for table in tables])
    order = users.argsort()
    users = users[order].astype(kind)
    if (repeated := users[1:] == users[:-1]).any():
        user = shown(users[1:][repeated][0])
        raise SchemaError(f"merge: user {user} is in two parts. Give all rows of a user to one part.")
    keys = [key for key in tables[0] if key != "user"]
    return users, {key: np.concatenate([table[key] for table in tables])[order] for key in keys}
