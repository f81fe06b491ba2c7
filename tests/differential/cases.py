"""Random inputs of the fuzz."""

from dataclasses import dataclass, field

import numpy as np

ITEMS = tuple(f"d{number}" for number in range(24))
"""Ids whose order as text is not that of their numbers."""
STEPS = (0.0, 0.0, 1.0, 1.0, 0.25, 1e-9)
"""What a score falls by from one item to the next: ties, and differences that 32 bits cannot hold."""
GRADES = (0, 0, 1, 1, 2, 3, 4)


@dataclass
class Case:
    """Lists with scores, best first, grades and training items, by user; users and items are texts."""

    lists: dict[str, list[str]] = field(default_factory=dict)
    scores: dict[str, list[float]] = field(default_factory=dict)
    truth: dict[str, dict[str, float]] = field(default_factory=dict)
    train: dict[str, list[str]] = field(default_factory=dict)

    @property
    def judged(self) -> dict[str, dict[str, float]]:
        """Users with at least one grade."""
        return {user: grades for user, grades in self.truth.items() if grades}


def list_case(rng: np.random.Generator, grades: tuple[float, ...] = GRADES, repeats: bool = False) -> Case:
    """Users with and without lists and grades; some lists are empty, short, tied or repeat items."""
    case = Case()
    n_known = int(rng.choice((4, 10, len(ITEMS))))  # few items: many hits and repeats
    for number in range(rng.integers(1, 7)):
        user = str(number + 8)  # gdeval wants numbers; "10" comes before "8" as text
        kind = rng.choice(("mixed", "positive", "zeros", "nothing", "absent"), p=(0.4, 0.25, 0.15, 0.1, 0.1))
        if kind != "absent":
            n_judged = 0 if kind == "nothing" else int(rng.integers(1, min(n_known, 10) + 1))
            values = {"mixed": grades, "positive": grades[-1:] + tuple(set(grades) - {0})}.get(kind, (0,))
            judged = rng.choice(n_known, n_judged, replace=False)
            case.truth[user] = {ITEMS[item]: rng.choice(values).item() for item in judged}
        if rng.random() < 0.85:
            case.lists[user], case.scores[user] = _list(rng, repeats)
    case.lists = case.lists or {"8": []}  # a run without any list is refused
    case.scores = case.scores or {"8": []}
    for number in range(rng.integers(0, 5)):
        taken = rng.choice(len(ITEMS), rng.integers(1, 9), replace=False)
        case.train[str(number + 8)] = [ITEMS[item] for item in taken]
    return case


def _list(rng: np.random.Generator, repeats: bool) -> tuple[list[str], list[float]]:
    length = int(
        rng.choice((0, rng.integers(1, 7), rng.integers(1, 15), len(ITEMS)), p=(0.05, 0.4, 0.5, 0.05))
    )
    replace = repeats and rng.random() < 0.6
    items = [ITEMS[item] for item in rng.choice(len(ITEMS) if not replace else 8, length, replace=replace)]
    steps = rng.choice(STEPS if rng.random() < 0.6 else (1.0,), length)
    return items, (rng.choice((0.0, 1.0, 7.5, -2.0)) - np.cumsum(steps)).tolist()


def full_case(rng: np.random.Generator) -> Case:
    """A score and a grade for every user and item, as scikit-learn's matrices have; scores may tie."""
    items = ITEMS[: rng.integers(2, 17)]
    grades = ((0, 0, 1), GRADES, (0.0, 0.25, 0.5, 1.5))[rng.integers(3)]
    case = Case()
    for user in map(str, range(rng.integers(1, 5))):
        few = rng.choice((0.5, 0.5 + 1e-9, 2.0, -1.0), len(items))
        scores = few if rng.random() < 0.6 else rng.random(len(items))
        order = rng.permutation(len(items))
        order = order[np.argsort(-scores[order], kind="stable")]
        case.lists[user] = [items[place] for place in order]
        case.scores[user] = scores[order].tolist()
        values = (0,) if rng.random() < 0.2 else grades
        case.truth[user] = {item: rng.choice(values).item() for item in items}
    return case
