"""The numbers that two studies published beside their lists, computed from these lists."""

import csv
import gzip
from collections import defaultdict
from pathlib import Path

import pytest

import recgauge

OF_DI_PALMA = {
    "nDCG": "ndcg",
    "nDCGRendle2020": "ndcg_rendle",
    "Precision": "precision",
    "Recall": "recall",
    "HR": "hit_rate",
    "F1": "f1",
    "MAP": "map",
    "MAR": "mar",
    "MRR": "mrr",
    "EFD": "efd",
    "EPC": "epc",
    "ARP": "arp",
    "ACLT": "aclt",
    "APLT": "aplt",
    "ItemCoverage": "item_coverage",
    "UserCoverage": "user_coverage",
    "Gini": "gini_index",
    "SEntropy": "shannon_entropy",
    "PopREO": "pop_reo",
    "PopRSP": "pop_rsp",
}
OF_ZANON = {
    "PREC": "precision",
    "RECALL": "recall",
    "NDCG": "ndcg",
    "MAP": "map",
    "AGG_DIV": "item_coverage",
    "COVERAGE": "catalog_coverage",
    "ENTROPY": "entropy",
    "GINI": "gini",
}


def rows_of(path: Path, separator: str) -> list[list[str]]:
    """Return the cells of a packed text file."""
    with gzip.open(path, "rt") as file:
        return [line.rstrip("\n").split(separator) for line in file]


def by_user(rows: list[list[str]], *, graded: bool = False):
    """Return users' items, or their grades by item."""
    users: dict[str, dict[str, float] | list[str]] = defaultdict(dict if graded else list)
    for user, item, *more in rows:
        if graded:
            users[user][item] = float(more[0])
        else:
            users[user].append(item)
    return dict(users)


def published(path: Path, *columns: str) -> dict[tuple[str, ...], list[dict[str, str]]]:
    """Return the published numbers by the values of some columns."""
    groups = defaultdict(list)
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            groups[tuple(row[column] for column in columns)].append(row)
    return dict(groups)


def check(
    numbers: list[dict[str, str]], names: dict[str, str], tolerance: float, *tables, **settings
) -> None:
    """Compare the published numbers of a list with ours."""
    cutoffs = sorted({int(row["cutoff"]) for row in numbers})
    metrics = tuple(dict.fromkeys(names[row["metric"]] for row in numbers))
    values = recgauge.evaluate(*tables, metrics=metrics, cutoffs=cutoffs, **settings).values()
    ours = {
        (row["metric"], row["cutoff"]): values[f"{names[row['metric']]}_at_{row['cutoff']}"]
        for row in numbers
    }
    theirs = {(row["metric"], row["cutoff"]): float(row["value"]) for row in numbers}
    assert ours == pytest.approx(theirs, rel=1e-9, abs=tolerance)


@pytest.mark.slow
def test_lists_of_language_models_have_the_published_numbers(mirror: str) -> None:
    folder = Path(mirror, "lists", "recommender_chatgpt")
    groups = published(
        folder / "published.csv.gz", "dataset", "task", "list_file", "train_file", "test_file", "order"
    )
    chosen: dict[tuple[str, ...], tuple[str, ...]] = {}
    for key in groups:  # a list of each data set and task, of a language model and of a classic one
        dataset, task, file, *_, order = key
        chosen.setdefault((dataset, task, str(Path(file).parent), order), key)
    for key in chosen.values():
        dataset, _, file, train, test, _ = key
        place = folder / dataset
        lists = rows_of(place / file, "\t")
        if "llm" in file:
            lists.sort(key=lambda row: (row[0], float(row[2])))
        else:
            lists = [[user, item] for user, items in lists for item in items.split()]
        check(
            groups[key],
            OF_DI_PALMA,
            1e-12,
            by_user(lists),
            by_user(rows_of(place / f"{test}.tsv.gz", "\t"), graded=True),
            train=by_user(rows_of(place / f"{train}.tsv.gz", "\t")),
            head=(place / f"{train}.head.txt").read_text().split(),
            conventions="di_palma_2023",
        )


@pytest.mark.slow
def test_lists_reordered_by_linked_data_have_the_published_numbers(mirror: str) -> None:
    folder = Path(mirror, "lists", "lod_personalized")
    groups = published(folder / "published.csv.gz", "dataset", "fold", "list_file")
    for (dataset, fold, file), numbers in groups.items():
        if fold != "0":
            continue
        place = folder / dataset / "fold0"
        name = Path(file).name.replace("[", "_").replace("]", "").replace("=", "-")
        check(
            numbers,
            OF_ZANON,
            5.1e-7,
            by_user(rows_of(place / "lists" / f"{name}.gz", ",")[1:]),
            by_user(rows_of(place / "test.dat.gz", ",")),
            train=by_user(rows_of(place / "train.dat.gz", ",")),
            conventions="zanon_2022",
        )
