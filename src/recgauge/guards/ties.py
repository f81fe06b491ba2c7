"""Guard of equal scores: lists that end by item code and not by the model."""

from recgauge.evaluation.results import Evaluation
from recgauge.evaluation.tied import Ties
from recgauge.guards.result import GuardResult
from recgauge.judging.policies import Policies

MANY_TIED = 0.03
HEADLINES = ("hit_rate", "ndcg", "recall", "precision")


def check_ties(ties: Ties, evaluation: Evaluation, policies: Policies) -> GuardResult:
    """Say whose lists are cut inside a group of equal scores, and what that does to the numbers.

    Parameters
    ----------
    ties : Ties
    evaluation : Evaluation
        Of the run.
    policies : Policies
        Of the run; equal scores in random order are fair, and so a note.
    """
    where = ", ".join(f"{share:.1%} (@{k})" for k, share in ties.shares.items())
    found = f"For {where} of evaluated users the cutoff falls inside a group of equal scores"
    if max(ties.shares.values(), default=0.0) < MANY_TIED:
        return GuardResult("ties_at_cutoff", ties.largest, "note", f"{found}.")
    if policies.ties in ("random", "expected"):
        message = f"{found}; their order counts as random (ties={policies.ties})."
        return GuardResult("ties_at_cutoff", ties.largest, "note", message)
    beside = _beside(ties, evaluation)
    message = f"{found}, so that item codes choose, which often follow popularity{beside}; use ties=expected."
    return GuardResult("ties_at_cutoff", ties.largest, "warning", message)


def _beside(ties: Ties, evaluation: Evaluation) -> str:
    """Return the run's values of up to two metrics at the largest cutoff, each beside the expected one."""
    entries = [entry for entry in evaluation.results if entry.key in ties.expected]
    at_end = [entry for entry in entries if entry.k == max(ties.shares)]
    order = sorted(at_end, key=lambda e: HEADLINES.index(e.name) if e.name in HEADLINES else len(HEADLINES))
    pairs = [
        f"{entry.name}@{entry.k} is {entry.value:.4f}, {ties.expected[entry.key]:.4f} expected"
        for entry in order[:2]
    ]
    return f": {'; '.join(pairs)} if ties were broken at random" if pairs else ""
