"""`recgauge compare --mlflow`: anybody's runs of an experiment compared, and the table written back."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recgauge.comparison.comparing import compare_values, pair_runs
from recgauge.comparison.conditions import Condition, LoggedRun, chosen_metrics, conditions_of
from recgauge.comparison.over_seeds import compare_over_seeds
from recgauge.comparison.reading import read_run
from recgauge.comparison.results import Comparison, Procedure
from recgauge.comparison.user_values import UserValues
from recgauge.errors import MissingDataError
from recgauge.metrics.names import Directions
from recgauge.runs.protocol import judging
from recgauge.runs.stored import PER_USER
from recgauge.tracking.finding import check_experiment, chosen_runs, experiments_of, run_files
from recgauge.tracking.page import (
    EVALUATED_TAG,
    FILES_TAG,
    JUDGING_TAG,
    SUMMARY_TAG,
    TRUTH_TAG,
)
from recgauge.tracking.store import Store

if TYPE_CHECKING:
    from mlflow.entities import Run

    from recgauge.runs.finished import RunValues

_OWN_TAGS = ("mlflow.", "recgauge.", "definition.")


def named_experiment(store: Store, name: str) -> Store:
    """Return the store with an experiment of this name or id.

    Raises
    ------
    ConfigError
        If there is none.
    """
    experiments = experiments_of(store)
    names = {number: own for own, number in experiments.items()}
    chosen = replace(store, experiment=name if name in experiments else names.get(name, name))
    check_experiment(chosen, "--mlflow")
    return chosen


def compare_logged(
    store: Store,
    procedure: Procedure,
    *,
    metrics: Sequence[str] | None = None,
    where: str = "",
    over: Sequence[str] = (),
    directions: Directions | None = None,
) -> Comparison:
    """Compare the finished runs of an experiment; those that differ in a seed or fold alone are one.

    Where the evaluator has stored values of users by id in all runs, they pair by user; else the numbers of
    seeds are compared.

    Parameters
    ----------
    store : Store
        With the experiment, of `named_experiment`.
    procedure : Procedure
    metrics : sequence of str, optional
    where : str
        Which runs, in MLflow's language.
    over : sequence of str
        See `conditions_of`.
    directions : Directions, optional

    Raises
    ------
    RecgaugeError
        If there are no runs that can be compared; the message says what is missing.
    """
    stored, notes = _finished(store, where)
    runs = list(map(_logged, stored))
    higher, more = chosen_metrics(runs, metrics, directions or Directions())
    conditions, repeated = conditions_of(runs, over)
    values: dict[str, RunValues] = {}
    if all(run.has_users for run in runs) and len(conditions) > 1:
        values = {run.info.run_id: read_run(run_files(store, run, (PER_USER,)) / PER_USER) for run in stored}
    if values and all(key in each.values for key in higher for each in values.values()):
        comparison = compare_values(_tables(conditions, values, higher), procedure)
    else:
        comparison = compare_over_seeds(conditions, higher, procedure)
    return replace(comparison, notes=(*comparison.notes, *notes, *repeated, *more))


def _finished(store: Store, where: str) -> "tuple[list[Run], list[str]]":
    """Return the finished runs that have metrics, newest first, and notes on the others."""
    runs = [run for run in chosen_runs(store, where) if SUMMARY_TAG not in run.data.tags]
    finished = [run for run in runs if run.info.status == "FINISHED"]
    kept = [run for run in finished if run.data.metrics]
    if not kept:
        chosen = f" with --where {where!r}" if where else ""
        raise MissingDataError(
            f"{store.experiment}: there is no finished run with a metric{chosen}; {len(runs)} runs in all. "
            "Log metrics and end the runs with status FINISHED, or choose others with --where."
        )
    n_open, n_empty = len(runs) - len(finished), len(finished) - len(kept)
    notes = [f"runs left out: {n_open} not finished, {n_empty} without a metric"] if n_open + n_empty else []
    if any(FILES_TAG in run.data.tags for run in kept):
        notes.append(f"runs of recgauge are paired by user with `recgauge compare {store.experiment}`")
    return kept, notes


def _logged(run: "Run") -> LoggedRun:
    tags = run.data.tags
    own = {name: value for name, value in tags.items() if not name.startswith(_OWN_TAGS)}
    definitions = {
        name.removeprefix("definition."): text
        for name, text in tags.items()
        if name.startswith("definition.")
    }
    name, has_users = run.info.run_name or run.info.run_id, EVALUATED_TAG in tags
    # the policies of a run of recgauge are settings
    policies, truth = "" if FILES_TAG in tags else judging(tags.get(JUDGING_TAG, "")), tags.get(TRUTH_TAG, "")
    facts, metrics = own | run.data.params, run.data.metrics
    return LoggedRun(run.info.run_id, name, facts, metrics, definitions, has_users, policies, truth)


def _tables(
    conditions: Sequence[Condition], values: "Mapping[str, RunValues]", higher: Mapping[str, bool]
) -> list[UserValues]:
    """Return the values of users by data set, each seed or fold by a number."""
    numbers: dict[str, int] = {}
    by_dataset: dict[str, dict[str, list[RunValues]]] = {}
    for each in conditions:
        own = by_dataset.setdefault(each.dataset, {}).setdefault(each.name, [])
        for text, run in each.runs.items():
            number, of_run = numbers.setdefault(text, len(numbers)), values[run.run_id]
            own.append(replace(of_run, fold=number) if each.of_folds else replace(of_run, seed=number))
    return [pair_runs(runs, list(higher), None, name) for name, runs in by_dataset.items()]
