"""Clicks as sessions that are asked for each next click, and the lists that were published for them."""

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.data.lists import TopK
from recgauge.data.split import Split
from recgauge.models.recommend import recommend, rows_to_fit, serving
from recgauge.models.sequential_rules import SequentialRules
from recgauge.splits import NextItem
from recgauge.studies.published_lists import cells
from recgauge.utils.checks import DoubleArray, IntArray
from recgauge.utils.randomness import stream

N_SESSIONS = 99  # ``sessions_test: 100`` there takes one less
LENGTH, PRUNING = 50, 20  # of the lists; rules kept for an item
SAME = 1e-6  # of scores as shares of the largest: single precision against double


def rules(name: str, top_k: int | None = PRUNING) -> SequentialRules:
    """Return the association rules (`ar`) or sequential rules (`sr`) of the published lists."""
    if name == "ar":
        return SequentialRules(None, "same", "both", "none", top_k, last_n=1, popularity=0.0)
    return SequentialRules(20, "quadratic", "forward", "none", top_k, last_n=1, popularity=0.0)


@dataclass(frozen=True, eq=False)
class Clicks:
    """Training sessions, and test sessions that are asked for every click but the first.

    Parameters
    ----------
    train, test : Path
        Files of session, item and time.
    """

    train: Path
    test: Path

    @cached_property
    def split(self) -> Split:
        """The split at the first test click; each later click of a test session is a query of its own."""
        tables = [np.array(list(cells(path, "\t"))[1:], np.float64) for path in (self.train, self.test)]
        first = list(dict.fromkeys(tables[1][:, 0].tolist()))[:N_SESSIONS]
        test = tables[1][np.isin(tables[1][:, 0], first)]
        rows = np.concatenate([tables[0], test])
        session, item, time = rows.T.astype(np.int64)  # clicks of one second stay in the order of the file
        clicks = Interactions.from_ids(session, item, None, time)
        cut = int(test[:, 2].min())
        splitter = NextItem(date=cut, target="successive", ties="row_order")
        return splitter.split(clicks, rng=stream(0, "split"), overlap=True)  # a click may repeat an item

    @cached_property
    def targets(self) -> dict[str, int]:
        """The item of each query."""
        test = self.split.test
        ids = test.user_ids[test.user].tolist(), test.item_ids[test.item].tolist()
        return dict(zip(*ids, strict=True))

    def lists(self, name: str, top_k: int | None = PRUNING, length: int = LENGTH) -> TopK:
        """Return the lists of recgauge's rules, repeats allowed, in the order of the queries' codes."""
        model = rules(name, top_k)
        fitted = model.fit(rows_to_fit(self.split, "train", model), rng=stream(0, "fit"))
        return recommend(serving(fitted, self.split), self.split.test_users, length)

    def ranks(self, name: str) -> tuple[IntArray, IntArray]:
        """Return the best and the worst rank of each query's target among equal scores, shape (n,) each.

        Of rules that are not pruned, so that the orders are those of which 20 are kept, too. 0: no rule names
        the target.
        """
        test = self.split.test
        lists = self.lists(name, None, test.n_items)
        target = dict(zip(test.user.tolist(), test.item.tolist(), strict=True))
        codes = np.array([target[user] for user in lists.users.tolist()])
        own = lists.scores[lists.items == codes[:, None]][:, None]
        near = SAME * lists.scores[:, :1]
        best = 1 + (lists.scores > own + near).sum(axis=1)
        worst = (lists.scores >= own - near).sum(axis=1)
        named = own[:, 0] > 0.0
        return np.where(named, best, 0).astype(np.int32), np.where(named, worst, 0).astype(np.int32)


def read_lists(path: Path) -> dict[str, dict[int, float]]:
    """Return the items of each published list with their scores, best first, by the id of its query.

    A query's id is that of `Clicks`: a list after the click at position p, from 0, is of click p + 2.
    """
    lists = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter=";"):
            items = map(int, row["Recommendations"].split(","))
            scores = map(float, row["Scores"].split(","))
            query = f"{row['SessionId']}#{int(row['Position']) + 2}"
            lists[query] = dict(zip(items, scores, strict=True))
    return lists


@dataclass(frozen=True)
class Likeness:
    """How two lists of one query are alike, from the most to the least; each holds if the one before does."""

    order: bool  # the same items with a score, in the same order
    items: bool  # the same items with a score
    above: bool  # the same, but for items that share the lowest score
    scores: bool  # the same scores, place by place


def likeness(published: dict[int, float], items: list[int], scores: DoubleArray) -> Likeness:
    """Compare a published list with one of recgauge's, whose scores are divided by the largest.

    Examples
    --------
    >>> ours = np.array([1.0, 0.5, 0.5, 0.0])
    >>> likeness({7: 1.0, 8: 0.5, 9: 0.5, 5: 0.0}, [7, 9, 8, 6], ours)
    Likeness(order=False, items=True, above=True, scores=True)
    """
    theirs = np.array(list(published.values()))
    equal = bool(np.abs(theirs - scores).max() <= SAME)
    listed = [item for item, score in published.items() if score > 0.0]
    own = items[: len(listed)]
    lowest = theirs[theirs > 0.0].min(initial=1.0)
    n_above = int((theirs > lowest + SAME).sum())
    return Likeness(
        equal and listed == own,
        equal and set(listed) == set(own),
        equal and set(listed[:n_above]) == set(own[:n_above]),
        equal,
    )
