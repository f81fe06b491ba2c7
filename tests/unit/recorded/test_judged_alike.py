"""The same lists and the same split: `recgauge evaluate` and model=recorded give equal numbers."""

import json
from dataclasses import asdict
from itertools import product
from pathlib import Path
from random import Random

import pytest

import recgauge
from recgauge import AllItems, run_experiment
from recgauge.cli.commands.cli import main
from recgauge.conventions import get_convention
from recgauge.datasets import Table
from recgauge.errors import ConfigError, RecgaugeError
from recgauge.experiment import Experiment
from recgauge.models import Recorded
from recgauge.runs.finished import FinishedRun
from recgauge.splits import Published

K = (1, 4)
METRICS = ("precision", "recall", "mrr", "map", "ndcg", "list_auc")
OF_LISTS = ("catalog_coverage", "popularity", "limited_auc")
CHOICES = list(
    product(("miss", "drop"), ("miss", "drop", "hit"), ("miss", "drop", "every"), (None, 6), ("zero", "skip"))
)
NAMES = ("unknown", "seen", "repeats", "longest", "no_list")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Data of 30 users and 20 items, split, and lists with every fault; some users have none."""
    monkeypatch.chdir(tmp_path)
    random = Random(7)
    rows = {"train": ["user,item"], "test": ["user,item"]}
    lists = ["user,item,rank"]
    for user in range(30):
        items = random.sample(range(20), 9)
        for part, own in (("train", items[:4]), ("test", items[4:])):
            rows[part] += [f"u{user},i{item}" for item in own]
        if user % 7 == 3:
            continue
        listed = [f"i{item}" for item in random.choices(range(20), k=random.randint(4, 9))]
        for place in random.sample(range(len(listed)), random.randint(0, 3)):
            listed[place] = f"made up {random.randint(1, 3)}"
        if user == 5:
            listed = ["made up 1"] * 5  # of which nothing is left
        lists += [f"u{user},{item},{rank}" for rank, item in enumerate(listed, start=1)]
    rows["all"] = [*rows["train"], *rows["test"][1:]]
    for name, lines in (*rows.items(), ("lists", lists)):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def by_command(*words: str) -> dict[str, float]:
    """Return the values, and the counts and the worth of policies, of `recgauge evaluate`."""
    keys = [(name, k) for name in (*METRICS, *OF_LISTS) for k in K if (name, k) != ("list_auc", 1)]
    names = ",".join(f"{name}@{k}" for name, k in keys)
    command = ["evaluate", "--run", "lists.csv", "--truth", "test.csv", "--train", "train.csv"]
    assert main([*command, "--metrics", names, "--out", "out.json", *words]) == 0
    (run,) = json.loads(Path("out.json").read_text())["runs"].values()
    return run["values"], run["ineligible"]


def in_run(chosen, conventions="standard", **settings):
    """Return the result of a run on the same files."""
    convention = get_convention(conventions).with_policies(chosen)
    experiment = Experiment(
        Table("all.csv"),
        Published(test="test.csv"),
        candidates=AllItems(),
        model=Recorded("lists.csv", **settings),
        metrics={name: convention.definition(name) for name in (*METRICS, *OF_LISTS)},
        cutoffs=K,
        policies=convention.policies,
        usual=convention.for_ineligible(chosen),
    )
    return run_experiment(experiment)


@pytest.mark.parametrize("choice", CHOICES[::5])
def test_numbers_are_equal_to_the_last_bit(folder, choice) -> None:
    chosen = dict(zip(NAMES, choice, strict=True))
    words = [f"--{name.replace('_', '-')}={value}" for name, value in chosen.items() if value is not None]
    values, ineligible = by_command(*words)
    evaluation = in_run(chosen).ranking.evaluation
    assert {key: evaluation.values()[key] for key in values} == values
    assert asdict(evaluation.ineligible) == ineligible


@pytest.mark.parametrize("conventions", ["standard", "recbole", "irspack"])
def test_what_is_left_out_is_what_the_convention_says(folder, conventions) -> None:
    values, ineligible = by_command("--conventions", conventions)
    evaluation = in_run({}, conventions).ranking.evaluation
    assert {key: evaluation.values()[key] for key in values} == values
    assert evaluation.ineligible.policies == ineligible["policies"]


def run_in(folder, name: str, *words: str) -> FinishedRun:
    """Run the recorded lists, and return the finished run."""
    settings = ["dataset=table", "dataset.path=all.csv", "split=published", "split.test=test.csv"]
    settings += ["metrics=[ndcg,recall]", "cutoffs=[1,4]", "tracking=off", f"hydra.run.dir={folder / name}"]
    model = (
        [] if any(word.startswith("model=") for word in words) else ["model=recorded", "model.path=lists.csv"]
    )
    recgauge.run(*settings, *model, *words)
    return FinishedRun.read(folder / name)


def test_stored_lists_keep_the_places_that_hit_nothing(folder) -> None:
    for name, words in {
        "miss": (),
        "drop": ("unknown=drop", "seen=drop", "repeats=drop", "no_list=skip"),
        "every": ("repeats=every", "unknown=drop"),
    }.items():
        run = run_in(folder, name, *words)
        assert run.record.ineligible is not None
        assert run.record.list_order == "rank, rising (rank)"
        convention = get_convention("standard").with_policies(
            {key: run.record.settings[key] for key in ("repeats", "no_list")}
        )
        suite = {key: convention.definition(key) for key in ("ndcg", "recall")}
        inputs = run.lists().inputs(None)
        again = inputs.evaluate(suite, cutoffs=K, policies=convention.policies)
        assert again.values() == pytest.approx(run.numbers, rel=1e-12)


def test_runs_of_other_policies_are_not_compared(folder) -> None:
    miss, drop = run_in(folder, "miss"), run_in(folder, "drop", "unknown=drop")
    svd = run_in(folder, "svd", "model=popularity")
    recgauge.compare({"lists": miss, "popularity": svd}, metrics=["ndcg@4"])
    with pytest.raises(ConfigError, match=r"unknown: none .lists.; drop"):
        recgauge.compare({"lists": miss, "dropped": drop}, metrics=["ndcg@4"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["longest=3"], "longest=3"),
        (["model.refuse=[unknown_items]", "unknown=drop"], "unknown_items are refused"),
        (["model.refuse=[repeats]"], "repeats: "),
        (["repeats=refuse"], "holds an item twice"),
        (["seen=drop", "candidates.seen=none"], "candidates.seen=none"),
        (["unknown=hit"], "miss, drop"),
    ],
)
def test_policies_that_contradict_each_other_stop_a_run(folder, words, message) -> None:
    with pytest.raises(RecgaugeError, match=message):
        run_in(folder, "odd", *words)


def test_seen_items_are_named_by_the_user_under_any_convention(folder) -> None:
    seen = (folder / "train.csv").read_text()
    (folder / "test.csv").write_text(
        f"{seen.rstrip()}\n{seen.splitlines()[-1].partition(',')[0]},new\n"
    )  # all hits are seen
    command = ["evaluate", "--run", "lists.csv", "--truth", "test.csv", "--train", "train.csv"]
    for policy, is_hit in (("miss", False), ("hit", True)):
        words = ["--conventions", "recbole", "--metrics", "recall@4", "--seen", policy, "--out", "out.json"]
        assert main([*command, *words]) == 0
        (run,) = json.loads(Path("out.json").read_text())["runs"].values()
        assert (run["values"]["recall_at_4"] > 0) == is_hit
