"""Guards of a split, of candidates and of lists: leaks, time order, what cannot be hit, equal scores."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from recgauge.candidates import CandidateItems
from recgauge.data.coverage import FEW_EVALUATED, FEW_USERS, Coverage, Reason
from recgauge.data.interactions import Interactions, pair_codes, stored
from recgauge.data.lists import Relevant, TopK
from recgauge.data.split import Split
from recgauge.evaluation import Evaluation, MetricResult, Ties
from recgauge.evaluation.ranking_task import SanityRows
from recgauge.filters import Filter
from recgauge.guards import GuardResult, GuardSettings, Level, by_share
from recgauge.judging import Policies
from recgauge.models.recorded import STRICT, Recorded
from recgauge.recorded.direction import Reversal
from recgauge.recorded.findings import describe
from recgauge.utils.checks import BoolArray, LongArray

MANY_UNKNOWN = 0.1
MANY_NEW = 0.5
MANY_POPULAR = 0.8
MANY_SKIPPED = 0.5
MANY_TIED_ROWS = 0.1
MANY_UNREACHABLE = 0.1
MANY_SHORT = 0.5
MANY_ALIKE = 0.5
MANY_TIED = 0.03
SMALL = 0.001  # less changes the last printed digit alone
LEAST_EVALUATED = 0.1
HEADLINES = ("hit_rate", "ndcg", "recall", "precision")
SURE = 3.0
"""Standard errors between values that are called different: one run in a thousand by chance."""


def check_split(
    split: Split, relevant: Relevant, *, temporal: bool, ties: str | None = None
) -> list[GuardResult]:
    """Look at a split before anything is trained on it; guards of time are left out where rows have no time.

    `temporal`: the strategy claims that no user's training rows are later than the user's test rows. `ties`:
    its rule for rows of one user and time, None if it does not order a user's rows.
    """
    results = [_overlap(split)]
    test_time, train_time = split.test.timestamp, split.history.timestamp
    if test_time is not None and train_time is not None:
        results += _of_time(split, test_time, train_time, temporal=temporal, ties=ties)
    return [*results, *_of_items(split), _users_skipped(split, relevant)]


def _overlap(split: Split) -> GuardResult:
    test, where = split.test, dict[str, BoolArray]()
    if not split.is_apart:
        where["before the cut" if split.has_cut else "in train"] = stored(split.past, test.user, test.item)
        if split.validation is not None and not split.has_cut:
            where["in validation"] = stored(split.validation.to_csr(), test.user, test.item)
        where["in an earlier test row"] = np.ones(len(test), np.bool_)
        where["in an earlier test row"][np.unique(pair_codes(test), return_index=True)[1]] = False
    shared, counts = np.zeros(len(test), np.bool_), list[str]()
    for part, rows in where.items():  # each row counts once, so that the parts add up
        n_more = int((rows & ~shared).sum())
        counts += [f"{n_more:,} {part}"] * bool(n_more)
        shared |= rows
    n_shared = int(shared.sum())
    if not n_shared:
        message = "No test row is in another part, and none repeats another."
        return GuardResult("overlap", 0.0, "note", message)
    share, remedy = n_shared / len(test), "keep one row of each pair (filters=[duplicates])"
    if np.ptp(test.value):
        remedy = (
            "keep of each pair the last row (filters=[duplicates]) or, of weighted events, the highest value "
            "(filters=[duplicates] filters.duplicates.policy=max)"
        )
    return GuardResult(
        "overlap",
        share,
        "error",
        f"{n_shared:,} of {len(test):,} test rows ({share:.1%}) have a (user, item) pair that other rows "
        f"have ({', '.join(counts)}), so models may be tested on what they have learnt; {remedy}, "
        "or, if people return to items, let lists hold what they had "
        "(guards.override=[overlap] candidates.seen=none).",
    )


def _of_time(
    split: Split, test_time: LongArray, train_time: LongArray, *, temporal: bool, ties: str | None
) -> list[GuardResult]:
    """Look for training rows that are later than test rows, and for test items that came later."""
    train, test = split.history, split.test
    first = np.full(train.n_users, np.iinfo(np.int64).max)
    np.minimum.at(first, test.user if split.query_of is None else split.query_of[test.user], test_time)
    leaks = np.zeros(train.n_users, np.bool_)
    leaks[train.user[train_time > first[train.user]]] = True
    share = float(np.count_nonzero(leaks) / len(split.users_of(split.test_users)))
    finding = f"{share:.1%} of test users have training rows later than their first test row"
    claim = f", though split {split.name} claims to keep time order; correct the split or its times."
    hint = ", as random splits do; a temporal split would not let models see the future."
    level: Level = "error" if temporal and share else "note"
    message = finding + ("." if not share else claim if temporal else hint)
    results = [GuardResult("train_after_test", share, level, message)]

    share = float((train_time > test_time.min()).mean())
    message = f"{share:.1%} of training rows are later than the first test row of anybody."
    results.append(GuardResult("train_after_cut", share, "note", message))

    if split.sequences is not None:
        later = len(train) - np.searchsorted(np.sort(train_time), test_time, side="right")
        share = float(later.mean() / len(train))
        message = f"{share:.1%} of training rows are later than a test row, in the mean over test rows"
        if share:
            message += (
                ": models learn from what other users did later, as articles that leave the last row out do; "
            )
            message += "one cut in time, such as split=next_item, rules that out"
        results.append(GuardResult("train_after_test_row", share, "note", f"{message}."))

    first = np.full(test.n_items, np.iinfo(np.int64).max)
    for part in (split.train, split.validation, test):
        if part is not None and part.timestamp is not None:
            np.minimum.at(first, part.item, part.timestamp)
    trained, held_out = split.train.timestamp, first[test.item_counts() > 0]
    share = 0.0 if trained is None else float((held_out > trained.max()).mean())
    finding = f"{share:.1%} of test items first appear after the last training row"
    consequence = ", and most models cannot recommend them; hold out a shorter time, or use item features."
    results.append(by_share("new_test_items", share, finding, [(MANY_NEW, "warning", consequence)]))
    return results if ties is None else [*results, _ties_at_cut(split, ties)]


def _ties_at_cut(split: Split, rule: str) -> GuardResult:
    """Count users whose rows of one time are in two parts, or of whom some alone are targets."""
    if split.sequences is not None:
        n_tied, n_users = split.sequences.tied_users(split.evaluated), len(split.users_of(split.test_users))
        return _tied(n_tied, n_users, rule, "have a target that shares its time with another of their rows")
    parts = [part for part in (split.history, split.validation, split.test) if part is not None]
    timed = [(part.user, part.timestamp) for part in parts if part.timestamp is not None]
    tied = np.zeros(split.test.n_users, np.bool_)
    for (earlier, before), (later, after) in combinations(timed, 2):
        last = np.full(len(tied), np.iinfo(np.int64).min)
        np.maximum.at(last, earlier, before)
        first = np.full(len(tied), np.iinfo(np.int64).max)
        np.minimum.at(first, later, after)
        tied |= last == first
    n_users, n_tied = len(split.test_users), int(tied[split.test_users].sum())
    return _tied(n_tied, n_users, rule, "have rows of one time in two parts")


def _tied(n_tied: int, n_users: int, rule: str, predicate: str) -> GuardResult:
    share = n_tied / n_users
    finding = f"{n_tied:,} of {n_users:,} test users ({share:.1%}) {predicate}"
    consequence = f": split.ties={rule} decides which is held out; other rules may move the numbers."
    return by_share("ties_at_cut", share, finding, [(MANY_TIED_ROWS, "warning", consequence)])


def _of_items(split: Split) -> list[GuardResult]:
    """Count test rows of items that models cannot know, and of those that all know."""
    counts, tested = split.train.item_counts(), split.test.item_counts() > 0
    rated = counts > 0
    share = float((~rated[split.test.item]).mean())
    finding = (
        f"{share:.1%} of test rows, {int((tested & ~rated).sum()):,} of {int(tested.sum()):,} test items, "
        "are of items without a training row"
    )
    remedy = "hold out less, or drop rare items first (filters=[n_core])."
    limits: list[tuple[float, Level, str]] = [
        (1.0, "error", f": nothing can be hit; {remedy}"),
        (MANY_UNKNOWN, "warning", f", and most models cannot recommend those; {remedy}"),
    ]
    results = [by_share("unknown_items", share, finding, limits)]
    order = np.argsort(-counts, kind="stable")
    consequence = ", so popularity alone does well; compare with model=popularity."
    for percent in (1, 10):
        top = np.zeros(len(counts), np.bool_)
        top[order[: -(-int(rated.sum()) * percent // 100)]] = True
        share = float(top[split.test.item].mean())
        finding = f"{share:.1%} of test rows are of the {percent} % most popular training items"
        limits = [(MANY_POPULAR, "warning", consequence)] if percent == 10 else []
        results.append(by_share(f"test_on_top_{percent}_percent", share, finding, limits))
    return results


def _users_skipped(split: Split, relevant: Relevant) -> GuardResult:
    n_users, n_tested = split.history.n_users, len(split.users_of(split.test_users))
    n_evaluated = len(split.users_of(relevant.users))
    finding = (
        f"{n_evaluated:,} of {n_users:,} users have relevant test rows; {n_users - n_tested:,} have no test "
        f"row, {n_tested - n_evaluated:,} no relevant one"
    )
    share = 1.0 - n_evaluated / n_users
    if n_tested - n_evaluated >= MANY_SKIPPED * n_tested:
        message = f"{finding}: most test users say nothing; lower dataset.relevant_from or hold out more."
        return GuardResult("users_skipped", share, "warning", message)
    return GuardResult("users_skipped", share, "note", f"{finding}.")


def check_coverage(coverage: Coverage, split: Split, *, of_lists: bool = False) -> list[GuardResult]:
    """Look at how many of the users and rows that were held out the numbers are of.

    `of_lists`: only those with a list are counted, whatever becomes of the others.
    """
    part, share = split.evaluated, coverage.users_evaluated / coverage.users
    fate, lot = ("have a list", "say nothing of it") if of_lists else ("are evaluated", "are dropped")
    finding = (
        f"{coverage.users_evaluated:,} of {coverage.users:,} users with {part} rows ({share:.1%}) {fate}"
    )
    if coverage.rows_dropped:
        lost = coverage.rows_dropped / coverage.rows
        finding += f"; {coverage.rows_dropped:,} of {coverage.rows:,} {part} rows ({lost:.1%}) {lot}: "
        finding += coverage.reasons()
    level: Level = "note"
    if share < FEW_EVALUATED or coverage.rows_dropped > (1.0 - FEW_EVALUATED) * coverage.rows:
        # a split may hold out few users: a tenth of all counts only where most of those are lost
        n_all = split.history.n_users
        few = share < FEW_EVALUATED and coverage.users_evaluated < LEAST_EVALUATED * n_all
        level = "error" if share < LEAST_EVALUATED or few else "warning"
        finding += f". {n_all:,} users are in the data"
    message = f"{finding}."
    if level != "note":
        most = max(coverage.dropped, key=lambda reason: coverage.dropped[reason])
        message = f"{finding}. To keep more: {_kept_by(most, split)}."
    n_users = coverage.users_evaluated
    too_few: Level = "warning" if n_users < FEW_USERS else "note"
    sentence = f"The numbers are of {n_users:,} user{'s' if n_users != 1 else ''}"
    sentence += f", fewer than {FEW_USERS}: intervals and ± are too narrow." if n_users < FEW_USERS else "."
    if coverage.users == 1 and split.fold_in is not None:
        sentence += " split.n_test=1 is one user; a share of users is below 1, such as split.n_test=0.1."
    return [
        GuardResult("coverage", 1.0 - share, level, message),
        GuardResult("few_users", float(n_users), too_few, sentence),
    ]


def _kept_by(reason: Reason, split: Split) -> str:
    """Return the settings with which rows that were dropped for a reason stay."""
    timed = split.test.timestamp is not None
    of_all = "the last rows of every user" if timed else "rows of every user"
    return {
        "unknown_users": f"split={'temporal' if timed else 'random'}_per_user holds out {of_all}, and "
        "split.cold_users=keep evaluates users without training rows, too",
        "unknown_items": "split.cold_items=keep",
        "nothing_relevant": "lower dataset.relevant_from, or hold out more rows of each user",
        "no_list": "give lists of all users with test rows",
    }[reason]


def check_candidates(
    chosen: CandidateItems, relevant: Relevant, *, n_users: int, n_items: int, top_k: int
) -> list[GuardResult]:
    """Look at candidates before lists are made from them."""
    owner = np.repeat(relevant.users, np.diff(relevant.start)).astype(np.int32)
    held = chosen.holds(owner, relevant.items)
    counts = chosen.counts(n_users, n_items)[relevant.users]
    unreachable = float((~held).mean())
    few = float((counts <= top_k).mean())
    row = np.repeat(np.arange(len(counts)), np.diff(relevant.start))[held]
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    only_relevant = (counts > 0) & (np.bincount(row, minlength=len(counts)) == counts)
    if only_relevant.any():  # what follows is slow
        np.minimum.at(low, row, relevant.gains[held])
        np.maximum.at(high, row, relevant.gains[held])
    alike = float((only_relevant & (low == high)).mean())
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
    finding = (
        f"{short.sum():,} of {len(short):,} lists end before the largest cutoff, {none.sum():,} are empty"
    )
    if not short.any():
        return GuardResult("short_lists", 0.0, "note", f"{finding}.")
    message = f"{finding}: what made them knows no more items for these users. Empty places count as misses."
    return GuardResult("short_lists", float(short.mean()), "warning", message)


def check_selection(settings: GuardSettings) -> GuardResult:
    """Say whether the run's settings were chosen by test numbers."""
    if settings.selected_on == "test":
        message = (
            "The run's settings were chosen by test numbers, so these are too good; choose by validation "
            "rows (split.validation_size=0.1 evaluate_on=validation, or tune=tpe) and report other test rows."
        )
        return GuardResult("selection_on_test", 1.0, "warning", message)
    sentence = (
        f"chosen by {settings.selected_on} numbers"
        if settings.selected_on
        else "not said to be chosen by any"
    )
    return GuardResult("selection_on_test", 0.0, "note", f"The run's settings were {sentence}.")


def check_ties(ties: Ties, evaluation: Evaluation, policies: Policies) -> GuardResult:
    """Say whose lists are cut inside a group of equal scores, and what that does to the numbers."""
    where = ", ".join(f"{share:.1%} (@{k})" for k, share in ties.shares.items())
    finding = f"For {where} of evaluated users the cutoff falls inside a group of equal scores"
    changed = [
        entry
        for entry in evaluation.results
        if entry.key in ties.expected
        and abs(round(entry.value, 4) - round(ties.expected[entry.key], 4)) > SMALL - 1e-9
    ]
    level: Level = "note"
    if ties.expected and not changed:
        message = f"{finding}, which changes no number by {SMALL} or more."
    elif max(ties.shares.values()) < MANY_TIED:
        message = f"{finding}."
    elif policies.ties in ("random", "expected"):
        message = f"{finding}; their order counts as random (ties={policies.ties})."
    else:
        level, beside = "warning", _beside(changed, ties)
        message = (
            f"{finding}, so that item codes choose, which often follow popularity{beside}; use ties=expected."
        )
    return GuardResult("ties_at_cutoff", ties.shares[max(ties.shares)], level, message)


def _beside(changed: Sequence[MetricResult], ties: Ties) -> str:
    """Return two numbers that differ as printed, of the largest cutoff, each next to the expected one."""
    largest = max((entry.k or 0 for entry in changed), default=0)
    at_end = [entry for entry in changed if (entry.k or 0) == largest]
    order = sorted(at_end, key=lambda e: HEADLINES.index(e.name) if e.name in HEADLINES else len(HEADLINES))
    pairs = [
        f"{entry.name}@{entry.k} is {entry.value:.4f}, {ties.expected[entry.key]:.4f} expected"
        for entry in order[:2]
    ]
    return f": {'; '.join(pairs)} if ties were broken at random" if pairs else ""


def check_filters(filters: Sequence[Filter], rows: Interactions) -> list[GuardResult]:
    """Say which filter a later one has broken; nothing without such filters."""
    results = []
    for rule, *later in (filters[place:] for place in range(len(filters))):
        if later and (broken := rule.broken_in(rows)):
            message = (
                f"{rule} were dropped before {' and '.join(map(str, later))}: now {broken}. Name the core "
                "last, or once more: filters=[n_core,...,n_core_again]."
            )
            results.append(GuardResult("broken_core", 1.0, "warning", message))
    return results[-1:]


def check_neighbours(share: float) -> GuardResult:
    """Say for how many users or items equal similarities decide which neighbours count."""
    message = f"For {share:.1%} of users or items model.k cuts through a group of equally similar neighbours"
    message += (
        ": which of them count is arbitrary, and another model.k may give other numbers" if share else ""
    )
    message += "."
    return GuardResult("ties_of_neighbours", share, "note", message)


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
    results = []
    for name, keys, where, reason in (
        ("below_chance", below, "below chance", "scores may be upside down, or the model untrained"),
        ("above_oracle", above, "above the best reachable", "the metric's definition has no such bound"),
    ):
        shown = ", ".join(keys[:4]) + (f" and {len(keys) - 4} more" if len(keys) > 4 else "")
        message = f"{shown}: {where}; {reason}: look at the lists before the numbers."
        limits: list[tuple[float, Level, str]] = [(1.0, "warning", message)]
        results.append(by_share(name, float(len(keys)), "" if keys else f"No metric is {where}", limits))
    return results


def check_direction(reversal: Reversal | None, model: Recorded) -> GuardResult:
    """Warn of recorded lists whose hits stand at their end."""
    if reversal is None:
        message = f"The lists, ordered by {model.order_of_lists}, are not better from their end."
        return GuardResult("lists_reversed", 0.0, "note", message)
    share = reversal.reverse / reversal.as_ordered
    return GuardResult("lists_reversed", share, "warning", f"{reversal.sentence(model.order_of_lists)}.")


def check_recorded(model: Recorded) -> tuple[GuardResult, ...]:
    """Report what is odd about recorded lists: a warning for what stops a run unless it is kept."""
    return tuple(
        GuardResult(
            f"lists_{finding.name}",
            finding.count,
            "warning" if finding.name in STRICT else "note",
            f"{line}.",
        )
        for finding, line in zip(model.findings, describe(model.findings), strict=True)
    )
