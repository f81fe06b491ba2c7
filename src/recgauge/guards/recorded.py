"""Guards of recorded lists: what is odd about them."""

from recgauge.guards import GuardResult
from recgauge.models.recorded import STRICT, Recorded
from recgauge.recorded.findings import describe


def check_recorded(model: object) -> tuple[GuardResult, ...]:
    """Report what is odd about recorded lists: a warning for what stops a run unless it is kept."""
    if not isinstance(model, Recorded):
        return ()
    return tuple(
        GuardResult(f"lists_{one.name}", one.count, "warning" if one.name in STRICT else "note", f"{line}.")
        for one, line in zip(model.found, describe(model.found), strict=True)
    )
