"""How near a number comes to a published one, in five words."""

from collections import Counter
from collections.abc import Iterable

from recgauge.errors import ConfigError

REPRODUCED = "reproduced"
CLOSE = "close"
NOT_REPRODUCED = "not reproduced"
UNKNOWN = "protocol unknown"
OPEN = "open"
VERDICTS = (REPRODUCED, CLOSE, NOT_REPRODUCED, UNKNOWN, OPEN)
MEANINGS = {
    REPRODUCED: "differs by at most the tolerance",
    CLOSE: "differs by at most three tolerances",
    NOT_REPRODUCED: "differs by more, although the protocol is fully stated",
    UNKNOWN: "differs by more, and the source leaves open what the number depends on",
    OPEN: "no number yet, for the reason given",
}
CLOSE_TOLERANCES = 3
_ROUNDING = 1e-12  # of the subtraction, relative; a difference of exactly the tolerance still counts


def verdict(ours: float, published: float, tolerance: float, *, protocol_known: bool = True) -> str:
    """Return the word for a pair of numbers.

    Parameters
    ----------
    ours, published : float
    tolerance : float
        Largest difference that still reproduces; positive.
    protocol_known : bool
        Whether the source states everything that the number depends on. If not, a number that differs
        convicts nobody; one that agrees counts as it would otherwise.

    Returns
    -------
    str
        One of `VERDICTS` but "open".

    Raises
    ------
    ConfigError
        If the tolerance is not positive.

    Examples
    --------
    >>> verdict(0.9443, 0.944, 0.001), verdict(0.946, 0.944, 0.001), verdict(0.95, 0.944, 0.001)
    ('reproduced', 'close', 'not reproduced')
    >>> verdict(0.95, 0.944, 0.001, protocol_known=False)
    'protocol unknown'
    """
    if not tolerance > 0:
        raise ConfigError(f"verdict: tolerance must be positive, got {tolerance!r}.")
    rounding = _ROUNDING * max(1.0, abs(published))
    difference = abs(ours - published)
    if difference <= tolerance + rounding:
        return REPRODUCED
    if difference <= CLOSE_TOLERANCES * tolerance + rounding:
        return CLOSE
    return NOT_REPRODUCED if protocol_known else UNKNOWN


def tally(verdicts: Iterable[str]) -> str:
    """Return how often each verdict was given, as a phrase.

    Examples
    --------
    >>> tally(["open", "reproduced", "reproduced"])
    '2 reproduced, 1 open'
    """
    counted = Counter(verdicts)
    return ", ".join(f"{counted[word]} {word}" for word in VERDICTS if counted[word])
