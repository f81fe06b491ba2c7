"""Stands for your own program: makes lists of a model, and the rows that they are judged on.

python examples/ci/recommend.py svd lists.csv test.csv
"""

import csv
import sys
from collections.abc import Iterable
from pathlib import Path

from recgauge import SVD, Demo, ItemKNN, Popularity, RandomRows, Relevant, recommend, stream

MODELS = {
    "svd": SVD(n_factors=16),
    "svd_17": SVD(n_factors=17),
    "item_knn": ItemKNN(),
    "popularity": Popularity(),
}


def main(model: str, lists: str, test: str) -> None:
    """Train a model on the demo data; write each user's ten best items and relevant test rows."""
    ratings = Demo().load().interactions
    split = RandomRows(test_size=0.2).split(ratings, rng=stream(0, "split"))
    fitted = MODELS[model].fit(split.train, rng=stream(0, "fit"))
    relevant = Relevant.from_interactions(split.test, relevant_from=4)
    top = recommend(fitted, relevant.users, k=10, excluded=split.train.to_csr())
    users, items, kept = ratings.user_ids, ratings.item_ids, split.test.value >= 4
    rows = zip(users[split.test.user[kept]], items[split.test.item[kept]], strict=True)
    write(test, ("user", "item"), rows)
    ranked = (
        (users[user], items[item], rank)
        for user, row in zip(top.users, top.items, strict=True)
        for rank, item in enumerate(row, 1)
    )
    write(lists, ("user", "item", "rank"), ranked)


def write(path: str, header: tuple[str, ...], rows: Iterable[tuple]) -> None:
    """Write a CSV file."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


if __name__ == "__main__":
    main(*sys.argv[1:])
