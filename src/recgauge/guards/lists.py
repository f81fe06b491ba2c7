"""Guards of lists: what candidates leave to be found, and how the settings were chosen."""

import numpy as np

from recgauge.candidates import CandidateItems
from recgauge.data.relevance import Relevant
from recgauge.guards.result import GuardResult, GuardSettings
from recgauge.utils.checks import BoolArray, LongArray

MANY_UNREACHABLE = 0.1
MANY_SHORT = 0.5
MANY_ALIKE = 0.5


def check_candidates(
    chosen: CandidateItems, relevant: Relevant, *, n_users: int, n_items: int, top_k: int
) -> list[GuardResult]:
    """Look at candidates before lists are made from them.

    Parameters
    ----------
    chosen : CandidateItems
    relevant : Relevant
    n_users, n_items : int
        Numbers of codes.
    top_k : int
        Length of the lists.
    """
    owner = np.repeat(relevant.users, np.diff(relevant.start)).astype(np.int32)
    held = chosen.holds(owner, relevant.items)
    results = [_unreachable(float((~held).mean()))]
    counts = chosen.counts(n_users, n_items)[relevant.users]
    results.append(_few_candidates(float((counts <= top_k).mean()), top_k))
    results.append(_nothing_to_order(float(_all_alike(relevant, held, counts).mean())))
    if chosen.notes:
        n_notes = float(len(chosen.notes))
        message = "; ".join(chosen.notes) + ": see whether the candidates are those you mean."
        results.append(GuardResult("candidates", n_notes, "warning", message))
    return results


def _unreachable(share: float) -> GuardResult:
    found = f"{share:.1%} of relevant test rows are of items that are no candidates of their user"
    remedy = "check candidates against the split."
    if share == 1.0:
        message = f"{found}: every list misses everything; {remedy}"
        return GuardResult("unreachable_items", share, "error", message)
    if share >= MANY_UNREACHABLE:
        message = f"{found}, so no model can find them; {remedy}"
        return GuardResult("unreachable_items", share, "warning", message)
    return GuardResult("unreachable_items", share, "note", f"{found}.")


def _few_candidates(share: float, top_k: int) -> GuardResult:
    found = (
        f"{share:.1%} of evaluated users have no more than {top_k} candidates, so that any order finds "
        f"everything at @{top_k}"
    )
    if share >= MANY_SHORT:
        message = f"{found}; lower cutoffs say more."
        return GuardResult("few_candidates", share, "warning", message)
    return GuardResult("few_candidates", share, "note", f"{found}.")


def _all_alike(relevant: Relevant, held: BoolArray, counts: LongArray) -> BoolArray:
    """Return which users have only candidates that are relevant to the same degree, shape (m,)."""
    row = np.repeat(np.arange(len(counts)), np.diff(relevant.start))
    n_held = np.bincount(row[held], minlength=len(counts))
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(low, row[held], relevant.gains[held])
    np.maximum.at(high, row[held], relevant.gains[held])
    alike: BoolArray = (counts > 0) & (n_held == counts) & (low == high)
    return alike


def _nothing_to_order(share: float) -> GuardResult:
    found = f"{share:.1%} of evaluated users have only candidates that are equally relevant"
    remedy = "choose other candidates, or say what is relevant (dataset.relevant_from)."
    if share == 1.0:
        message = f"{found}: any list is perfect, whatever the model; {remedy}"
        return GuardResult("nothing_to_order", share, "error", message)
    if share >= MANY_ALIKE:
        message = f"{found}, so that any list of theirs is perfect; {remedy}"
        return GuardResult("nothing_to_order", share, "warning", message)
    return GuardResult("nothing_to_order", share, "note", f"{found}.")


def check_selection(settings: GuardSettings) -> GuardResult:
    """Say whether the run's settings were chosen by test numbers."""
    if settings.selected_on == "test":
        message = (
            "The run's settings were chosen by test numbers, so these are too good; choose by validation "
            "rows (split.validation_size) and report other test rows."
        )
        return GuardResult("selection_on_test", 1.0, "warning", message)
    said = (
        f"chosen by {settings.selected_on} numbers"
        if settings.selected_on
        else "not said to be chosen by any"
    )
    return GuardResult("selection_on_test", 0.0, "note", f"The run's settings were {said}.")
