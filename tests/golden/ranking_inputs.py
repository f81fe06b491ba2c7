"""The inputs of a ranking case in the forms that rows ask for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from golden.cases import load_inputs
from golden.ranking_rows import BOTH, CUT, EITHER, FULL


@dataclass(frozen=True)
class RankingInputs:
    users: list[str]
    lists: dict[str, list[int]]
    scores: dict[str, list[float]]
    relevant: dict[str, dict[int, float]]

    def only(self, users: Sequence[str]) -> "RankingInputs":
        """The same for some of the users."""
        return RankingInputs(
            list(users),
            {user: self.lists[user] for user in users},
            {user: self.scores[user] for user in users},
            {user: self.relevant[user] for user in users},
        )


@cache
def ranking_inputs(case: str, lists: str = "given", k: int | None = None) -> RankingInputs:
    raw = load_inputs("ranking")[case]
    users = raw["users"]
    relevant = {user: {int(item): grade for item, grade in raw["truth"][user].items()} for user in users}
    inputs = RankingInputs(users, raw["recs"], raw["rec_scores"], relevant)
    if lists == FULL:
        inputs = _all_candidates(raw, inputs)
    if lists == CUT:
        cut = {user: items[:k] for user, items in inputs.lists.items()}
        inputs = RankingInputs(users, cut, {u: s[:k] for u, s in inputs.scores.items()}, relevant)
    if lists == BOTH:
        inputs = inputs.only([user for user in users if inputs.lists[user] and relevant[user]])
    if lists == EITHER:
        inputs = inputs.only([u for u in users if inputs.lists[u] or any(relevant[u].values())])
    return inputs


def _all_candidates(raw: dict[str, Any], inputs: RankingInputs) -> RankingInputs:
    """Every item that is not among the user's training items, by falling score, ties by item."""
    lists, scores = {}, {}
    for user in inputs.users:
        everything = raw["full_scores"][user]
        seen = set(raw["train"][user])
        items = [item for item in range(raw["n_items"]) if item not in seen]
        lists[user] = sorted(items, key=lambda item, every=everything: (-every[item], item))
        scores[user] = [everything[item] for item in lists[user]]
    return RankingInputs(inputs.users, lists, scores, inputs.relevant)
