"""Lists of RecBole, LensKit and RecTools as their own pages make them; run by their environments' Python.

``python called_directly.py LIBRARY FOLDER`` reads rows.npz (user, item, value, timestamp), users.npy and
job.json (name, settings, seed, k) in the folder and writes lists.npy, shape (m, k), -1 where a list is short.
Items that a user has in the rows are left out by the library's own means. RecTools' transformers also read
history.npz, the rows that they see when they make lists, and write scores.npy.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np


def recbole(rows, users, job):
    """Follow RecBole's quick start up to its trained model, and its masking of seen items."""
    import torch
    from recbole.config import Config
    from recbole.data import create_dataset
    from recbole.data.interaction import Interaction
    from recbole.data.utils import create_samplers, get_dataloader
    from recbole.utils import get_model, get_trainer, init_logger, init_seed

    torch.set_num_threads(1)
    Path("all").mkdir()
    with Path("all/all.inter").open("w") as file:
        file.write("user_id:token\titem_id:token\trating:float\ttimestamp:float\n")
        for row in zip(rows["user"], rows["item"], rows["value"], rows["timestamp"], strict=True):
            file.write("\t".join(map(str, row)) + "\n")
    sys.argv = ["x"]
    settings = {
        "data_path": ".",
        "use_gpu": False,
        "seed": job["seed"],
        "show_progress": False,
        "eval_args": {"split": {"RS": [1, 0, 0]}, "group_by": None, "order": "RO", "mode": "full"},
        "load_col": {"inter": ["user_id", "item_id", "rating", "timestamp"]},
    }
    config = Config(job["name"], "all", config_dict={**settings, **job["settings"]})
    init_seed(config["seed"], config["reproducibility"])
    init_logger(config)
    dataset = create_dataset(config)
    parts = dataset.build()
    sampler = create_samplers(config, dataset, parts)[0]
    train = get_dataloader(config, "train")(config, parts[0], sampler, shuffle=config["shuffle"])
    init_seed(config["seed"], config["reproducibility"])
    model = get_model(config["model"])(config, train._dataset)
    trainer = get_trainer(config["MODEL_TYPE"], config["model"])(config, model)
    trainer.fit(train, saved=False, show_progress=False)
    model.eval()
    lists = np.full((len(users), job["k"]), -1)
    for row, user in enumerate(users):
        code = dataset.token2id("user_id", str(user))
        scores = model.full_sort_predict(Interaction({"user_id": torch.tensor([code])})).flatten().detach()
        scores[0] = -torch.inf
        scores[parts[0].inter_feat["item_id"][parts[0].inter_feat["user_id"] == code]] = -torch.inf
        best = torch.topk(scores, job["k"]).indices
        lists[row] = dataset.id2token("item_id", best).astype(int)
    return lists


def lenskit(rows, users, job):
    """Follow LensKit's getting started."""
    import pandas as pd
    from lenskit import recommend, topn_pipeline
    from lenskit.data import from_interactions_df
    from lenskit.knn import ItemKNNScorer

    table = pd.DataFrame({"user_id": rows["user"], "item_id": rows["item"], "rating": rows["value"]})
    pipeline = topn_pipeline(ItemKNNScorer(**job["settings"]))
    pipeline.train(from_interactions_df(table))
    lists = np.full((len(users), job["k"]), -1)
    for row, user in enumerate(users):
        best = recommend(pipeline, int(user), job["k"]).ids()
        lists[row, : len(best)] = best
    return lists


def rectools(rows, users, job):
    """Follow RecTools' quick start."""
    if job["name"] != "PureSVD":
        return transformer(rows, users, job)
    import pandas as pd
    from rectools.dataset import Dataset
    from rectools.models import PureSVDModel

    table = pd.DataFrame({"user_id": rows["user"], "item_id": rows["item"], "weight": rows["value"]})
    table["datetime"] = pd.to_datetime(rows["timestamp"], unit="s")
    dataset = Dataset.construct(table)
    model = PureSVDModel(**job["settings"], random_state=job["seed"]).fit(dataset)
    found = model.recommend(users, dataset, k=job["k"], filter_viewed=True)
    return found.sort_values(["user_id", "rank"])["item_id"].to_numpy().reshape(len(users), job["k"])


def transformer(rows, users, job):
    """Follow RecTools' tutorial of transformers."""
    import pandas as pd
    from pytorch_lightning import seed_everything
    from rectools import models
    from rectools.dataset import Dataset

    def dataset(rows):
        table = pd.DataFrame({"user_id": rows["user"], "item_id": rows["item"], "weight": 1})
        return Dataset.construct(table.assign(datetime=pd.to_datetime(rows["timestamp"], unit="s")))

    seed_everything(job["seed"], workers=True)
    model = getattr(models, f"{job['name']}Model")(**job["settings"], deterministic=True)
    model.fit(dataset(rows))
    history = dataset(np.load("history.npz"))
    found = model.recommend(users, history, k=job["k"], filter_viewed=True, on_unsupported_targets="ignore")
    scores = found.pivot(index="user_id", columns="rank", values="score").reindex(users)
    np.save("scores.npy", scores.to_numpy())
    lists = found.pivot(index="user_id", columns="rank", values="item_id").reindex(users)
    return lists.fillna(-1).to_numpy().astype(int)


if __name__ == "__main__":
    os.chdir(sys.argv[2])
    job = json.loads(Path("job.json").read_text())
    lists = globals()[sys.argv[1]](np.load("rows.npz"), np.load("users.npy"), job)
    np.save("lists.npy", lists)
