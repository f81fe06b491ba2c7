"""Evaluates exported files with RecBole itself, in its own environment; imports nothing of recgauge.

Usage: ``python recbole_worker.py FOLDER NAME K,K,...``. Prints RecBole's values as JSON on its last line.
"""

import csv
import json
import sys

import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.model.general_recommender import Pop
from recbole.trainer import Trainer

NEVER, MISS = -2e9, -1e9
"""Scores of items outside a list: RecBole fills short lists with items, and ours are filled with misses."""


class Lists(Pop):
    """A model whose scores give the lists of a file."""

    def __init__(self, config, dataset, path):
        super().__init__(config, dataset)
        self.scores = torch.full((dataset.user_num, dataset.item_num), MISS)
        features = dataset.inter_feat
        with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        self.scores[features[self.USER_ID], features[self.ITEM_ID]] = NEVER
        known = dataset.field2token_id[self.ITEM_ID]
        for row in rows:
            user = dataset.token2id(self.USER_ID, row["user_id:token"])
            item = known.get(row["item_id:token"])
            self.scores[user, item] = -float(row["rank:float"])

    def full_sort_predict(self, interaction):
        return self.scores[interaction[self.USER_ID]].flatten()


def main(folder, name, cutoffs):
    """Load the files as RecBole does, and let its trainer evaluate the lists."""
    settings = {
        "data_path": folder,
        "topk": [int(k) for k in cutoffs.split(",")],
        "metrics": ["Recall", "Precision", "Hit", "MRR", "MAP", "NDCG"],
        "valid_metric": "NDCG@10",
        "metric_decimal_place": 16,
        "use_gpu": False,
        "show_progress": False,
        "state": "ERROR",
    }
    files = [f"{folder}/recbole.yaml"]
    sys.argv = sys.argv[:1]  # RecBole reads settings from the command line
    config = Config(model="Pop", dataset=name, config_file_list=files, config_dict=settings)
    dataset = create_dataset(config)
    _, _, test = data_preparation(config, dataset)
    model = Lists(config, dataset, f"{folder}/{name}/{name}.lists.inter")
    found = Trainer(config, model).evaluate(test, load_best_model=False)
    print(json.dumps({key: float(value) for key, value in found.items()}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
