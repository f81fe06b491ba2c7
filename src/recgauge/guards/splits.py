"""Guards of a split: leaks, time order, what models cannot know, popularity, who is left out."""

from itertools import combinations

import numpy as np

from recgauge.data.interactions import PIECE, Interactions, pair_codes, stored
from recgauge.data.relevance import Relevant
from recgauge.data.split import Split
from recgauge.guards import GuardResult, Level, by_share
from recgauge.utils.checks import LongArray

MANY_UNKNOWN = 0.1
MANY_NEW = 0.5
MANY_POPULAR = 0.8
MANY_SKIPPED = 0.5
MANY_TIED = 0.1


def check_split(
    split: Split, relevant: Relevant, *, temporal: bool, ties: str | None = None
) -> list[GuardResult]:
    """Look at a split before anything is trained on it; guards of time are left out where rows have no time.

    `temporal`: the strategy claims that no user's training rows are later than the user's test rows. `ties`:
    its rule for rows of one user and time, None if it does not order a user's rows.
    """
    results = [_overlap(split)]
    if split.test.timestamp is not None and split.history.timestamp is not None:
        results += [_train_after_test(split, temporal), _train_after_cut(split), _new_test_items(split)]
        if ties is not None:
            results.append(_ties_at_cut(split, ties))
    return [*results, _unknown_items(split), *_popular_shares(split), _users_skipped(split, relevant)]


def _overlap(split: Split) -> GuardResult:
    test = split.test
    none = GuardResult("overlap", 0.0, "note", "No test row is in another part, and none repeats another.")
    if split.is_apart:
        return none
    in_train = stored(split.seen, test.user, test.item)
    in_validation = np.zeros(len(test), np.bool_)
    if split.validation is not None and len(split.validation):
        in_validation = stored(split.validation.to_csr(), test.user, test.item)
    again = np.ones(len(test), np.bool_)
    again[np.unique(pair_codes(test), return_index=True)[1]] = False
    n_shared = int((in_train | in_validation | again).sum())
    if not n_shared:
        return none
    where = {"in train": in_train, "in validation": in_validation, "an earlier test row": again}
    found = ", ".join(f"{int(rows.sum()):,} {part}" for part, rows in where.items() if rows.any())
    share = n_shared / len(test)
    return GuardResult(
        "overlap",
        share,
        "error",
        f"{n_shared:,} of {len(test):,} test rows ({share:.1%}) have a (user, item) pair that other rows "
        f"have ({found}), so models may be tested on what they have learnt; keep one row of each pair "
        "(filters=[duplicates]), or, if people return to items, let lists hold what they had "
        "(guards.override=[overlap] candidates.seen=none).",
    )


def _times(part: Interactions) -> LongArray:
    assert part.timestamp is not None
    return part.timestamp


def _train_after_test(split: Split, temporal: bool) -> GuardResult:
    train, test = split.history, split.test
    first = np.full(test.n_users, np.iinfo(np.int64).max)
    np.minimum.at(first, test.user, _times(test))
    leaks = np.zeros(test.n_users, np.bool_)
    for start in range(0, len(train), PIECE):
        user = train.user[start : start + PIECE]
        leaks[user[_times(train)[start : start + PIECE] > first[user]]] = True
    n_users = np.count_nonzero(leaks)
    share = n_users / len(split.test_users)
    found = f"{share:.1%} of test users have training rows later than their first test row"
    if temporal and n_users:
        message = (
            f"{found}, though split {split.name} claims to keep time order; correct the split or its times."
        )
        return GuardResult("train_after_test", share, "error", message)
    hint = (
        "." if not n_users else ", as random splits do; a temporal split would not let models see the future."
    )
    return GuardResult("train_after_test", share, "note", found + hint)


def _train_after_cut(split: Split) -> GuardResult:
    first_test = _times(split.test).min()
    share = float((_times(split.history) > first_test).mean())
    message = f"{share:.1%} of training rows are later than the first test row of anybody."
    return GuardResult("train_after_cut", share, "note", message)


def _ties_at_cut(split: Split, rule: str) -> GuardResult:
    """Count users whose rows of one time are in two parts."""
    parts = [part for part in (split.history, split.validation, split.test) if part is not None]
    tied = np.zeros(split.test.n_users, np.bool_)
    for earlier, later in combinations(parts, 2):
        last = np.full(len(tied), np.iinfo(np.int64).min)
        np.maximum.at(last, earlier.user, _times(earlier))
        first = np.full(len(tied), np.iinfo(np.int64).max)
        np.minimum.at(first, later.user, _times(later))
        tied |= last == first
    n_users, n_tied = len(split.test_users), int(tied[split.test_users].sum())
    share = n_tied / n_users
    found = f"{n_tied:,} of {n_users:,} test users ({share:.1%}) have rows of one time in two parts"
    consequence = f": split.ties={rule} decides which is held out; other rules may move the numbers."
    return by_share("ties_at_cut", share, found, [(MANY_TIED, "warning", consequence)])


def _new_test_items(split: Split) -> GuardResult:
    last_train = _times(split.train).max()
    first = np.full(split.test.n_items, np.iinfo(np.int64).max)
    for part in (split.train, split.validation, split.test):
        if part is not None and part.timestamp is not None:
            np.minimum.at(first, part.item, part.timestamp)
    tested = split.test.item_counts() > 0
    share = float((first[tested] > last_train).mean())
    found = f"{share:.1%} of test items first appear after the last training row"
    consequence = ", and most models cannot recommend them; hold out a shorter time, or use item features."
    return by_share("new_test_items", share, found, [(MANY_NEW, "warning", consequence)])


def _unknown_items(split: Split) -> GuardResult:
    known = split.train.item_counts() > 0
    tested = split.test.item_counts() > 0
    share = float((~known[split.test.item]).mean())
    found = (
        f"{share:.1%} of test rows, {int((tested & ~known).sum()):,} of {int(tested.sum()):,} test items, "
        "are of items without a training row"
    )
    remedy = "hold out less, or drop rare items first (filters=[n_core])."
    limits: list[tuple[float, Level, str]] = [
        (1.0, "error", f": nothing can be hit; {remedy}"),
        (MANY_UNKNOWN, "warning", f", and most models cannot recommend those; {remedy}"),
    ]
    return by_share("unknown_items", share, found, limits)


def _popular_shares(split: Split) -> list[GuardResult]:
    counts = split.train.item_counts()
    order = np.argsort(-counts, kind="stable")
    n_known = int(np.count_nonzero(counts))
    results = []
    for percent in (1, 10):
        top = np.zeros(len(counts), np.bool_)
        top[order[: -(-n_known * percent // 100)]] = True
        share = float(top[split.test.item].mean())
        found = f"{share:.1%} of test rows are of the {percent} % most popular training items"
        many = percent == 10 and share >= MANY_POPULAR
        hint = ", so popularity alone does well; compare with model=popularity." if many else "."
        name = f"test_on_top_{percent}_percent"
        results.append(GuardResult(name, share, "warning" if many else "note", found + hint))
    return results


def _users_skipped(split: Split, relevant: Relevant) -> GuardResult:
    n_users, n_tested = split.test.n_users, len(split.test_users)
    n_evaluated = n_tested - relevant.n_without
    found = (
        f"{n_evaluated:,} of {n_users:,} users have relevant test rows; {n_users - n_tested:,} have no test "
        f"row, {relevant.n_without:,} no relevant one"
    )
    share = 1.0 - n_evaluated / n_users
    if relevant.n_without >= MANY_SKIPPED * n_tested:
        message = f"{found}: most test users say nothing; lower dataset.relevant_from or hold out more."
        return GuardResult("users_skipped", share, "warning", message)
    return GuardResult("users_skipped", share, "note", f"{found}.")
