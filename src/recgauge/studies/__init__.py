"""Studies: how the runs of an experiment become a result, such as a table of published and own numbers.

A study turns finished runs into rows of text; the table, text and figures of the experiment's page are made
from those rows alone, so a committed page can be checked against the committed rows. Knows neither Hydra nor
MLflow.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from recgauge.runs.outcome import JobOutcome
from recgauge.studies.files import Row as Row
from recgauge.studies.files import without_details

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Study(ABC):
    """Concludes an experiment."""

    needs_runs: ClassVar[bool] = True
    """False: everything the study needs is in its own folder; no model is trained."""
    artifacts: ClassVar[tuple[str, ...]] = ()
    """Names of files that every run must have stored, in addition to its record."""
    name: str
    """Name of the experiment and of its folder."""

    def check(self, source: Path) -> None:  # noqa: B027 - most studies have inputs, none must
        """Read what the study needs from its folder, so that mistakes show before any work is done.

        Raises
        ------
        RecgaugeError
            If a file is missing or wrong.
        """

    @abstractmethod
    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:
        """Return the rows of results.csv, always in the same order.

        Parameters
        ----------
        runs : sequence of JobOutcome
            In the order of the jobs.
        source : Path
            The experiment's folder as it was published, with its inputs.
        """

    @abstractmethod
    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the text between the markers of the experiment's README, made from the rows alone."""

    def summary(self, rows: Sequence[Row]) -> str:
        """Return what the terminal shows, as Markdown; by default `markdown` without what it folds away."""
        return without_details(self.markdown(rows))

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":  # noqa: ARG002 - contract
        """Return ``{file name without ending: figure}``, made from the rows alone; none by default."""
        return {}
