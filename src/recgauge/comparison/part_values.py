"""Users' values of runs that were judged in parts, the users of one part at a time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recgauge.comparison.user_values import UserValues
from recgauge.evaluation.parts import Part
from recgauge.evaluation.recorded_parts import stored_parts
from recgauge.runs.finished import RunValues


@dataclass(frozen=True, eq=False)
class PartValues:
    """The values of runs whose parts have the same users: iterating yields a `UserValues` for each part.

    Parameters
    ----------
    files : mapping of str to sequence of pathlib.Path
        Judged parts with the values of their users, by run.
    metrics : mapping of str to bool
        Whether more is better, by key.
    """

    files: Mapping[str, Sequence[Path]]
    metrics: Mapping[str, bool]

    def __iter__(self) -> Iterator[UserValues]:
        """Yield the values of each part's users."""
        for parts in zip(*map(stored_parts, self.files.values()), strict=True):
            runs = dict(zip(self.files, map(self._values, parts), strict=True))
            yield UserValues.paired(runs, self.metrics)

    def _values(self, part: Part) -> RunValues:
        values = part.values[0]
        return RunValues(values["user"], {key: values[key] for key in self.metrics}, from_file=True)
