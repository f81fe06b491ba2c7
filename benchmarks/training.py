"""Training models against peers: ML-1M, the first of Surprise's folds.

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
from _measure import save

PEERS = {
    "biased_mf": ("surprise", "cornac"),
    "bias": ("surprise",),
    "svd_pp": ("surprise",),
    "nmf": ("surprise",),
    "slope_one": ("surprise",),
    "item_knn": ("implicit", "irspack"),
    "ease": ("irspack",),
    "slim": ("irspack",),
    "rp3beta": ("irspack",),
    "ials": ("implicit", "irspack"),
    "bpr": ("implicit",),
    "svd": ("sklearn",),
}
EPOCHS = {"biased_mf": 20, "bias": 10, "svd_pp": 3, "nmf": 50, "ials": 16, "bpr": 20}  # others have none
QUALITIES = {"rmse": "RMSE", "mae": "MAE", "ndcg": "nDCG@10"}
FILES = {"ml-1m": "ml-1m/ratings.dat", "ml-100k": "ml-100k/u.data"}


def read(name, folder):
    """Rows (user, item, rating) of a real set, shape (3, n), or None where the archive is absent."""
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


def measure(name, rows, kind, python, repeats):
    """Yield a row for each contestant that can run."""
    n_epochs = EPOCHS.get(kind, 0)
    names = {
        f"{who} {kind} {n}": interpreter
        for who, interpreter in [("recgauge", sys.executable), *((p, python) for p in PEERS[kind] if python)]
        for n in sorted({min(1, n_epochs), n_epochs})
    }
    with tempfile.TemporaryDirectory() as folder:
        n_rows = write(Path(folder), rows)
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
            "goal": "" if who in ("recgauge", "cornac") else 1,
            **{label: round(quality[key], 4) if key in quality else "" for key, label in QUALITIES.items()},
        }


def all_rows(quick, folder, python, kinds):
    """Every row of the table."""
    repeats = 3 if quick else 7
    for name in ("ml-100k",) if quick else ("ml-1m", "ml-100k"):
        rows = read(name, folder)
        if rows is None:
            print(f"{name}: left out, no {name}.zip in --data or RECGAUGE_MIRROR")
            continue
        for kind in kinds:
            yield from measure(name, rows, kind, python, repeats)


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
