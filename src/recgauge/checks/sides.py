"""The two sides of a check: a run's values of users, its other numbers, its costs, and what they stand on."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recgauge.comparison.results import Cost
from recgauge.comparison.runs import Condition, cost_of, records_of, run_names, series_values
from recgauge.comparison.series import Series, all_series
from recgauge.comparison.stored_values import StoredValues
from recgauge.comparison.user_values import RunValues, read_run
from recgauge.data.ids import IdArray
from recgauge.errors import ConfigError, listed
from recgauge.evaluation import Evaluation
from recgauge.runs.folder import JobOutcome
from recgauge.runs.stored import RECORD, RunFolder, pooled_keys, user_columns
from recgauge.utils.arrow import to_arrow
from recgauge.utils.checks import DoubleArray
from recgauge.utils.randomness import hash_ids, mix

if TYPE_CHECKING:
    import pandas as pd

    Source: TypeAlias = "Evaluation | pd.DataFrame | str | Path | RunValues | Sequence[JobOutcome]"


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The candidate or the baseline.

    Parameters
    ----------
    name : str
    values : tuple of RunValues
        Of each seed and fold.
    metrics : tuple of str
        Every metric that there is, whether it was read or not.
    totals : mapping of str to (float, bool)
        Metrics that are one number for all users: the number, and whether higher is better.
    cost : Cost
    test_sha256 : str
        Digest of the test rows; of values without a record, of the users' ids.
    sha256 : str
        Digest of what was judged: the run's fingerprint, or of the values.
    series : Series or None
        Of finished runs.
    definitions : mapping of str to str
        Of an evaluation's metrics; those of finished runs are in their records.
    stored : StoredValues or None
        Values that need not fit into memory; `values` is empty then.
    """

    name: str
    values: tuple[RunValues, ...]
    metrics: tuple[str, ...]
    totals: Mapping[str, tuple[float, bool]] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    test_sha256: str = ""
    sha256: str = ""
    series: Series | None = None
    definitions: Mapping[str, str] = field(default_factory=dict)
    stored: StoredValues | None = None

    @property
    def of_users(self) -> Collection[str]:
        """The metrics of which there is a value for each user."""
        return self.values[0].values if self.stored is None else self.stored.metrics

    @property
    def run_id(self) -> str | None:
        """The id of the stored run, None of values, of an untracked run or of several."""
        jobs = () if self.series is None else self.series.jobs
        return jobs[0].run_id if len(jobs) == 1 else None

    @property
    def condition(self) -> Condition | None:
        """The first run, as what needs its rows takes it."""
        if self.series is None or (record := self.series.jobs[0].record) is None:
            return None
        return Condition({self.name: RunFolder(record, self.series.jobs[0].folder)})


def read_side(source: "Source", role: str, name: str = "", keys: Sequence[str] | None = None) -> Side:
    """Read one side of a check: what `recgauge.comparison.read_run` reads, or seeds and folds of one model.

    `role`, ``candidate`` or ``baseline``, is for messages, `name` the model's or the file's if not given; of
    `keys`, metrics are read as far as there are, all if not given.
    """
    if isinstance(source, (str, Path)) and (Path(source) / RECORD).is_file():
        run = RunFolder.read(Path(source))
        source = [JobOutcome(0, str(source), record=run.record, folder=run.folder)]
    if isinstance(source, Sequence) and not isinstance(source, str):
        return _of_runs(source, role, name, keys)
    values = read_run(source)
    totals, definitions = {}, {}
    if isinstance(source, Evaluation):
        definitions = {key: f"{text}; {source.policies}" for key, text in source.definitions().items()}
        totals = {
            one.key: (one.value, one.higher_is_better)
            for one in source.results
            if one.key not in values.values
        }
    name = name or (Path(source).stem if isinstance(source, (str, Path)) else role)
    users, own = _digests([(values.users, values.values)])
    known = (*values.values, *totals)
    return Side(name, (values,), known, totals, test_sha256=users, sha256=own, definitions=definitions)


def _of_runs(runs: Sequence[JobOutcome], role: str, name: str, keys: Sequence[str] | None) -> Side:
    found = all_series(runs)
    if len(found) != 1:
        names = listed(run_names(found)) if found else "none"
        raise ConfigError(f"{role}: expected one run, or seeds and folds of one model, got {names}.")
    (series,) = found
    records = records_of(series)
    stored = [{*user_columns(job.folder)} for job in series.jobs]
    of_rows = [{*pooled_keys(job.folder, job.record)} for job in series.jobs if job.record is not None]
    common = [
        entry.key
        for entry in records[0].results
        if all(entry.key in one | other for one, other in zip(stored, of_rows, strict=True))
    ]
    wanted = [key for key in common if keys is None or key in keys]
    totals = {
        entry.key: (mean, entry.higher_is_better)
        for entry in records[0].results
        if entry.key not in common and (mean := series.mean(entry.key)) is not None
    }
    tests = dict.fromkeys(record.split.test.sha256 for record in records)
    return Side(
        name or records[0].names["model"],
        tuple(series_values(series, [series], wanted)),
        (*common, *totals),
        totals,
        cost_of(series),
        _digest(tests) if len(tests) > 1 else next(iter(tests)),
        _digest(record.fingerprint() for record in records),
        series,
    )


def stored_side(source: str, role: str, keys: Sequence[str]) -> Side:
    """Return one side of a check whose values are in Parquet and read some users at a time."""
    known = StoredValues.of([source], option=role)
    if len(known.runs) > 1:
        raise ConfigError(
            f"{role}: expected one run, {source} holds {listed(known.runs)}. Name the folder or file of one."
        )
    values = replace(known, metrics={key: known.metrics[key] for key in keys if key in known.metrics})
    parts = (
        (part.users, dict(zip(part.metrics, part.values[:, 0], strict=True)))
        for part in values
        if part.metrics
    )
    users, own = _digests(parts)
    run = known.runs[0]
    return Side(run, (), (*known.metrics,), test_sha256=users, sha256=own, stored=values)


def _digests(parts: Iterable[tuple[IdArray, Mapping[str, DoubleArray]]]) -> tuple[str, str]:
    """Return digests of the users, and of their values, whatever the order of users and parts."""
    import pyarrow as pa

    n, of_users, of_values = 0, np.zeros(2, np.uint64), np.zeros(1, np.uint64)
    for users, values in parts:
        words = hash_ids(pa.chunked_array([to_arrow(users)]), as_text=True)
        n += len(words)
        of_users += np.array([words.sum(), mix(words).sum()])
        for key in sorted(values):
            bits = np.where(np.isnan(values[key]), np.nan, values[key] + 0.0).view(np.uint64)
            of_values += mix(
                mix(words ^ bits) + np.uint64(int(sha256(key.encode()).hexdigest()[:15], 16))
            ).sum()
    digest = _digest([str(n), *map(str, of_users.tolist())])
    return digest, _digest([digest, str(of_values[0])])


def _digest(parts: Any) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()
