"""Training models against peers: ML-1M, ML-100K, and a generated set of ML-20M's shape.

    python benchmarks/training.py [--quick] [--data FOLDER] [--peers PYTHON] [--models NAME ...]

FOLDER holds ml-1m.zip and ml-100k.zip (or set RECGAUGE_MIRROR). Every contestant is a process of its own that
trains with the same settings on the same rows, those of ratings with Surprise's defaults; runs are taken in
turn, and CPU seconds compared: some train on one thread, some on all. An epoch's time is that of a whole
training less that of one with a single epoch, over the epochs between: what is done once, such as drawing
factors or sorting rows, is in the whole training's time only. Models without epochs are compared by whole
trainings. Quality: RMSE and MAE of the test rows, or nDCG@10 with every test row relevant.
PYTHON is the interpreter of an environment with the peers (see README.md).
"""

import argparse
import os
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from _contestant import compete
from _factors import generate
from _measure import save

RATINGS = {
    "biased_mf": ("surprise", "cornac"),
    "bias": ("surprise",),
    "svd_pp": ("surprise",),
}
LISTS = {
    "item_knn": ("implicit", "irspack"),
    "ease": ("irspack", "lapack"),
    "slim": ("irspack",),
    "rp3beta": ("irspack",),
    "ials": ("irspack",),
    "ials_nu_0": ("implicit",),
    "bpr": ("implicit",),
}
PEERS = RATINGS | LISTS | {"svd": ("scipy", "sklearn")}
EPOCHS = {
    "biased_mf": 20,
    "bias": 10,
    "svd_pp": 5,
    "ials": 16,
    "ials_nu_0": 16,
    "bpr": 20,
}  # others have none
PLANS = {  # what is trained on which set, and how often
    "ml-1m": (("biased_mf", "bias", *LISTS), 3),
    "ml-100k": (tuple(RATINGS), 3),
    "generated ml-20m": (("svd",), 1),
}
NO_GOAL = ("recgauge", "cornac")
LAPACK = 1 / 1.3  # of our time: what the inversion alone may take
QUALITIES = {"rmse": "RMSE", "mae": "MAE", "ndcg": "nDCG@10"}
FILES = {"ml-1m": "ml-1m/ratings.dat", "ml-100k": "ml-100k/u.data"}


def read(name, folder):
    """Rows (user, item, rating) of a set, shape (3, n), or None where the archive is absent."""
    if name == "generated ml-20m":
        matrix = generate("ml-20m").tocoo()
        return np.stack([*matrix.coords, matrix.data]).astype(np.float32)
    path = Path(folder) / f"{name}.zip" if folder else None
    if path is None or not path.exists():
        return None
    with zipfile.ZipFile(path) as archive:
        words = archive.read(FILES[name]).replace(b"::", b" ").split()
    columns = np.array(words, np.int64).reshape(-1, 4).T
    codes = [np.unique(column, return_inverse=True)[1] for column in columns[:2]]
    return np.stack([*codes, columns[2]]).astype(np.float64)


def write(folder, rows):
    """Write the first of Surprise's five folds as test part, the rest as training part."""
    order = np.arange(rows.shape[1])
    np.random.RandomState(0).shuffle(order)
    held_out = np.zeros(len(order), bool)
    held_out[np.array_split(order, 5)[0]] = True
    np.save(folder / "train.npy", rows[:, ~held_out])
    np.save(folder / "test.npy", rows[:, held_out])
    return int((~held_out).sum())


def per_epoch(whole, single, n_epochs):
    """Wall and CPU seconds of an epoch, from those of a whole training and of one with a single epoch."""
    return tuple((a - b) / max(1, n_epochs - 1) for a, b in zip(whole, single, strict=True))


def goal(who):
    """Least CPU time in ours that meets the goal."""
    return "" if who in NO_GOAL else LAPACK if who == "lapack" else 1


def measure(name, folder, n_rows, kind, python, repeats):
    """Yield a row for each contestant that can run."""
    n_epochs = EPOCHS.get(kind, 0)
    names = {
        f"{who} {kind} {n}": interpreter
        for who, interpreter in [("recgauge", sys.executable), *((p, python) for p in PEERS[kind] if python)]
        for n in sorted({min(1, n_epochs), n_epochs})
    }
    contestants, values = compete("_train_peer.py", names, folder, repeats)
    found = {c.name: c.medians() for c in contestants}
    whos = dict.fromkeys(label.split()[0] for label in found)
    whole = {who: found[f"{who} {kind} {n_epochs}"] for who in whos}
    step = whole  # trainings without epochs count as one
    if n_epochs:
        step = {who: per_epoch(whole[who], found[f"{who} {kind} 1"], n_epochs) for who in whos}
    for who in whos:
        quality = values[f"{who} {kind} {n_epochs}"]
        yield {
            "what": f"{kind}, {name}, {n_rows:,} ratings",
            "who": who,
            "epochs": n_epochs,
            "training s": whole[who][0],
            "epoch s": step[who][0],
            "epoch cpu s": step[who][1],
            "times ours": step[who][0] / step["recgauge"][0],
            "cpu times ours": step[who][1] / step["recgauge"][1],
            "goal": goal(who),
            **{label: round(quality[key], 4) if key in quality else "" for key, label in QUALITIES.items()},
        }


def all_rows(quick, folder, python, kinds):
    """Every row of the table."""
    plans = {"ml-100k": (tuple(RATINGS | LISTS), 3)} if quick else PLANS
    for name, (planned, repeats) in plans.items():
        chosen = [kind for kind in planned if kind in kinds]
        rows = read(name, folder) if chosen else None
        if rows is None:
            print(f"{name}: left out" + (f", no {name}.zip in --data or RECGAUGE_MIRROR" if chosen else ""))
            continue
        with tempfile.TemporaryDirectory() as written:
            n_rows = write(Path(written), rows)
            for kind in chosen:
                yield from measure(name, written, n_rows, kind, python, repeats)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="ML-100K alone")
    parser.add_argument("--data", default=os.environ.get("RECGAUGE_MIRROR"), help="folder of real archives")
    parser.add_argument("--peers", default=os.environ.get("RECGAUGE_PEERS"), help="python of the peers")
    parser.add_argument("--models", nargs="+", choices=PEERS, default=list(PEERS), help="only these")
    options = parser.parse_args()
    if not options.peers:
        print("peers left out: no --peers or RECGAUGE_PEERS")
    rows = all_rows(options.quick, options.data, options.peers, options.models)
    save("training", rows, options.quick)
