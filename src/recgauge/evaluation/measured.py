"""Lists of files, measured: the results of each run, its findings, and the values of its users."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.conventions import Convention
from recgauge.evaluation import Evaluation, described
from recgauge.evaluation.evaluate import evaluate, with_cutoffs
from recgauge.evaluation.recorded_runs import (
    evaluate_ratings_of_runs,
    measures_ratings,
    needed,
    whole_lists,
)
from recgauge.judging import Seen, check_longest
from recgauge.judging.ineligible import REASONS
from recgauge.metrics.names import split_label
from recgauge.recorded import RecordedRuns
from recgauge.recorded.findings import ListSettings, Order
from recgauge.utils.arrow import arrow_table

if TYPE_CHECKING:
    import pyarrow as pa

    from recgauge.data.lists import Relevant
    from recgauge.evaluation.parts import Part, PartTask
    from recgauge.recorded.lists import RecordedLists


@dataclass(frozen=True, eq=False)
class MeasuredRuns:
    """The numbers of each run by its name, and what was found in its lists.

    Parameters
    ----------
    results : mapping of str to Evaluation
    lists : mapping of str to RecordedLists or Part
        How many lists there are, what is odd about them, and how many users and items met the truth.
    users : callable
        Yields the name of a run and a table of its users' values, once or, of parts, several times a run.
    """

    results: Mapping[str, Evaluation]
    lists: "Mapping[str, RecordedLists | Part]"
    users: "Callable[[], Iterator[tuple[str, pa.Table]]]"


def list_settings(
    metrics: Sequence[str],
    convention: Convention,
    order: Order = "auto",
    refuse: Collection[str] = (),
    keep: Collection[str] = (),
    *,
    seen: Seen | None = None,
    relevant_from: float | None = None,
) -> ListSettings:
    """Return how lists are read that metrics measure under a convention, and what is said of seen items."""
    of_ratings = measures_ratings(metrics)  # which have no cutoffs
    for name in metrics:
        convention.definition(name if of_ratings else split_label(name)[0])
    policies, cutoffs = convention.policies, with_cutoffs(metrics, whole_lists(metrics))[1]
    check_longest(policies, cutoffs)
    named: dict[str, str] = {name: getattr(policies, name) for name in REASONS}
    if seen is None and not convention.uses_train and "seen_items" not in refuse:
        named["seen"] = "hit"
    return ListSettings(
        order,
        refuse,
        keep,
        threshold=0.0 if of_ratings else policies.threshold if relevant_from is None else relevant_from,
        longest=max((k for k in cutoffs if k is not None), default=None),
        text_ids=policies.ties == "id_descending",
        policies=named,
    )


def measure_recorded(  # noqa: PLR0913 - what a command asks, by name
    recorded: RecordedRuns,
    metrics: Sequence[str],
    convention: Convention,
    settings: ListSettings,
    *,
    relevant_from: float | None = None,
    n_items: int | None = None,
    head: Sequence[str] | None = None,
    seen: Seen | None = None,
    seed: int = 0,
) -> MeasuredRuns:
    """Measure lists, or predicted ratings, that were read whole.

    The catalogue is `n_items`, else the items of truth and training rows, if there are some. `head`: ids of
    the short head, as text. `seen`: the policy that the user names, in place of the convention's.
    """
    if measures_ratings(metrics):
        return _measured(*evaluate_ratings_of_runs(recorded, metrics, convention, settings))
    codes = None
    if head is not None:
        code_of = {str(item): code for code, item in enumerate(recorded.item_ids.tolist())}
        codes = [code_of.get(item, item) for item in head]  # an unknown id is refused as such
    if convention.policies.repeats == "refuse" and not all(run.lists.distinct for run in recorded.runs):
        convention = convention.with_policies({"repeats": "miss"})  # those of one table are measured alike
    definitions = [convention.definition(split_label(name)[0]) for name in metrics]
    cutoffs = with_cutoffs(metrics, whole_lists(metrics))[1]
    results: dict[str, Evaluation] = {}
    truth: Relevant | None = None  # the same for all runs
    for run in recorded.runs:
        evaluation = evaluate(
            needed(run, definitions, cutoffs),  # type: ignore[arg-type]
            recorded.relevant,  # type: ignore[arg-type]
            relevant_from=relevant_from,
            metrics=metrics,
            cutoffs=whole_lists(metrics),
            conventions=convention,
            train=recorded.train,  # type: ignore[arg-type]
            n_items=n_items,
            head=codes,
            seen=seen,
            seed=seed,
        )
        if truth is None and evaluation.truth is not None:
            truth = replace(evaluation.truth, item_ids=recorded.item_ids)
        results[run.name] = replace(evaluation, truth=truth)
    return _measured(recorded, results)


def _measured(recorded: RecordedRuns, results: Mapping[str, Evaluation]) -> MeasuredRuns:
    """Return the results of runs that were read whole with what was found in their lists."""
    return MeasuredRuns(
        results,
        {run.name: run for run in recorded.runs},
        lambda: ((name, user_table(evaluation)) for name, evaluation in results.items()),
    )


def measure_parts(task: "PartTask", files: Mapping[str, Sequence[Path]]) -> MeasuredRuns:
    """Merge the judged parts of each run, as `StoredRuns.judge` leaves them in files."""
    from recgauge.evaluation.recorded_parts import stored_parts

    lists = {
        name: task.total((replace(part, values=()) for part in stored_parts(parts)), name)
        for name, parts in files.items()
    }
    results = {name: task.evaluation(whole) for name, whole in lists.items()}
    keys = [entry.key for entry in next(iter(results.values())).results]
    return MeasuredRuns(results, lists, partial(_tables_of_parts, files, keys))


def user_table(evaluation: Evaluation, user: str = "user_id") -> "pa.Table":
    """Return a row per user and a column per metric; the schema says what was measured."""
    values = {entry.key: entry.per_user for entry in evaluation.results if entry.per_user is not None}
    table = arrow_table({user: evaluation.users, **values})
    return table.cast(described(table.schema, _about(evaluation)))


def _about(evaluation: Evaluation) -> dict[str, Any]:
    """Return what the columns of users' values hold."""
    definitions = evaluation.definitions().items()
    return {
        "definitions": {key: f"{text}; {evaluation.policies}" for key, text in definitions},
        "higher_is_better": {entry.key: entry.higher_is_better for entry in evaluation.results},
        "truth": "" if evaluation.truth is None else evaluation.truth.sha256(),
    }


def _tables_of_parts(
    files: Mapping[str, Sequence[Path]], keys: Sequence[str]
) -> "Iterator[tuple[str, pa.Table]]":
    from recgauge.evaluation.parts import text_users
    from recgauge.evaluation.recorded_parts import stored_parts

    def tables(of_run: Sequence[Path]) -> Iterator[Mapping[str, Any]]:
        return (values for part in stored_parts(of_run) for values in part.values)

    as_text = text_users(chain.from_iterable(map(tables, files.values())))
    for name, of_run in files.items():
        for values in tables(of_run):
            users = values["user"].astype(str if as_text else np.int64)
            yield name, arrow_table({"user_id": users} | {key: values[key] for key in keys if key in values})


def write_users(measured: MeasuredRuns, file: Path) -> None:
    """Write a row per user and a column per metric; of several runs, a row per run, user and metric."""
    import pyarrow as pa
    from pyarrow import parquet

    first, is_alone = next(iter(measured.results.values())), len(measured.results) == 1
    about = _about(first)
    if is_alone:
        about["run"] = next(iter(measured.results))
    texts = [("run", pa.string()), ("user_id", pa.string()), ("metric", pa.string()), ("value", pa.float64())]
    nobody = pa.schema(texts).empty_table()  # of several runs without a value per user
    tables = (
        rows for name, table in measured.users() for rows in ([table] if is_alone else _long(name, table))
    )
    head = next(tables, nobody)
    schema = described(head.schema, about)
    with parquet.ParquetWriter(file, schema) as writer:
        for rows in chain([head], tables):
            writer.write_table(rows.cast(schema))


def _long(name: str, table: "pa.Table") -> "Iterator[pa.Table]":
    """Yield for each metric a table with a row for each user's value."""
    import pyarrow as pa

    for key in table.column_names[1:]:
        run, metric = (pa.repeat(pa.scalar(text), len(table)) for text in (name, key))
        columns = {"run": run, "user_id": table.column(0), "metric": metric, "value": table.column(key)}
        yield pa.table(columns)
