"""Conventions of reproducibility studies, on lists that are computed by hand from what their code does."""

from collections import Counter
from math import log2, log10
from statistics import mean, pstdev

import pytest

import recgauge

LISTS = {
    "ann": [1, 2, 3],
    "bob": [2, 6, 1],
    "cid": [4, 5, 6],
}  # nothing is relevant for cid, who does not count
RELEVANT = {"ann": [1, 3, 4, 5], "bob": [6]}
TRAIN = {"ann": [6], "bob": [3, 4], "cid": [1, 2, 3]}
BOTH = {
    "precision": 1 / 2,
    "recall": 3 / 4,
    "f1": 3 / 5,
    "mrr": 3 / 4,
    "item_coverage": 4 / 6,
    # items 1, 2 and 6 have one of six interactions, item 3 two; divided by six items
    "novelty": (5 * log2(6) + log2(3)) / 6 / 2,
}
IDEAL_OF_3 = 1 + 1 / log2(3) + 1 / 2
VALUES = {
    "dacrema_2021": BOTH
    | {
        "map": ((1 + 2 / 3) / 3 + 1 / 2) / 2,
        "ndcg": (1.5 / (IDEAL_OF_3 + 1 / log2(5)) + 1 / log2(3)) / 2,
        "mean_inter_list_diversity": 1 / 3,
        "herfindahl": 1 - (1 / 9 + 1 / 9 + 1 / 36 + 1 / 36),
        # two items never, two once, two twice
        "gini": 2 * (4 / 7 * 1 / 6 + 3 / 7 * 1 / 6 + 2 / 7 * 1 / 3 + 1 / 7 * 1 / 3),
        "shannon_entropy": 2 / 3 * log2(3) + 1 / 3 * log2(6),
    },
    "intent_aware_2025": BOTH
    | {"map": ((1 + 2 / 3) / 3 + (1 / 2) / 3) / 2, "ndcg": (1.5 / IDEAL_OF_3 + 1 / log2(3)) / 2},
}


@pytest.mark.parametrize("study", VALUES)
def test_the_values_are_those_of_the_study(study: str) -> None:
    found = recgauge.evaluate(
        LISTS, RELEVANT, metrics=tuple(VALUES[study]), cutoffs=(3,), conventions=study, train=TRAIN, n_items=6
    )
    expected = {f"{name}_at_3": value for name, value in VALUES[study].items()}
    assert found.values() == pytest.approx(expected, rel=1e-12)


FAULTY = {  # an item that nobody has, an item of training, repeats; of dan's list nothing is left
    "ann": [3, "made up", 6, 3, 1, 2],
    "bob": [2, 6, 1, 6],
    "dan": [4, "made up"],
}  # eve has no list
GRADES = {
    "ann": {1: 4.0, 3: 2.0, 5: 1.0},
    "bob": {6: 5.0},
    "dan": {1: 3.0},
    "eve": {2: 1.0},
}  # eve has no list
HISTORY = {"ann": [6], "bob": [3, 4], "dan": [4, 1], "eve": [1, 2, 5], "fay": [6, 2]}
HEAD = [6, 4]
K = 3


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def di_palma_of_a_user(listed: list[int], grades: dict[int, float], popularity: Counter) -> dict[str, float]:
    """Metrics of one list without unknown and seen items, cut at k; repeats hit again."""
    hits = [item in grades for item in listed]
    discounts = [1 / log2(rank + 2) for rank in range(K)]
    best = sorted((2 ** (grade + 1) - 1 for grade in grades.values()), reverse=True)
    n_rows, n_users = sum(popularity.values()), len(HISTORY)

    def hit_weight(weight) -> float:
        total = sum(d * weight(item) for d, item, hit in zip(discounts, listed, hits, strict=False) if hit)
        return share(total, sum(discounts[: len(listed)]))

    so_far = [sum(hits[: rank + 1]) for rank in range(K)]
    precision, recall = sum(hits) / K, sum(hits) / len(grades)
    gains = [2 ** (grades[item] + 1) - 1 if item in grades else 0 for item in listed]
    tail = {item for item in listed if item not in HEAD}
    return {
        "ndcg": sum(g * d for g, d in zip(gains, discounts, strict=False))
        / sum(g * d for g, d in zip(best, discounts, strict=False)),
        "ndcg_rendle": sum(h * d for h, d in zip(hits, discounts, strict=False))
        / sum(discounts[: len(grades)]),
        "precision": precision,
        "recall": recall,
        "hit_rate": float(any(hits)),
        "f1": share(2 * precision * recall, precision + recall),
        "map": mean(count / (rank + 1) for rank, count in enumerate(so_far)),
        "mar": mean(count / len(grades) for count in so_far),
        "mrr": 1 / (hits.index(True) + 1) if any(hits) else 0.0,
        "efd": hit_weight(lambda item: -log2(popularity[item] / n_rows)),
        "epc": hit_weight(lambda item: 1 - popularity[item] / n_users),
        "arp": share(sum(popularity[item] for item in listed), len(listed)),
        "aclt": float(len(tail)),
        "aplt": share(len(tail), len(listed)),
    }


def test_di_palma_drops_unknown_and_seen_items_and_lets_repeats_hit_again() -> None:
    popularity = Counter(item for items in HISTORY.values() for item in items)
    in_data = set(popularity) | {item for grades in GRADES.values() for item in grades}
    lists = {
        user: [item for item in items if item in in_data and item not in HISTORY[user]][:K]
        for user, items in FAULTY.items()
    }
    users = [di_palma_of_a_user(listed, GRADES[user], popularity) for user, listed in lists.items()]
    expected = {name: mean(values[name] for values in users) for name in users[0]}
    counts = Counter(item for listed in lists.values() for item in listed)
    total, n_items = sum(counts.values()), len(popularity)
    ordered = sorted(counts[item] for item in popularity)
    spread = sum((2 * j - n_items - 1) * n / total for j, n in enumerate(ordered, start=1)) / (n_items - 1)
    expected |= {
        "item_coverage": float(len(counts)),
        "user_coverage": float(sum(bool(listed) for listed in lists.values())),
        "gini_index": 1 - spread,
        "shannon_entropy": mean(
            share(sum(-log2(counts[item] / total) for item in listed), len(listed))
            for listed in lists.values()
        ),
    }

    def in_group(items, *, head: bool) -> set:
        return {item for item in items if (item in HEAD) == head}

    rates, shares = [], []
    for head in (True, False):
        hits = sum(len(in_group(listed, head=head) & set(GRADES[user])) for user, listed in lists.items())
        possible = sum(len(in_group(set(GRADES[user]) - set(HISTORY[user]), head=head)) for user in lists)
        rates.append(hits / possible)
        shown = sum(len(in_group(listed, head=head)) for listed in lists.values())
        shares.append(
            shown / sum(len(in_group(set(popularity) - set(HISTORY[user]), head=head)) for user in lists)
        )
    expected |= {"pop_reo": pstdev(rates) / mean(rates), "pop_rsp": pstdev(shares) / mean(shares)}
    found = recgauge.evaluate(
        FAULTY,
        GRADES,
        metrics=tuple(expected),
        cutoffs=(K,),
        conventions="di_palma_2023",
        train=HISTORY,
        head=HEAD,
    )
    assert found.values() == pytest.approx({f"{name}_at_{K}": value for name, value in expected.items()})


def test_zanon_looks_at_the_hits_of_the_own_list() -> None:
    values: dict[str, list[float]] = {"precision": [], "recall": [], "map": [], "ndcg": []}
    train = TRAIN | {"ann": [6, 7]}  # nobody is shown 7, and 5 is in no training row
    for user, relevant in RELEVANT.items():
        hits = [item in relevant for item in LISTS[user]]
        ranks = [rank for rank, hit in enumerate(hits, start=1) if hit]
        weights = [1.0, *(1 / log2(rank) for rank in range(2, K + 1))]
        values["precision"].append(len(ranks) / K)
        values["recall"].append(len(ranks) / len(relevant))
        values["map"].append(mean((place + 1) / rank for place, rank in enumerate(ranks)))
        values["ndcg"].append(sum(weights[rank - 1] for rank in ranks) / sum(weights[: len(ranks)]))
    counts = Counter(item for listed in LISTS.values() for item in listed)
    n = len({item for items in train.values() for item in items})
    appearances = [*[0] * (n - len(counts)), *counts.values()]
    shares = sorted(count / counts.total() + 1e-8 for count in appearances)
    expected = {name: mean(column) for name, column in values.items()} | {
        "item_coverage": float(len(counts)),
        "catalog_coverage": len(counts) / n,
        "entropy": -sum(c / counts.total() * log10(c / counts.total()) for c in counts.values()),
        "gini": sum((2 * j - n - 1) * p for j, p in enumerate(shares, start=1)) / (n * sum(shares)),
    }
    found = recgauge.evaluate(
        LISTS, RELEVANT, metrics=tuple(expected), cutoffs=(K,), conventions="zanon_2022", train=train
    )
    assert found.values() == pytest.approx({f"{name}_at_{K}": value for name, value in expected.items()})
