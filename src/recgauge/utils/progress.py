"""How long stages tell whoever waits how far they are; the core only knows this contract."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int], None]


class Progress(Protocol):
    """Receives the stages of a run, the steps inside them and notes for the user."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Open a stage, such as ``fit``."""
        ...

    def step(self, name: str, total: int | None, unit: str) -> AbstractContextManager[Advance]:
        """Open a step of `total` units (None: unknown); the callable tells how many more are done."""
        ...

    def note(self, text: str) -> None:
        """Say one line that the user should see."""
        ...


class NoProgress:
    """Says nothing."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:  # noqa: ARG002 - contract
        """Open a stage that nobody watches."""
        yield

    @contextmanager
    def step(self, name: str, total: int | None, unit: str) -> Iterator[Advance]:  # noqa: ARG002 - contract
        """Open a step that nobody watches."""
        yield lambda _done: None

    def note(self, text: str) -> None:
        """Drop the line."""
