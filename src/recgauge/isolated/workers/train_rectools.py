# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["rectools[torch]==0.19.0", "torch==2.13.0"]
#
# [tool.uv]
# constraint-dependencies = [
#     "aiohappyeyeballs==2.7.1",
#     "aiohttp==3.14.5",
#     "aiosignal==1.4.0",
#     "annotated-types==0.8.0",
#     "attrs==23.2.0",
#     "colorama==0.4.6 ; sys_platform == 'win32'",
#     "cuda-bindings==13.5.0 ; sys_platform == 'linux'",
#     "cuda-pathfinder==1.9.0 ; sys_platform == 'linux'",
#     "cuda-toolkit==13.0.3.0 ; sys_platform == 'linux'",
#     "fastrlock==0.8.4 ; sys_platform != 'darwin'",
#     "filelock==4.2.11",
#     "frozenlist==1.8.0",
#     "fsspec==2026.9.0",
#     "idna==3.20",
#     "jinja2==3.1.6",
#     "lightning-utilities==0.15.3",
#     "markupsafe==3.0.4",
#     "mpmath==1.3.0",
#     "multidict==7.2.1",
#     "networkx==3.6.1 ; python_full_version < '3.12'",
#     "networkx==3.7 ; python_full_version >= '3.12'",
#     "numpy==1.26.4 ; python_full_version < '3.13'",
#     "numpy==2.4.6 ; python_full_version >= '3.13'",
#     "nvidia-cublas==13.1.1.3 ; sys_platform == 'linux'",
#     "nvidia-cuda-cupti==13.0.85 ; sys_platform == 'linux'",
#     "nvidia-cuda-nvrtc==13.0.88 ; sys_platform == 'linux'",
#     "nvidia-cuda-runtime==13.0.96 ; sys_platform == 'linux'",
#     "nvidia-cudnn-cu13==9.20.0.48 ; sys_platform == 'linux'",
#     "nvidia-cufft==12.0.0.61 ; sys_platform == 'linux'",
#     "nvidia-cufile==1.15.1.6 ; sys_platform == 'linux'",
#     "nvidia-curand==10.4.0.35 ; sys_platform == 'linux'",
#     "nvidia-cusolver==12.0.4.66 ; sys_platform == 'linux'",
#     "nvidia-cusparse==12.6.3.3 ; sys_platform == 'linux'",
#     "nvidia-cusparselt-cu13==0.8.1 ; sys_platform == 'linux'",
#     "nvidia-nccl-cu13==2.29.7 ; sys_platform == 'linux'",
#     "nvidia-nvjitlink==13.5.37 ; sys_platform == 'linux'",
#     "nvidia-nvshmem-cu13==3.4.5 ; sys_platform == 'linux'",
#     "nvidia-nvtx==13.0.85 ; sys_platform == 'linux'",
#     "packaging==26.3",
#     "pandas==2.3.3",
#     "pm-implicit==0.7.3",
#     "propcache==0.5.4",
#     "pydantic==2.14.3",
#     "pydantic-core==2.50.4",
#     "python-dateutil==4.0.0",
#     "pytorch-lightning==2.5.2",
#     "pytz==2026.6",
#     "pyyaml==6.0.4",
#     "scipy==1.15.3",
#     "setuptools==84.2.1",
#     "sympy==1.14.0",
#     "threadpoolctl==3.8.0",
#     "torchmetrics==1.9.0",
#     "tqdm==4.70.1",
#     "triton==3.7.1 ; sys_platform == 'linux'",
#     "typeguard==4.6.0",
#     "typing-extensions==4.16.0",
#     "typing-inspection==0.4.5",
#     "tzdata==2026.6",
#     "yarl==1.25.1",
# ]
# ///
"""Trains a model of RecTools and takes its lists; a transformer stops after each epoch to make lists."""

from typing import Any

import numpy as np
import pandas as pd
import torch
from pytorch_lightning import Trainer, seed_everything
from pytorch_lightning.callbacks import LambdaCallback
from rectools import Columns, models
from rectools.dataset import Dataset
from serving import Array, Score, SettingsError, serve

TRANSFORMERS = ("SASRec", "BERT4Rec")


def fit(job: Any) -> Score:
    """Train; users and items without a row are not shown to RecTools."""
    if job.name in TRANSFORMERS:
        return Transformer(job).fit()
    model, dataset = build(job), to_dataset(job.user, job.item, job.value, job.timestamp)
    model.fit(dataset)
    return lambda users, n: scores(model, dataset, users, n, job.n_items)


def build(job: Any) -> Any:
    """Build the model; recgauge sets its seed and threads where it has such settings."""
    kinds = {name.removesuffix("Model").removesuffix("Wrapper"): name for name in models.__all__}
    if job.name not in kinds:
        raise SettingsError(f"name: RecTools has {', '.join(kinds)}; got {job.name!r}")
    kind = getattr(models, kinds[job.name])
    ours = {"random_state": job.seed, "recommend_n_threads": job.n_threads, "deterministic": True}
    settings = {name: value for name, value in ours.items() if name in kind.config_class.model_fields}
    settings |= job.settings
    if job.name in ("ImplicitALS", "ImplicitBPR"):
        inner = {"random_state": job.seed, "num_threads": job.n_threads, "use_gpu": False}
        settings["model"] = inner | settings.get("model", {})
    try:
        return kind.from_config(settings)
    except (TypeError, ValueError) as error:  # of pydantic, too
        raise SettingsError(f"settings: {job.name} of RecTools: {error}") from error


def to_dataset(user: Array, item: Array, weight: Any, seconds: Array) -> Any:
    """Return rows as a data set of RecTools."""
    times = pd.to_datetime(seconds, unit="s")
    columns = {Columns.User: user, Columns.Item: item, Columns.Weight: weight, Columns.Datetime: times}
    return Dataset.construct(pd.DataFrame(columns))


def scores(model: Any, dataset: Any, users: Array, n: int, n_items: int) -> Array:
    """Return the scores of RecTools' own lists without its filter of viewed items; see `serving.Score`."""
    table = np.full((len(users), n_items), np.nan)
    with_rows = users[np.isin(users, dataset.user_id_map.external_ids)]
    if len(with_rows):
        lists = model.recommend(with_rows, dataset, k=n, filter_viewed=False)
        table[pd.Index(users).get_indexer(lists["user_id"]), lists["item_id"]] = lists["score"]
    return table


class Transformer:
    """A model whose training stops after each epoch, to make lists of any histories."""

    def __init__(self, job: Any) -> None:
        self.job, self.n_kept = job, 0

    def fit(self) -> Score:
        """Train for as long as another epoch is asked for."""
        if "get_trainer_func" in self.job.settings:
            raise SettingsError("settings: get_trainer_func: recgauge gives the trainer; leave it out")
        seed_everything(self.job.seed, workers=True)
        self.job.settings["get_trainer_func"] = lambda: self.trainer()  # a method would be copied with us
        self.model = build(self.job)
        self.model.fit(in_order(self.job.user, self.job.item))
        return self

    def trainer(self) -> Trainer:
        """Return RecTools' own trainer, which stops after each epoch."""
        return Trainer(
            max_epochs=-1,  # recgauge counts them
            deterministic=self.job.settings.get("deterministic", True),
            enable_progress_bar=False,
            enable_checkpointing=False,
            logger=False,
            devices=1,
            callbacks=[LambdaCallback(on_train_epoch_end=lambda trainer, _: self.stop(trainer))],
        )

    def stop(self, trainer: Trainer) -> None:
        """Let lists be made before the next epoch, which draws and learns as if there had been none."""
        loss = float(trainer.callback_metrics["train_loss"])
        if not np.isfinite(loss):
            raise ValueError(f"the loss is {loss}, no number; try a lower lr")
        self.newest = {name: values.clone() for name, values in self.model.torch_model.state_dict().items()}
        self.model.is_fitted = True  # RecTools says so after the last epoch
        with torch.random.fork_rng():
            self.job.pause(self, loss)
        self.model.torch_model.load_state_dict(self.newest)
        self.model.lightning_model.train()

    def keep(self) -> int:
        """Keep the newest weights, in place of those that were kept, and return their number."""
        self.kept, self.n_kept = self.newest, self.n_kept + 1
        return self.n_kept

    def take(self, history: Array, number: int) -> None:
        """Make lists after these rows, users and items, by weights that were kept or, 0, the newest."""
        if number not in (0, self.n_kept):
            raise ValueError("of copies that were made between epochs only the last one gives lists")
        self.model.torch_model.load_state_dict(self.kept if number else self.newest)
        user, item = history[:, np.isin(history[1], self.model.data_preparator.get_known_item_ids())]
        to_come = pd.Series(user).groupby(user).cumcount(ascending=False).to_numpy()
        seen = to_come < self.model.session_max_len  # it looks at no more
        self.history = in_order(user[seen], item[seen])

    def __call__(self, users: Array, n: int) -> Array:
        """Return scores after the histories; see `serving.Score`."""
        return scores(self.model, self.history, users, n, self.job.n_items)


def in_order(user: Array, item: Array) -> Any:
    """Return rows, oldest first within a user, as a data set of RecTools; their positions are its times."""
    return to_dataset(user, item, 1.0, np.arange(len(user)))


if __name__ == "__main__":
    serve(fit, "rectools", "torch")
