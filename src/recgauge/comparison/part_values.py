"""Users' values of runs that were judged in parts, the users of one part at a time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recgauge.comparison.user_values import UserValues
from recgauge.data.ids import as_ids
from recgauge.runs.finished import RunValues
from recgauge.utils.arrow import to_numpy


@dataclass(frozen=True, eq=False)
class PartValues:
    """The values of runs whose parts have the same users: iterating yields a `UserValues` for each part.

    Parameters
    ----------
    files : mapping of str to sequence of pathlib.Path
        Parquet with the values of each part's users, by run.
    metrics : mapping of str to bool
        Whether more is better, by key.
    """

    files: Mapping[str, Sequence[Path]]
    metrics: Mapping[str, bool]

    def __iter__(self) -> Iterator[UserValues]:
        """Yield the values of each part's users."""
        for of_part in zip(*self.files.values(), strict=True):
            runs = {run: self._read(file) for run, file in zip(self.files, of_part, strict=True)}
            yield UserValues.paired(runs, self.metrics)

    def _read(self, file: Path) -> RunValues:
        from pyarrow import parquet

        table = parquet.read_table(file, columns=["user", *self.metrics])
        users = as_ids(str(file), to_numpy(table.column("user")))
        return RunValues(users, {key: to_numpy(table.column(key)) for key in self.metrics}, from_file=True)
