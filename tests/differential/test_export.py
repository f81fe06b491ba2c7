"""Files of ``recgauge export``, read and evaluated by other tools themselves: their values are ours.

The lists have ties, are partly short, and some users have no list or nothing relevant. `make differential`
installs the libraries and makes RecBole's environment; elsewhere the tests are skipped.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recgauge
from differential.libraries import library
from finished import finished
from recgauge.cli.commands.cli import main
from recgauge.errors import ConfigError
from recgauge.isolated.process import WORKERS, find_uv
from recgauge.recorded import read_recorded

pytestmark = [pytest.mark.differential, pytest.mark.filterwarnings("ignore")]
CUTOFFS = (1, 3, 5, 10, 20)
MODELS = ("popularity", "svd")


@pytest.fixture(scope="module", params=MODELS)
def exported(request, tmp_path_factory):
    """A folder with a run of the demo set in every format; a fifth of its lists are cut or left out."""
    library("ranx")
    folder = tmp_path_factory.mktemp("export")
    run = finished(folder, request.param, "metrics=[ranking]", "cutoffs=[20]", "figures=false")
    lists, rng = pd.read_parquet(run / "recommendations.parquet"), np.random.default_rng(0)
    users = lists["user_id"].unique()
    some = rng.choice(users, len(users) // 5, replace=False)
    longest = dict.fromkeys(users, 20) | dict(zip(some, rng.integers(0, 20, len(some)), strict=True))
    kept = lists[lists["rank"] <= lists["user_id"].map(longest)]
    kept.to_parquet(run / "recommendations.parquet", index=False)
    sizes = kept.groupby("user_id").size()
    assert len(sizes) < len(users) < 1000  # some have no list, others nothing relevant
    assert sizes.min() < 10 < sizes.max()
    words = ["--as", "trec", "csv", "recbole", "--out", str(folder / "x")]
    assert main(["export", str(run), *words]) == 0
    words = ["--as", "trec", "--scores", "model", "--out", str(folder / "x" / "ties")]
    assert main(["export", str(run), *words]) == 0
    return folder / "x"


def ours(folder, convention, keys, files=("lists.csv", "test.csv")):
    """Our means under a convention by key, from exported files."""
    found = read_recorded([str(folder / files[0])], [str(folder / files[1])])
    names = sorted({key.partition("@")[0] for key in keys})
    cutoffs = [k for k in CUTOFFS if any(key.endswith(f"@{k}") for key in keys)]
    lists = found.runs[0].lists
    values = recgauge.evaluate(
        lists, found.relevant, metrics=names, cutoffs=cutoffs, conventions=convention
    ).values()
    return {key: values[key.replace("@", "_at_")] for key in keys}


def at_k(names):
    return {f"{name}@{k}": (theirs, k) for name, theirs in names.items() for k in CUTOFFS}


def agree(folder, convention, theirs, **files):
    assert ours(folder, convention, theirs, **files) == pytest.approx(theirs, abs=1e-9)
    assert len(set(theirs.values())) > len(theirs) / 2


RANX = {"precision": "precision", "recall": "recall", "f1": "f1", "hit_rate": "hit_rate", "mrr": "mrr",
        "map": "map", "ndcg": "ndcg"}  # fmt: skip


TREC = ("lists.trec", "test.qrels")


def test_ranx(exported):
    ranx = library("ranx")
    run = ranx.Run.from_file(f"{exported}/{TREC[0]}", kind="trec")
    qrels = ranx.Qrels.from_file(f"{exported}/{TREC[1]}", kind="trec")
    asked = {key: f"{theirs}@{k}" for key, (theirs, k) in at_k(RANX).items()}
    values = ranx.evaluate(qrels, run, list(asked.values()), make_comparable=True)
    agree(exported, "ranx", {key: float(values[name]) for key, name in asked.items()}, files=TREC)


@pytest.mark.parametrize("scores", ["rank", "model"])
def test_trec_eval(exported, scores):
    """With the model's scores trec_eval orders ties by falling id, as text, and so do we."""
    exported /= "" if scores == "rank" else "ties"
    ir = library("ir_measures")
    names = {"precision": ir.P, "recall": ir.R, "hit_rate": ir.Success, "map": ir.AP, "ndcg": ir.nDCG}
    asked = {key: measure @ k for key, (measure, k) in at_k(names).items()}
    run, qrels = ir.read_trec_run(f"{exported}/{TREC[0]}"), ir.read_trec_qrels(f"{exported}/{TREC[1]}")
    values = ir.calc_aggregate(list(asked.values()), qrels, run)
    theirs = {key: float(values[measure]) for key, measure in asked.items()}
    agree(exported, "trec", theirs, files=TREC)


def test_rectools(exported):
    library("rectools")
    from rectools import Columns, metrics

    names = {"user_id": Columns.User, "item_id": Columns.Item, "rank": Columns.Rank}
    reco = pd.read_csv(exported / "lists.csv").rename(columns=names)
    truth = pd.read_csv(exported / "test.csv").query("grade > 0").rename(columns=names)
    made = {"precision": metrics.Precision, "recall": metrics.Recall, "f1": metrics.F1Beta,
            "hit_rate": metrics.HitRate, "mrr": metrics.MRR, "map": metrics.MAP,
            "ndcg": metrics.NDCG}  # fmt: skip
    asked = {key: metric(k=k) for key, (metric, k) in at_k(made).items()}
    values = metrics.calc_metrics(asked, reco=reco, interactions=truth)
    agree(exported, "rectools", {key: float(value) for key, value in values.items()})


RECBOLE = {"recall": "recall", "precision": "precision", "hit_rate": "hit", "mrr": "mrr", "map": "map",
           "ndcg": "ndcg"}  # fmt: skip


def test_recbole(exported, tmp_path):
    script = WORKERS / "train_recbole.py"
    try:
        uv = find_uv()
        subprocess.run([uv, "sync", "--quiet", "--script", script], check=True)
    except (ConfigError, subprocess.CalledProcessError) as error:
        if os.environ.get("RECGAUGE_REQUIRE_PEERS") == "1":
            raise
        pytest.skip(str(error))
    find = [uv, "python", "find", "--script", script]
    python = subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
    worker = Path(__file__).parent / "recbole_worker.py"
    words = [python, str(worker), str(exported), "demo", ",".join(map(str, CUTOFFS))]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    values = json.loads(done.stdout.splitlines()[-1])
    agree(exported, "recbole", {key: values[f"{name}@{k}"] for key, (name, k) in at_k(RECBOLE).items()})
