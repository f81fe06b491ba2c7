"""Wall-clock seconds of the stages of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from recgauge.utils.progress import Progress


class Timings:
    """Measures stages and tells `progress` which one is running.

    Examples
    --------
    >>> from recgauge.utils.progress import NoProgress
    >>> timings = Timings(NoProgress())
    >>> with timings.stage("fit"):
    ...     pass
    >>> list(timings.seconds)
    ['fit']
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[Progress]:
        """Measure what happens inside; the time counts even if it fails."""
        start = perf_counter()
        try:
            with self._progress.stage(name):
                yield self._progress
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start
