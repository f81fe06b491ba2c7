"""Guards: what could make a run's numbers mean less than they seem to, checked and reported on every run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recgauge.errors import GuardError
from recgauge.utils.checks import check_choice

Level = Literal["note", "warning", "error"]
STOPPING = (
    "overlap",
    "train_after_test",
    "unknown_items",
    "coverage",
    "unreachable_items",
    "nothing_to_order",
)
"""Guards that can stop a run, and so can be overridden."""


@dataclass(frozen=True, slots=True)
class GuardResult:
    """One thing that was looked at."""

    name: str  # fixed, such as ``train_after_test``
    value: float  # a share in [0, 1] or a count, as the message says
    # a note is as it should be or is expected; an error makes numbers meaningless and stops the run
    level: Level
    message: str  # one sentence with what was found and, from a warning on, the remedy
    overridden: bool = False  # whether the user lets the run go on despite the error

    @property
    def fired(self) -> bool:
        """Whether the user must see it: a warning or an error."""
        return self.level != "note"


def by_share(
    name: str, share: float, finding: str, limits: Sequence[tuple[float, Level, str]]
) -> GuardResult:
    """Return what was found, with the level and the consequence of the first limit that `share` reaches.

    Examples
    --------
    >>> limits = [(1.0, "error", ": nothing is left."), (0.1, "warning", ", which is much.")]
    >>> by_share("made", 0.25, "25 % are missing", limits).message
    '25 % are missing, which is much.'
    >>> by_share("made", 0.05, "5 % are missing", limits).level
    'note'
    """
    for least, level, consequence in limits:
        if share >= least:
            return GuardResult(name, share, level, finding + consequence)
    return GuardResult(name, share, "note", f"{finding}.")


@dataclass(frozen=True)
class GuardSettings:
    """What the user says about guards.

    Parameters
    ----------
    override : tuple of str
        Guards that may not stop the run; the run says which of them fired.
    selected_on : {"test", "validation"} or None
        What the model's settings were chosen by, if they were; ``test`` marks the run.

    Raises
    ------
    ConfigError
        If a name is unknown or belongs to a guard that stops no run.

    Examples
    --------
    >>> GuardSettings(override=("overlap",)).override
    ('overlap',)
    """

    override: tuple[str, ...] = ()
    selected_on: str | None = None

    def __post_init__(self) -> None:
        for name in self.override:
            check_choice("guards.override: each name", name, STOPPING)
        if self.selected_on is not None:
            check_choice("guards.selected_on", self.selected_on, ("test", "validation"))


def enforce(results: Iterable[GuardResult], settings: GuardSettings) -> tuple[GuardResult, ...]:
    """Stop the run at errors that are not overridden."""
    checked = tuple(
        replace(result, overridden=result.level == "error" and result.name in settings.override)
        for result in results
    )
    stopping = [result for result in checked if result.level == "error" and not result.overridden]
    if stopping:
        reasons = " ".join(f"{result.name}: {result.message}" for result in stopping)
        names = ",".join((*settings.override, *(result.name for result in stopping)))
        raise GuardError(f"Stopped by a guard. {reasons} To run nevertheless: guards.override=[{names}].")
    return checked
