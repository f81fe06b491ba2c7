"""Prints digests of data, splits, candidates, lists and values on the demo data set, one process a machine.

`test_every_machine.py` starts it under several settings of the processor and compares what it prints.
"""

import hashlib
import json
import sys

import numpy as np
from omegaconf import OmegaConf

from finished import experiment_of
from recgauge.experiment import run_experiment
from recgauge.models import RatingPredictor, Recommender
from recgauge.models.recommend import recommend
from recgauge.sweeps.places import conf_folder
from recgauge.utils.randomness import stream

ELSEWHERE = {"adapters", "isolated", "recorded"}
NEEDS_FILES = {"published", "allow_list", "sampled_file"}


def options(group):
    files = (conf_folder() / group).glob("*.yaml")
    # models of other libraries are theirs to keep the same
    own = (path.stem for path in files if not ELSEWHERE & set(target(path).split(".")))
    return sorted(set(own) - NEEDS_FILES)


def target(path):
    return OmegaConf.load(path).get("_target_", "")


def digest(*arrays):
    found = hashlib.sha256()
    for array in arrays:
        if array is not None:
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def split_digests(rows):
    found = {}
    for option in options("split"):
        extra = ["split.test_from=2022-03-01"] if option == "temporal_date" else []
        parts = experiment_of(f"split={option}", *extra).splitter.split(rows, rng=stream(0, "split"))
        digests = [part.sha256() for part in (parts.train, parts.validation, parts.test) if part is not None]
        found[option] = digest(*(np.array(text) for text in digests))
    return found


def candidate_digests(rows):
    split = experiment_of().splitter.split(rows, rng=stream(0, "split"))
    found = {}
    for option in options("candidates"):
        chosen = experiment_of(f"candidates={option}").candidates.choose(split, rng=stream(0, "candidates"))
        per_user = chosen.per_user
        own = () if per_user is None else (per_user.indptr, per_user.indices)
        found[option] = digest(chosen.items, *own)
    return found


def run(model):
    """Fit and evaluate one model; lists of all numbers of threads must be the same."""
    kind = experiment_of(f"model={model}", "metrics=[]").model
    suites = ["ranking", "beyond_accuracy"] if isinstance(kind, Recommender) else []
    suites += ["rating"] if isinstance(kind, RatingPredictor) else []
    chosen = experiment_of(f"model={model}", f"metrics=[{','.join(suites)}]")
    result = run_experiment(chosen)
    lists = {}
    if result.ranking is not None:
        top_k, seen = result.ranking.top_k, result.split.train.to_csr()
        lists["run"] = digest(top_k.items)
        for n_threads in (1, 2):
            again = recommend(chosen.model, top_k.users, 20, excluded=seen, n_threads=n_threads)
            lists[f"{n_threads} threads"] = digest(again.items)
    values = {entry.key: entry.value for done in result.evaluations for entry in done.results}
    return {"lists": lists, "values": values}


if __name__ == "__main__":
    rows = experiment_of().dataset.load().interactions
    digests = {
        "data": rows.sha256(),
        "splits": split_digests(rows),
        "candidates": candidate_digests(rows),
        "models": {model: run(model) for model in options("model")},
    }
    sys.stdout.write(json.dumps(digests))
