"""``recgauge evaluate --conventions trec`` on run files and qrels: the values of trec_eval itself."""

import json

import numpy as np
import pytest

from differential.libraries import library
from recgauge.cli.commands.cli import main

pytestmark = [pytest.mark.differential, pytest.mark.filterwarnings("ignore")]
METRICS = "precision@5,recall@5,recall@20,ndcg@5,ndcg@20,map,mrr"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Lists with ties, ranks that nobody reads, negative grades, and users without lists or judgements."""
    rng, items = np.random.default_rng(7), np.array([f"d{n}" for n in range(40)])
    with (tmp_path / "a.run").open("w") as run, (tmp_path / "t.qrels").open("w") as qrels:
        for user in range(60):
            if user % 11:
                chosen = rng.permutation(items)[: rng.integers(1, 30)]
                scores = np.sort(rng.integers(0, 8, len(chosen)))[::-1]
                for rank, (item, score) in enumerate(zip(chosen, scores, strict=True), 1):
                    run.write(f"{user}\tQ0 {item}  {rank} {score} mine\n")
            if user % 7:
                for item in rng.permutation(items)[:12]:
                    qrels.write(f"{user} 0 {item} {rng.integers(-2, 4)}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_values_are_those_of_trec_eval(files):
    ir = library("ir_measures")
    words = ["--run", "a.run", "--truth", "t.qrels", "--conventions", "trec", "--metrics", METRICS]
    assert main(["evaluate", *words, "--out", "o.json"]) == 0
    ours = json.loads((files / "o.json").read_text())["runs"]["mine"]["values"]
    theirs = {
        "precision_at_5": ir.P @ 5,
        "recall_at_5": ir.R @ 5,
        "recall_at_20": ir.R @ 20,
        "ndcg_at_5": ir.nDCG @ 5,
        "ndcg_at_20": ir.nDCG @ 20,
        "map": ir.AP,
        "mrr": ir.RR,
    }
    run, qrels = ir.read_trec_run("a.run"), ir.read_trec_qrels("t.qrels")
    values = ir.calc_aggregate(list(theirs.values()), qrels, run)
    assert ours == pytest.approx({key: float(values[measure]) for key, measure in theirs.items()}, abs=1e-9)
