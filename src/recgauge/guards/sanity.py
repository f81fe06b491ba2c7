"""Guards of sanity rows: a model below chance, or above what can be reached."""

import math

from recgauge.evaluation.results import Evaluation
from recgauge.evaluation.sanity import SanityRows
from recgauge.guards.result import GuardResult

SURE = 3.0
"""Standard errors that a value must lie apart to be called so: one run in a thousand by chance."""


def check_sanity(evaluation: Evaluation, rows: SanityRows) -> list[GuardResult]:
    """Compare a model's values with chance and with the best that can be reached.

    Parameters
    ----------
    evaluation : Evaluation
        Of the model.
    rows : SanityRows
    """
    below, above = [], []
    for entry in evaluation.results:
        if entry.key not in rows.oracle:
            continue  # only metrics of relevance have a best value that is known
        chance, stderr = rows.chance.get(entry.key), rows.chance_stderr.get(entry.key, 0.0)
        noise = SURE * math.hypot(entry.stderr or 0.0, stderr)
        if chance is not None and entry.value < chance - noise:
            below.append(entry.key)
        if entry.value > rows.oracle[entry.key] + 1e-9:
            above.append(entry.key)
    return [
        _result("below_chance", below, "below chance", "scores may be upside down, or the model untrained"),
        _result(
            "above_oracle", above, "above the best reachable", "the metric's definition has no such bound"
        ),
    ]


def _result(name: str, keys: list[str], where: str, reason: str) -> GuardResult:
    if not keys:
        return GuardResult(name, 0.0, "note", f"No metric is {where}.")
    shown = ", ".join(keys[:4]) + (f" and {len(keys) - 4} more" if len(keys) > 4 else "")
    return GuardResult(
        name,
        float(len(keys)),
        "warning",
        f"{shown}: {where}; {reason}: look at the lists before the numbers.",
    )
