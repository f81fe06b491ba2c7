"""What differs between a stored run and its repetition: rows, lists, numbers, versions, kernels."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

from recgauge.runs.record import RunRecord
from recgauge.runs.settings import flat_settings

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SHOWN = 12
"""Characters of a digest that are shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact, number or file of a run that is not as stored."""

    subject: str  # such as ``ndcg_at_10``, ``train rows``, ``recommendations.parquet``
    stored: str  # what the stored run has, and the repeated one
    repeated: str
    size: float = inf  # largest difference of numbers; inf where something else differs


def differing_rows(stored: RunRecord, repeated: RunRecord) -> list[Difference]:
    """Return which rows are not those of the stored run: data set, parts of the split, candidates."""
    pairs = {"data": (stored.dataset.sha256, repeated.dataset.sha256)}
    parts = stored.split.parts, repeated.split.parts
    for name in dict.fromkeys(name for part in parts for name in part):
        digests = [part[name].sha256 if name in part else "none" for part in parts]
        pairs[f"{name} rows"] = (digests[0], digests[1])
    pairs["candidates"] = (stored.candidates_sha256, repeated.candidates_sha256)
    return [
        Difference(name, f"sha256 {then[:SHOWN]}", f"sha256 {now[:SHOWN]}")
        for name, (then, now) in pairs.items()
        if then != now
    ]


def differing_values(stored: RunRecord, repeated: RunRecord) -> list[Difference]:
    """Return which numbers are not those of the stored run, the largest difference first.

    Results, their definitions, standard errors, counts, the sanity rows and what was seen after each epoch
    are compared; times and memory are not.
    """
    then, now = _numbers(stored), _numbers(repeated)
    different = [
        Difference(f"definition of {entry.key}", entry.definition, other.definition)
        for entry in stored.results
        if (other := repeated.result(entry.key)) is not None and other.definition != entry.definition
    ]
    for name in dict.fromkeys([*then, *now]):
        size = _distance(then.get(name, inf), now.get(name, inf))
        if size:
            texts = [f"{values[name]:.10g}" if name in values else "not computed" for values in (then, now)]
            different.append(Difference(name, texts[0], texts[1], size))
    return sorted(different, key=lambda number: -number.size)


def _numbers(record: RunRecord) -> dict[str, float]:
    numbers = record.values()
    numbers |= {
        f"stderr of {entry.key}": entry.stderr for entry in record.results if entry.stderr is not None
    }
    numbers |= {name: float(count) for name, count in record.counts.items()}
    if record.sanity is not None:
        numbers |= {f"chance {key}": value for key, value in record.sanity.chance.items()}
        numbers |= {f"best {key}": value for key, value in record.sanity.oracle.items()}
    for point in record.learned:
        numbers[f"loss of epoch {point.epoch}"] = point.loss
        if point.value is not None:
            numbers[f"{point.metric} of epoch {point.epoch}"] = point.value
    return numbers


def _distance(then: float, now: float) -> float:
    """Return the difference of two numbers: 0 if both are NaN or the same infinity, inf if one is."""
    if then == now or (isnan(then) and isnan(now)):
        return 0.0
    distance = abs(then - now)
    return inf if isnan(distance) else distance


def differing_table(file: str, then: "pa.Table", now: "pa.Table") -> Difference | None:
    """Return how the rows of a run's table differ from those of its repetition, None if they are equal."""
    if then.column_names != now.column_names or len(then) != len(now):
        texts = [f"{len(table):,} rows of {', '.join(table.column_names)}" for table in (then, now)]
        return Difference(file, texts[0], texts[1])
    before, after = then.to_pandas(), now.to_pandas()
    differing = before.compare(after)
    if differing.empty:
        return None
    columns, first = differing.columns.unique(level=0), differing.index[0]
    texts = [
        ", ".join(f"{name} {cell}" for name, cell in table.loc[first].items()) for table in (before, after)
    ]
    size = max(_size(before[name], after[name]) for name in columns)
    return Difference(f"{file} ({len(differing):,} of {len(then):,} rows)", texts[0], texts[1], size)


def _size(then: "pd.Series", now: "pd.Series") -> float:
    """Return the largest difference of a column, inf if it does not hold numbers with fractions."""
    if then.dtype.kind != "f" or now.dtype.kind != "f":
        return inf
    size = float((then - now)[then.notna() | now.notna()].abs().max(skipna=False))
    return inf if isnan(size) else size


def differing_surroundings(stored: Mapping[str, Any], repeated: Mapping[str, Any]) -> list[Difference]:
    """Return in what the code, libraries and machine of a run differ from those of its repetition."""
    then, now = (flat_settings(facts) for facts in (stored, repeated))
    return [
        Difference(name.removeprefix("packages."), _text(then.get(name)), _text(now.get(name)), nan)
        for name in dict.fromkeys([*then, *now])
        if then.get(name) != now.get(name)
    ]


def _text(fact: Any) -> str:
    return "not recorded" if fact is None else str(fact)
