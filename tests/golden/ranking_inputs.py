"""The inputs of a ranking case in the forms that rows ask for."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from golden.cases import load_inputs
from golden.evaluated import Inputs
from golden.ranking_rows import BOTH, CUT, EITHER, FULL


def of_users(inputs: Inputs, users: Sequence[str]) -> Inputs:
    """Return the inputs of some of the users."""
    lists, scores, relevant = (
        {user: table[user] for user in users} for table in (inputs.lists, inputs.scores, inputs.relevant)
    )
    return replace(inputs, users=list(users), lists=lists, scores=scores, relevant=relevant)


@cache
def ranking_inputs(case: str, lists: str = "given", k: int | None = None) -> Inputs:
    raw = load_inputs("ranking")[case]
    users = raw["users"]
    relevant = {user: {int(item): grade for item, grade in raw["truth"][user].items()} for user in users}
    inputs = Inputs(raw["recs"], relevant, users, raw["rec_scores"])
    if lists == FULL:
        inputs = _all_candidates(raw, inputs)
    if lists == CUT:
        cut = ({user: row[:k] for user, row in table.items()} for table in (inputs.lists, inputs.scores))
        inputs = Inputs(next(cut), relevant, users, next(cut), is_special=True)
    if lists == BOTH:
        inputs = of_users(inputs, [user for user in users if inputs.lists[user] and relevant[user]])
    if lists == EITHER:
        inputs = of_users(inputs, [u for u in users if inputs.lists[u] or any(relevant[u].values())])
    return inputs


def _all_candidates(raw: dict[str, Any], inputs: Inputs) -> Inputs:
    """Every item that is not among the user's training items, by falling score, ties by item."""
    lists, scores = {}, {}
    for user in inputs.users:
        everything = raw["full_scores"][user]
        seen = set(raw["train"][user])
        items = [item for item in range(raw["n_items"]) if item not in seen]
        lists[user] = sorted(items, key=lambda item, every=everything: (-every[item], item))
        scores[user] = [everything[item] for item in lists[user]]
    return replace(inputs, lists=lists, scores=scores)
