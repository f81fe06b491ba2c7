"""Stages of a run: how they report progress, and how long each takes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recgauge.utils.compiled import Notice

Advance = Callable[[int], None]


class Progress:
    """Receives the stages of a run, the steps inside them and notes for the user; this one says nothing."""

    def stage(self, name: str) -> AbstractContextManager[None]:  # noqa: ARG002 - contract
        """Open a stage, such as ``fit``."""
        return nullcontext()

    def step(self, name: str, total: int | None, unit: str) -> AbstractContextManager[Advance]:  # noqa: ARG002
        """Open a step of `total` units (None: unknown); the callable tells how many more are done."""
        return nullcontext(lambda _done: None)

    def note(self, text: str) -> None:
        """Say one line that the user should see."""


class Timings:
    """Measures stages and tells `progress` which one is running.

    Examples
    --------
    >>> timings = Timings(Progress())
    >>> with timings.stage("fit"):
    ...     pass
    >>> list(timings.seconds)
    ['fit']
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._notice: Notice | None = None
        self.seconds: dict[str, float] = {}
        self.data = ""
        """What the work is about, such as "1,000 rows", for the message if memory runs out."""

    @contextmanager
    def stage(self, name: str) -> Iterator[Progress]:
        """Measure what happens inside; the time counts even if it fails."""
        start, timer = perf_counter(), None
        try:
            with self._compile_timer() as timer, self._progress.stage(name):
                yield self._progress
        except MemoryError as error:
            error.add_note(f"in the stage {name}" + (f", with {self.data}" if self.data else ""))
            raise
        finally:
            compiling = timer.duration if timer and timer.done else 0.0
            spent = {name: perf_counter() - start - compiling} | ({"compile": compiling} if compiling else {})
            self.seconds |= {stage: self.seconds.get(stage, 0.0) + more for stage, more in spent.items()}

    def _compile_timer(self) -> AbstractContextManager[Any]:
        if self._notice is None:
            return nullcontext()
        from recgauge.utils.compiled import compile_timer

        return compile_timer(self._notice)

    def time_compiling_apart(self) -> None:
        """Count what numba compiles or loads during later stages as the stage ``compile``, not as theirs."""
        with self.stage("compile") as reporter:
            from recgauge.utils.compiled import Notice  # imports numba, which takes half a second

            note = "compiling evaluation code for this machine, kept for later runs"
            self._notice = Notice(lambda: reporter.note(note))

    def measured_elsewhere(self, seconds: Mapping[str, float]) -> None:
        """Take the time of stages from another process; what they took more here is the stage ``exchange``.

        Examples
        --------
        >>> timings = Timings(Progress())
        >>> timings.seconds["fit"] = 5.0
        >>> timings.measured_elsewhere({"fit": 4.0, "recommend": 1.0})
        >>> timings.seconds
        {'fit': 4.0, 'exchange': 1.0}
        """
        shared = {name: inside for name, inside in seconds.items() if name in self.seconds}
        exchange = sum(self.seconds[name] - inside for name, inside in shared.items())
        self.seconds |= shared | {"exchange": exchange}
