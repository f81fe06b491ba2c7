"""How the study on ChatGPT judged lists: its order of rows, its short head, and which file is whose."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from recgauge.studies.published_lists import JudgedLists, cells

MODELS = {"chatgpt": "ChatGPT", "gpt35": "GPT-3.5", "palm2": "PaLM-2"}
"""Language models, by how the names of their files begin."""
HEAD_SHARE = 0.8  # of the training rows, which Elliot's short head has at least


def kind(lists: str) -> str:
    """Return what a file of lists is: "llm", "classic", or "reversed" for a classic one read upside down.

    Examples
    --------
    >>> kind("ml_small/classic/MostPop_b1a86898.txt")
    'classic'
    """
    return lists.split("/")[1]


def model(lists: str) -> str:
    """Return the model of a file of lists, without its settings.

    Examples
    --------
    >>> model("ml_small/reversed/UserKNN_nn80_simcorrelation_1c9f0c8a.txt")
    'UserKNN'
    >>> model("hetrec_lastfm/llm/palm2_output_EXP_1_elliot_26b2c349.tsv")
    'PaLM-2'
    """
    name = lists.split("/")[2].partition("_")[0].removesuffix(".txt")
    return MODELS[name] if kind(lists) == "llm" else name


def best_first(lists: JudgedLists) -> JudgedLists:
    """Return a model's lists in their own order, best first."""
    return JudgedLists(lists.lists.replace("/reversed/", "/classic/"), lists.train, lists.test)


def read_lists(name: str, path: Path) -> dict[int, list[int]]:
    """Return users' items in the order in which the study judged them.

    A repository's file has rows of user, item and a number: a language model's rank, or a classic model's
    score. Elliot's proxy orders both by rising number, so that a classic model's lists begin with the worst
    item. A mirror may keep a user and the items in that order on each line.
    """
    lines = cells(path, "\t")
    first = next(lines)
    rows = (first, *lines)
    if len(first) == 2:
        return {int(user): [*map(int, items.split())] for user, items in rows}
    users: dict[int, list[tuple[float, int]]] = {}
    for user, item, number in rows:
        users.setdefault(int(float(user)), []).append((float(number), int(float(item))))
    if kind(name) == "classic":
        return {user: [item for _, item in pairs] for user, pairs in users.items()}
    return {
        user: [item for _, item in sorted(pairs, key=lambda pair: pair[0])] for user, pairs in users.items()
    }


def short_head(train: dict[int, dict[int, float]]) -> list[int]:
    """Return Elliot's short head: items by falling popularity up to 80 % of the rows.

    Items that are equally popular at its border are in the order of a Python set, as in Elliot.

    Examples
    --------
    >>> short_head({1: {7: 5.0, 8: 4.0}, 2: {7: 3.0}, 3: {7: 1.0, 9: 2.0}})
    [7, 8]
    """
    n_users: dict[int, int] = {}
    for item in _rows(train.values()):
        n_users[item] = n_users.get(item, 0) + 1
    left, head = HEAD_SHARE * sum(n_users.values()), []
    for item in sorted(list({*_rows(train.values())}), key=lambda item: -n_users[item]):  # noqa: C414 - its order
        head.append(item)
        left -= n_users[item]
        if left <= 0:
            break
    return head


def _rows(users: Iterable[Iterable[int]]) -> Iterable[int]:
    return (item for items in users for item in items)


def top_n(lists: Sequence[JudgedLists], dataset: str) -> list[JudgedLists]:
    """Return each language model's lists made without candidates, those judged by all test rows if any."""
    by_model: dict[str, JudgedLists] = {}
    for each in sorted(lists, key=lambda each: not each.test.endswith("/test.tsv")):
        if each.lists.startswith(f"{dataset}/llm/") and "exp_1" in each.lists.lower():
            by_model.setdefault(model(each.lists), each)
    return [by_model[name] for name in MODELS.values() if name in by_model]
