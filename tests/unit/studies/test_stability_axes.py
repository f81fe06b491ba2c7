"""The choices that stored runs show, and the order of models along them."""

from dataclasses import replace

import numpy as np
import pytest

from recgauge.comparison.stability_axes import stability_of
from recgauge.errors import DataError
from recgauge.evaluation.evaluate import evaluate
from recgauge.runs.finished import FinishedRun
from recgauge.runs.record import PartFacts, SplitFacts
from records import NAMES, metric, record_with

KS, N_USERS = (1, 5), 40
SETTINGS = {
    "dataset": {"name": "d", "relevant_from": 4, "path": "here"},
    "split": {"_target_": "s", "test_size": 0.2, "fold": None},
    "candidates": {"_target_": "c"},
    "metrics": {"ndcg": "ndcg", "recall": "recall"},
    "conventions": {"name": "standard"},
    "ties": None,
}


def stored(folder, model, skill, seed=0, *, candidates="all"):
    """A run whose model gives each place to one of the user's items with probability `skill`."""
    rng = np.random.default_rng(seed)
    draws = np.random.default_rng([seed, len(model)])
    lists_of = {}
    for user in range(N_USERS):
        good = rng.permutation(6)
        lists_of[user] = [int(i) if draws.random() < skill else 10 + int(i) for i in good[:5]]
    truth = {u: {i: 3 + i % 3 for i in range(6) if i % 3} for u in range(N_USERS)}
    result = evaluate(lists_of, truth, metrics=("ndcg", "recall"), cutoffs=KS)
    folder = folder / f"{model}-{seed}-{candidates}"
    folder.mkdir(parents=True)
    result.to_frame().rename_axis("user_id").reset_index().to_parquet(folder / "per_user.parquet")
    record = record_with(
        *(metric(one.name, one.k, one.value) for one in result.results),
        names=NAMES | {"model": model, "candidates": candidates},
        seed=seed,
        settings=SETTINGS | {"model": {}},
    )
    return FinishedRun(record, folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    skills = {"poor": 0.2, "fair": 0.5, "good": 0.9}
    return [
        stored(folder, model, skill, seed, candidates=candidates)
        for seed, candidates in ((0, "all"), (1, "all"), (0, "sampled"), (1, "sampled"))
        for model, skill in skills.items()
    ]


def test_runs_show_their_choices(runs):
    stability = stability_of(runs)
    axes = {axis.axis: axis for axis in stability.axes}
    assert list(axes) == ["metric", "cutoff", "candidates", "seed"]
    assert axes["metric"].options == ("ndcg@5", "recall@5")
    assert axes["cutoff"].options == ("5", "1")
    assert axes["seed"].options == ("0", "1")
    assert axes["candidates"].options == ("all", "sampled")
    assert all(axis.models == ("poor", "fair", "good") for axis in stability.axes)
    assert axes["seed"].winner("1") == "good"
    values = [run.record.values()["ndcg_at_5"] for run in runs[:3]]
    assert axes["metric"].values[0] == pytest.approx(values)
    assert any("3 runs differ from the reference in several choices" in note for note in stability.notes)


def test_models_measured_on_other_rows_are_refused(tmp_path):
    one, other = stored(tmp_path, "a", 0.2), stored(tmp_path, "b", 0.9)
    rows = SplitFacts(PartFacts(1, 1, "a"), PartFacts(1, 1, "other"))
    moved = FinishedRun(replace(other.record, split=rows), other.folder)
    with pytest.raises(DataError, match="other test rows"):
        stability_of([one, moved])
