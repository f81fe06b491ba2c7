"""Unknown, seen and repeated items of lists from outside, under every combination of policies."""

import json
from itertools import product
from math import log2
from random import Random

import pandas as pd
import pyarrow as pa
import pytest

import recgauge
from recgauge.cli.commands.cli import main
from recgauge.conventions import get_convention
from recgauge.errors import ConfigError, SchemaError
from recgauge.evaluation.parts import PartTask

K = 4
TRAIN = {"a": ["i1", "i2"], "b": ["i3"], "c": ["i4", "i5", "i6"], "d": ["i7"]}
TRUTH = {"a": ["i3", "i4", "i1"], "b": ["i1", "i5", "i6"], "c": ["i7"], "d": ["i2", "i3"]}
UNKNOWN = ["x1", "x2"]
CHOICES = list(
    product(("miss", "drop"), ("miss", "drop", "hit"), ("miss", "drop", "every"), (None, 6), ("zero", "skip"))
)


def random_lists(seed: int) -> dict[str, list[str]]:
    """Lists with every fault: made-up items, items of training and repeats; d has none."""
    random = Random(seed)
    items = [f"i{number}" for number in range(1, 8)] + UNKNOWN
    return {user: random.choices(items, k=random.randint(K, 9)) for user in "abc"} | {"b": ["x1"] * K}


def judged(lists, unknown, seen, repeats, longest, no_list) -> dict[str, float]:
    """Return the metrics of a judge that follows the policies word by word."""
    known = {item for rows in (*TRAIN.values(), *TRUTH.values()) for item in rows}
    values = {"precision": [], "recall": [], "mrr": [], "ndcg": []}
    for user, relevant in TRUTH.items():
        if user not in lists and no_list == "skip":
            continue
        hits: list[bool] = []
        before = set()
        for item in lists.get(user, [])[:longest]:
            hit = item in relevant
            for is_fault, policy in (
                (item not in known, unknown),
                (item in TRAIN[user], seen),
                (item in before, repeats),
            ):
                if is_fault and policy == "drop":
                    break
                hit = hit and not (is_fault and policy == "miss")
            else:
                hits.append(hit)
            before.add(item)
        ranks = [rank for rank, hit in enumerate(hits[:K], start=1) if hit]
        values["precision"].append(len(ranks) / K)
        values["recall"].append(len(ranks) / len(relevant))
        values["mrr"].append(1 / ranks[0] if ranks else 0)
        ideal = sum(1 / log2(rank + 1) for rank in range(1, min(len(relevant), K) + 1))
        values["ndcg"].append(sum(1 / log2(rank + 1) for rank in ranks) / ideal)
    return {f"{name}_at_{K}": sum(column) / len(column) for name, column in values.items()}


METRICS = ("precision", "recall", "mrr", "ndcg")


@pytest.mark.parametrize("seed", range(3))
def test_every_combination_is_that_of_plain_python(seed: int) -> None:
    lists = random_lists(seed)
    for choice in CHOICES:
        chosen = dict(zip(("unknown", "seen", "repeats", "longest", "no_list"), choice, strict=True))
        result = recgauge.evaluate(lists, TRUTH, train=TRAIN, metrics=METRICS, cutoffs=(K,), **chosen)
        assert result.values() == pytest.approx(judged(lists, **chosen), rel=1e-12), chosen


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files of the lists, the truth and the training rows."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, table: dict[str, list[str]], *, ranked: bool = False) -> None:
        rows = [
            f"{user},{item},{rank}" if ranked else f"{user},{item}"
            for user, items in table.items()
            for rank, item in enumerate(items, start=1)
        ]
        header = "user,item,rank" if ranked else "user,item"
        (tmp_path / name).write_text("\n".join([header, *rows]) + "\n")

    write("lists.csv", random_lists(0), ranked=True)
    write("truth.csv", TRUTH)
    write("train.csv", TRAIN)
    return tmp_path


COMMAND = ["evaluate", "--run", "lists.csv", "--truth", "truth.csv"]
WITH_TRAIN = [*COMMAND, "--train", "train.csv", "--metrics", f"ndcg@{K}"]


def test_faults_are_misses_unless_another_policy_is_named_whose_worth_is_told(folder, capsys) -> None:
    """Two of three listed items cannot hit; without them the third is the first."""
    lists = {"a": ["x1", "i2", "i3"]}
    result = recgauge.evaluate(lists, TRUTH, train=TRAIN, metrics=("mrr",), cutoffs=(3,), no_list="skip")
    assert result.ineligible.sentence == (
        "unknown 1 (33.3%): miss; seen 1 (33.3%): miss; drop instead: mrr@3 +0.6667"
    )
    again = {"unknown": "drop", "seen": "drop", "no_list": "skip"}
    result = recgauge.evaluate(lists, TRUTH, train=TRAIN, metrics=("mrr",), cutoffs=(3,), **again)
    assert result.ineligible.sentence.endswith("miss instead: mrr@3 -0.6667")
    assert main([*WITH_TRAIN, "--out", "out.json"]) == 0
    line = capsys.readouterr().out
    ineligible = json.loads((folder / "out.json").read_text())["runs"]["lists"]["ineligible"]
    expected = [
        judged(random_lists(0), *policies, None, "zero") for policies in (("miss",) * 3, ("drop",) * 3)
    ]
    assert f" {expected[0][f'ndcg_at_{K}']:.4f} ±" in line
    difference = expected[1][f"ndcg_at_{K}"] - expected[0][f"ndcg_at_{K}"]
    assert ineligible["difference"] == pytest.approx(difference)
    assert f"drop instead: ndcg@{K} {difference:+.4f}" in line


@pytest.mark.parametrize(("repeats", "longest"), [(None, None), ("drop", None), ("every", 5), ("drop", 5)])
def test_parts_give_the_number_of_all_at_once(repeats, longest) -> None:
    lists = random_lists(1)
    convention = get_convention("standard").with_policies({"repeats": repeats, "longest": longest})
    task = PartTask(metrics=METRICS, cutoffs=(K,), conventions=convention)
    parts = []
    for user, truth in TRUTH.items():
        rows = lists.get(user, [])
        table = {"user": [user] * len(rows), "item": rows, "rank": list(range(1, len(rows) + 1))}
        types = pa.schema([("user", pa.string()), ("item", pa.string()), ("rank", pa.int64())])
        relevant = pa.table({"user": [user] * len(truth), "item": truth})
        parts.append(task.judge(pa.table(table, types), relevant))
    whole = recgauge.evaluate(lists, TRUTH, metrics=METRICS, cutoffs=(K,), repeats=repeats, longest=longest)
    assert task.merge(parts).values() == whole.values()


def test_policies_of_training_rows_need_them(folder, capsys) -> None:
    assert main([*COMMAND, "--unknown", "drop"]) != 0
    assert "--train FILE" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="pass train"):
        recgauge.evaluate({"a": ["i1"]}, {"a": ["i1"]}, seen="drop")
    with pytest.raises(SchemaError, match="holds an item twice"):
        recgauge.evaluate({"a": ["i1", "i1"]}, {"a": ["i1"]}, repeats="refuse")


def test_ranks_in_the_place_of_scores_are_refused() -> None:
    random, lists = Random(0), {}
    for user in range(12):
        ranks = list(enumerate("abcde", start=1))
        random.shuffle(ranks)
        lists[f"u{user}"] = {item: rank for rank, item in ranks}
    truth = {user: ["a"] for user in lists}
    pairs = [(user, item, rank) for user, own in lists.items() for item, rank in own.items()]
    for given in (lists, pd.DataFrame(pairs, columns=["user", "item", "score"])):
        with pytest.raises(SchemaError, match=r"rising_scores: 12.*keep=\['rising_scores'\]"):
            recgauge.evaluate(given, truth, metrics="mrr", cutoffs=(5,))
        kept = recgauge.evaluate(given, truth, metrics="mrr", cutoffs=(5,), keep=("rising_scores",))
        assert kept.values() == {"mrr_at_5": pytest.approx(0.2)}


def test_made_up_items_are_in_no_catalogue(folder, capsys) -> None:
    """Seven items in training rows and truth, four of them listed; the third list is made up."""
    lists = {"a": ["i3", "i4"], "b": ["i1", "x1"], "c": ["i7", "x2"]}
    rows = [f"{user},{item},{rank}" for user, items in lists.items() for rank, item in enumerate(items, 1)]
    more = [f"d,{item},{rank}" for rank, item in enumerate(("x3", "x4", "x5", "i1"), 1)]
    (folder / "some.csv").write_text("\n".join(["user,item,rank", *rows]) + "\n")
    (folder / "more.csv").write_text("\n".join(["user,item,rank", *rows, *more]) + "\n")
    words = ["--truth", "truth.csv", "--train", "train.csv", "--metrics", "catalog_coverage@2,gini@2"]
    (expected,) = {4 / 7}
    for unknown in ("miss", "drop"):
        for runs in (["some.csv"], ["some.csv", "more.csv"]):
            assert main(["evaluate", "--run", *runs, *words, "--unknown", unknown, "--out", "out.json"]) == 0
            values = json.loads((folder / "out.json").read_text())["runs"]["some"]["values"]
            assert values == pytest.approx({"catalog_coverage_at_2": expected, "gini_at_2": 3 / 7})
    assert main(["evaluate", "--run", "some.csv", *words, "--n-items", "8", "--out", "out.json"]) == 0
    values = json.loads((folder / "out.json").read_text())["runs"]["some"]["values"]
    assert values["catalog_coverage_at_2"] == 4 / 8
    result = recgauge.evaluate(
        lists, TRUTH, train=TRAIN, metrics=("novelty", "personalization"), cutoffs=(2,), longest=2
    )
    assert result.per_user("novelty_at_2")[2] == pytest.approx(2 / 2)  # of four users one knows i7
    assert result.ineligible.counts["unknown"] == 2
