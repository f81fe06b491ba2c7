"""Guards of lists: candidates, the choice of settings, equal scores, chance and the best, odd files."""

import math

import numpy as np

from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.data.relevance import Relevant
from recgauge.data.top_k import TopK
from recgauge.evaluation import Evaluation, MetricResult, Ties
from recgauge.evaluation.ranking_task import SanityRows
from recgauge.guards import GuardResult, GuardSettings, by_share
from recgauge.judging import Policies
from recgauge.models.recorded import STRICT, Recorded
from recgauge.recorded.findings import describe
from recgauge.utils.checks import BoolArray, LongArray

MANY_UNREACHABLE = 0.1
MANY_SHORT = 0.5
MANY_ALIKE = 0.5
MANY_TIED = 0.03
HEADLINES = ("hit_rate", "ndcg", "recall", "precision")
SURE = 3.0
"""Standard errors between values that are called different: one run in a thousand by chance."""


def check_candidates(
    chosen: CandidateItems, relevant: Relevant, *, n_users: int, n_items: int, top_k: int
) -> list[GuardResult]:
    """Look at candidates before lists are made from them."""
    owner = np.repeat(relevant.users, np.diff(relevant.start)).astype(np.int32)
    held = chosen.holds(owner, relevant.items)
    counts = chosen.counts(n_users, n_items)[relevant.users]
    unreachable = float((~held).mean())
    few = float((counts <= top_k).mean())
    alike = float(_all_alike(relevant, held, counts).mean())
    remedy = "choose other candidates, or say what is relevant (dataset.relevant_from)."
    results = [
        by_share(
            "unreachable_items",
            unreachable,
            f"{unreachable:.1%} of relevant test rows are of items that are no candidates of their user",
            [
                (1.0, "error", ": every list misses everything; check candidates against the split."),
                (
                    MANY_UNREACHABLE,
                    "warning",
                    ", so no model can find them; check candidates against the split.",
                ),
            ],
        ),
        by_share(
            "few_candidates",
            few,
            f"{few:.1%} of evaluated users have no more than {top_k} candidates, so that any order finds "
            f"everything at @{top_k}",
            [(MANY_SHORT, "warning", "; lower cutoffs say more.")],
        ),
        by_share(
            "nothing_to_order",
            alike,
            f"{alike:.1%} of evaluated users have only candidates that are equally relevant",
            [
                (1.0, "error", f": any list is perfect, whatever the model; {remedy}"),
                (MANY_ALIKE, "warning", f", so that any list of theirs is perfect; {remedy}"),
            ],
        ),
    ]
    if chosen.notes:
        n_notes = float(len(chosen.notes))
        message = "; ".join(chosen.notes) + ": see whether the candidates are those you mean."
        results.append(GuardResult("candidates", n_notes, "warning", message))
    return results


def check_lengths(lists: TopK, chosen: CandidateItems, test: Interactions) -> GuardResult:
    """Count lists that end although their user has more candidates, of models that give lists."""
    possible = np.minimum(chosen.counts(test.n_users, test.n_items)[lists.users], lists.items.shape[1])
    short, none = lists.lengths < possible, lists.lengths == 0
    found = f"{short.sum():,} of {len(short):,} lists end before the largest cutoff, {none.sum():,} are empty"
    if not short.any():
        return GuardResult("short_lists", 0.0, "note", f"{found}.")
    message = f"{found}: what made them knows no more items for these users. Empty places count as misses."
    return GuardResult("short_lists", float(short.mean()), "warning", message)


def _all_alike(relevant: Relevant, held: BoolArray, counts: LongArray) -> BoolArray:
    """Return which users have only candidates that are relevant to the same degree, shape (m,)."""
    row = np.repeat(np.arange(len(counts)), np.diff(relevant.start))
    n_held = np.bincount(row[held], minlength=len(counts))
    if not (n_held == counts).any():
        return np.zeros(len(counts), np.bool_)
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(low, row[held], relevant.gains[held])
    np.maximum.at(high, row[held], relevant.gains[held])
    alike: BoolArray = (counts > 0) & (n_held == counts) & (low == high)
    return alike


def check_selection(settings: GuardSettings) -> GuardResult:
    """Say whether the run's settings were chosen by test numbers."""
    if settings.selected_on == "test":
        message = (
            "The run's settings were chosen by test numbers, so these are too good; choose by validation "
            "rows (split.validation_size=0.1 evaluate_on=validation, or tune=tpe) and report other test rows."
        )
        return GuardResult("selection_on_test", 1.0, "warning", message)
    said = (
        f"chosen by {settings.selected_on} numbers"
        if settings.selected_on
        else "not said to be chosen by any"
    )
    return GuardResult("selection_on_test", 0.0, "note", f"The run's settings were {said}.")


def check_ties(ties: Ties, evaluation: Evaluation, policies: Policies) -> GuardResult:
    """Say whose lists are cut inside a group of equal scores, and what that does to the numbers."""
    where = ", ".join(f"{share:.1%} (@{k})" for k, share in ties.shares.items())
    found = f"For {where} of evaluated users the cutoff falls inside a group of equal scores"
    if ties.expected and not _changed(ties, evaluation):
        message = f"{found}, which changes no number in its first four places."
        return GuardResult("ties_at_cutoff", ties.largest, "note", message)
    if max(ties.shares.values(), default=0.0) < MANY_TIED:
        return GuardResult("ties_at_cutoff", ties.largest, "note", f"{found}.")
    if policies.ties in ("random", "expected"):
        message = f"{found}; their order counts as random (ties={policies.ties})."
        return GuardResult("ties_at_cutoff", ties.largest, "note", message)
    beside = _beside(ties, evaluation)
    message = f"{found}, so that item codes choose, which often follow popularity{beside}; use ties=expected."
    return GuardResult("ties_at_cutoff", ties.largest, "warning", message)


def _changed(ties: Ties, evaluation: Evaluation) -> list[MetricResult]:
    """Return the numbers that ties broken at random would change in their four printed places."""
    return [
        entry
        for entry in evaluation.results
        if entry.key in ties.expected and f"{entry.value:.4f}" != f"{ties.expected[entry.key]:.4f}"
    ]


def _beside(ties: Ties, evaluation: Evaluation) -> str:
    """Return two numbers that differ as printed, of the largest cutoff, each next to the expected one."""
    changed = _changed(ties, evaluation)
    largest = max((entry.k or 0 for entry in changed), default=0)
    at_end = [entry for entry in changed if (entry.k or 0) == largest]
    order = sorted(at_end, key=lambda e: HEADLINES.index(e.name) if e.name in HEADLINES else len(HEADLINES))
    pairs = [
        f"{entry.name}@{entry.k} is {entry.value:.4f}, {ties.expected[entry.key]:.4f} expected"
        for entry in order[:2]
    ]
    return f": {'; '.join(pairs)} if ties were broken at random" if pairs else ""


def check_sanity(evaluation: Evaluation, rows: SanityRows) -> list[GuardResult]:
    """Compare a model's values with chance and with the best that can be reached."""
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
        _from_keys(
            "below_chance", below, "below chance", "scores may be upside down, or the model untrained"
        ),
        _from_keys(
            "above_oracle", above, "above the best reachable", "the metric's definition has no such bound"
        ),
    ]


def _from_keys(name: str, keys: list[str], where: str, reason: str) -> GuardResult:
    if not keys:
        return GuardResult(name, 0.0, "note", f"No metric is {where}.")
    shown = ", ".join(keys[:4]) + (f" and {len(keys) - 4} more" if len(keys) > 4 else "")
    return GuardResult(
        name,
        float(len(keys)),
        "warning",
        f"{shown}: {where}; {reason}: look at the lists before the numbers.",
    )


def check_recorded(model: object) -> tuple[GuardResult, ...]:
    """Report what is odd about recorded lists: a warning for what stops a run unless it is kept."""
    if not isinstance(model, Recorded):
        return ()
    return tuple(
        GuardResult(f"lists_{one.name}", one.count, "warning" if one.name in STRICT else "note", f"{line}.")
        for one, line in zip(model.found, describe(model.found), strict=True)
    )
