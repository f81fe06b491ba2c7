"""Trains a general recommender of RecBole and scores all items with it."""

import sys
from difflib import get_close_matches
from time import perf_counter
from typing import Any

import numpy as np

from .serving import Answer, Array, SettingsError, Training, from_scores, serve

DATA = "rows"
_SET_BY_US = ("model", "dataset", "seed", "data_path", "checkpoint_dir", "load_col", "eval_args")


def main() -> None:
    """Serve."""
    sys.argv = ["worker"]  # RecBole reads the command line
    serve(fit)


def fit(job: Training) -> tuple[Answer, float]:
    """Train; users and items without a row are not shown to RecBole and get no score."""
    import torch
    from recbole.data import create_dataset
    from recbole.data.utils import get_dataloader
    from recbole.sampler import Sampler
    from recbole.utils import get_model, get_trainer, init_logger, init_seed

    torch.set_num_threads(job.n_threads)
    config = _config(job)
    init_logger(config)
    _write_rows(job)
    init_seed(config["seed"], config["reproducibility"])
    dataset = create_dataset(config)
    rows = dataset.build()[0]
    sampler = Sampler(["train"], [rows], config["train_neg_sample_args"]["distribution"])
    if config["train_neg_sample_args"]["distribution"] != "none":
        sampler = sampler.set_phase("train")
    batches = get_dataloader(config, "train")(config, rows, sampler, shuffle=config["shuffle"])
    init_seed(config["seed"], config["reproducibility"])
    start = perf_counter()
    model = get_model(config["model"])(config, batches._dataset).to(config["device"])
    trainer = get_trainer(config["MODEL_TYPE"], config["model"])(config, model)
    trainer.fit(batches, None, saved=False, show_progress=False)
    seconds = perf_counter() - start
    model.eval()
    return from_scores(_Scores(model, dataset, job), job.n_items), seconds


def _config(job: Training) -> Any:
    """Return RecBole's configuration; names that it does not know are refused, for it would ignore them."""
    from recbole.config import Config
    from recbole.model import general_recommender

    if taken := [name for name in job.settings if name in _SET_BY_US]:
        raise SettingsError(f"settings: recgauge sets {', '.join(taken)}; leave it out")
    general = sorted(
        name
        for name, kind in vars(general_recommender).items()
        if isinstance(kind, type) and kind.__module__.startswith(general_recommender.__name__)
    )
    if job.name not in general:
        raise SettingsError(
            f"name: must be one of RecBole's general models ({', '.join(general)}); got {job.name!r}"
        )
    ours = {
        "data_path": ".",
        "checkpoint_dir": "saved",
        "seed": job.seed,
        "reproducibility": True,
        "show_progress": False,
        "use_gpu": False,
        "state": "INFO",
        "load_col": {"inter": ["user_id", "item_id", "rating", "timestamp"]},
        "eval_args": {"split": {"RS": [1.0, 0.0, 0.0]}, "group_by": None, "order": "RO", "mode": "full"},
    }
    known = Config(job.name, DATA, config_dict=dict(ours)).final_config_dict
    if unknown := [name for name in job.settings if name not in known]:
        close = sorted({each for name in unknown for each in get_close_matches(name, known)})
        meant = f"; did you mean {', '.join(close)}?" if close else ""
        raise SettingsError(f"settings: {job.name} of RecBole has no setting {', '.join(unknown)}{meant}")
    return Config(job.name, DATA, config_dict={**ours, **job.settings})


def _write_rows(job: Training) -> None:
    """Write RecBole's atomic file, in a folder named like the data set."""
    from pathlib import Path

    Path(DATA).mkdir(exist_ok=True)
    with (Path(DATA) / f"{DATA}.inter").open("w", encoding="utf-8") as file:
        file.write("user_id:token\titem_id:token\trating:float\ttimestamp:float\n")
        columns = (job.user, job.item, job.value, job.timestamp)
        file.writelines(
            f"{user}\t{item}\t{value:g}\t{time}\n"
            for user, item, value, time in zip(*(one.tolist() for one in columns), strict=True)
        )


class _Scores:
    """Scores of all our items, NaN for those that RecBole has not seen."""

    def __init__(self, model: Any, dataset: Any, job: Training) -> None:
        self.model, self.dataset, self.n_items = model, dataset, job.n_items
        self.users = np.zeros(job.n_users, np.int64)  # 0 is RecBole's padding: nobody
        self.items = np.zeros(dataset.item_num, np.int64)
        for code, place in dataset.field2token_id[dataset.uid_field].items():
            if place:
                self.users[int(code)] = place
        for code, place in dataset.field2token_id[dataset.iid_field].items():
            if place:
                self.items[place] = int(code)

    def __call__(self, users: Array) -> Array:
        import torch

        scores = np.full((len(users), self.n_items), np.nan)
        known = np.flatnonzero(self.users[users])
        if len(known):
            with torch.no_grad():
                found = self._scored(torch.from_numpy(self.users[users[known]]))
            if np.isnan(found[:, 1:]).any():
                raise ValueError("the model gives scores that are no numbers; try a lower learning_rate")
            scores[np.ix_(known, self.items[1:])] = found[:, 1:]
        return scores

    def _scored(self, users: Any) -> Array:
        import torch
        from recbole.data.interaction import Interaction

        user, item, n = self.dataset.uid_field, self.dataset.iid_field, self.dataset.item_num
        try:
            scores = self.model.full_sort_predict(Interaction({user: users}))
        except NotImplementedError:  # some models score pairs only
            pairs = {user: users.repeat_interleave(n), item: torch.arange(n).repeat(len(users))}
            scores = self.model.predict(Interaction(pairs))
        return scores.view(len(users), n).numpy()
