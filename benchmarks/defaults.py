"""Compare each model's default settings with those of a short search, on three data sets.

RECGAUGE_MIRROR=FOLDER python benchmarks/defaults.py [model ...]

Writes results/defaults.json; with names of models only their rows. What is chosen by validation rows is
trained on train and validation rows, as are the defaults, and measured once on test rows.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from _measure import HERE, save
from omegaconf import OmegaConf

import recgauge.models
from recgauge import (
    MovieLens,
    RandomRows,
    Relevant,
    evaluate,
    evaluate_ratings,
    predict_ratings,
    recommend,
    stream,
)
from recgauge.errors import ConfigError, FitError
from recgauge.filters.rows import SampleUsers
from recgauge.models import RatingPredictor
from recgauge.search import Search
from recgauge.search.space import parse_space
from recgauge.search.trials import best, run_search

CONF = HERE.parent / "conf"
SETS = {"ml_latest_small": None, "ml_100k": None, "ml_1m": 2_000}  # users drawn, None: all
LISTS = ("item_knn", "user_knn", "p3alpha", "rp3beta", "ease", "slim", "svd", "ials", "bpr")
RATINGS = ("bias", "biased_mf", "svd_pp", "knn_basic", "knn_means", "knn_baseline")
MODELS = (*LISTS, *RATINGS)
TRIALS = 10
LONG = {
    ("ease", "ml_latest_small"),
    ("slim", "ml_latest_small"),
    ("slim", "ml_1m"),
    ("bpr", "ml_1m"),
}  # left out: slow


def main():
    """Measure and save; rows of models that are not named stay."""
    file = HERE / "results" / "defaults.json"
    known = {row["model"]: row for row in json.loads(file.read_text())["rows"]} if file.exists() else {}
    known |= {model: row(model) for model in sys.argv[1:] or MODELS}
    del sys.argv[1:]  # what is saved is the command that makes all rows
    save("defaults", [known[model] for model in MODELS if model in known], quick=False)


def row(model):
    """One line of the table: values of default and tuned settings on each set."""
    cells = {"model": model, "metric": "RMSE" if model in RATINGS else "nDCG@10"}
    for name in SETS:
        if (model, name) in LONG:
            continue
        split, chosen = splits(name), tuned(model, splits(name))
        values = [on_test(build(model, settings), split) for settings in (defaults(model), chosen.settings)]
        cells |= {f"{name} default": round(values[0], 4), f"{name} tuned": round(values[1], 4)}
        print(model, name, *values, chosen.words, file=sys.stderr, flush=True)
    return cells


def splits(name, known={}):  # noqa: B006 - made once
    """Train, validation and test rows of a set."""
    if name not in known:
        data = MovieLens(name, mirror=os.environ.get("RECGAUGE_MIRROR")).load()
        if SETS[name] is not None:
            data = SampleUsers(SETS[name]).apply(data, rng=stream(0, "sample"))
        known[name] = RandomRows(test_size=0.1, validation_size=0.1).split(
            data.interactions, rng=stream(0, "split")
        )
    return known[name]


def read(group, name):
    """Read conf/<group>/<name>.yaml, with what it is based on."""
    plain = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{name}.yaml"))
    base = {}
    for other in plain.pop("defaults", ()):
        base |= read(group, other) if other != "_self_" else {}
    return base | plain


def defaults(model):
    """Return the default of each setting that is searched."""
    settings = read("model", model)
    return {name: settings[name] for name in read("search", model)}


def build(model, settings):
    """Make the model with its other settings at their defaults."""
    plain = read("model", model) | settings
    kind = getattr(recgauge.models, plain.pop("_target_").rpartition(".")[2])
    try:
        return kind(**plain)
    except ConfigError as error:  # settings that only together are not possible
        raise FitError(str(error)) from error


def tuned(model, split):
    """Search by validation rows, beginning with the default, and return the best trial."""
    space = parse_space(read("search", model))
    by_rmse = model in RATINGS
    held_out = split.on_validation()

    def measure(settings, _report):
        return value(build(model, settings), held_out.train, held_out.test, by_rmse)

    with tempfile.TemporaryDirectory() as folder:
        search = Search(trials=TRIALS, prune=False)
        trials = run_search(
            search, space, measure, Path(folder) / "trials.json", maximize=not by_rmse, first=defaults(model)
        )
    return best(trials, maximize=not by_rmse)


def on_test(model, split):
    """Train on all other rows and return the value on test rows."""
    whole = split.with_validation_in_train()
    return value(model, whole.train, whole.test, isinstance(model, RatingPredictor))


def value(model, train, held_out, by_rmse):
    """Train and measure: nDCG@10 of ratings from 4 on, or RMSE."""
    model.fit(train, rng=stream(0, "fit"))
    if by_rmse:
        scale = (train.value.min(), train.value.max())
        predictions = predict_ratings(model, held_out, scale)
        result = evaluate_ratings(held_out.value, predictions.predicted, metrics=("rmse",))
    else:
        relevant = Relevant.from_interactions(held_out, relevant_from=4)
        lists = recommend(model, relevant.users, 10, excluded=train.to_csr())
        result = evaluate(lists, relevant, metrics=("ndcg",), cutoffs=(10,))
    return next(iter(result.values().values()))


if __name__ == "__main__":
    main()
