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
"""Trains a transformer of RecTools epoch by epoch and takes its lists for any histories."""

import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from serving import Answer, Array, SettingsError, Training, serve
from train_rectools import RecToolsLists, build, to_dataset


def fit(job: Training) -> tuple[Answer, float]:
    """Prepare the training, which begins with the first epoch."""
    from pytorch_lightning import seed_everything

    start = perf_counter()
    seed_everything(job.seed, workers=True)
    return Transformer(job), perf_counter() - start


class Transformer:
    """A model whose training, in a thread of its own, waits after each epoch for the next."""

    def __init__(self, job: Training) -> None:
        if "get_trainer_func" in job.settings:
            raise SettingsError("settings: get_trainer_func: recgauge gives the trainer; leave it out")
        self.next, self.ended = threading.Semaphore(0), queue.Queue[Any]()
        trainer = _trainer(job.settings.get("deterministic", True), self.ended.put, self.next.acquire)
        self.model = build(replace(job, settings={**job.settings, "get_trainer_func": trainer}))
        if np.bincount(job.user).max() < (least := self.model.train_min_user_interactions):
            raise ValueError(f"no user has {least} training rows, so there is no order to learn from")
        self.job, self.train_rows = job, _dataset(job.user, job.item)
        self.lists = RecToolsLists(self.model, self.train_rows, job)
        self.weights: str | None = None
        self.latest: dict[str, Any] = {}

    def train(self) -> dict[str, Any]:
        """Train one more epoch; return its loss, after the first with the items that RecTools knows."""
        self.use(None)
        first = not self.model.is_fitted
        if first:
            threading.Thread(target=self._train, daemon=True).start()
        else:
            self.next.release()
        loss = self.ended.get()
        if isinstance(loss, BaseException):
            raise loss
        if not np.isfinite(loss):
            raise ValueError(f"the loss is {loss}, no number; try a lower lr")
        return {"loss": loss, "note": self._first_epoch() if first else ""}

    def _first_epoch(self) -> str:
        """Take the items that RecTools trains on, and let it give lists before its last epoch."""
        self.model.is_fitted = True
        n_trained, items = int(self.lists.items.sum()), self.model.data_preparator.get_known_item_ids()
        self.lists.items[:] = False
        self.lists.items[items.astype(np.int64)] = True
        self._take(self.job.user, self.job.item, self.job.n_users)
        left_out = f"{n_trained - len(items):,} of {n_trained:,} items with training rows"
        why = "they are in none of the last rows of users, which is all that it trains on"
        return f"{left_out} are in no list: {why}" if len(items) < n_trained else ""

    def history(self, rows: str, n_users: int) -> None:
        """Answer from now on for users (codes below n_users) with these rows."""
        arrays = np.load(rows, allow_pickle=False)
        self._take(arrays["user"], arrays["item"], n_users)

    def keep(self, weights: str) -> None:
        """Write the weights that lists are made with now to a file."""
        import torch

        torch.save(self.model.torch_model.state_dict(), weights)

    def use(self, weights: str | None) -> None:
        """Make lists with the weights of a file, or with the latest ones."""
        import torch

        if weights != self.weights:
            current = self.model.torch_model.state_dict()
            if self.weights is None:
                self.latest = {name: values.clone() for name, values in current.items()}
            self.model.torch_model.load_state_dict(self.latest if weights is None else torch.load(weights))
            self.weights = weights

    def __call__(self, users: Array, n: int, allowed: Array) -> tuple[Array, Array]:
        """Return items and scores; see `serving.Answer`."""
        import torch

        with torch.random.fork_rng():  # the training draws as if nobody had asked
            items, scores = self.lists(users, n, allowed)
        self.model.lightning_model.train()
        return items, scores

    def _take(self, user: Array, item: Array, n_users: int) -> None:
        """Take users' rows as histories, of the items that the model knows."""
        trained = self.lists.items[item]
        user, item = user[trained], item[trained]
        order = np.argsort(user, kind="stable")
        to_come = np.searchsorted(user[order], user[order], side="right") - np.arange(len(order))
        seen = np.sort(order[to_come <= self.model.session_max_len])  # it looks at no more
        self.lists.users = np.zeros(n_users, bool)
        self.lists.users[user] = True
        if len(seen):
            self.lists.dataset = _dataset(user[seen], item[seen])

    def _train(self) -> None:
        """Run the whole training, which stops after each epoch."""
        try:
            self.model.fit(self.train_rows)
        except BaseException as error:
            self.ended.put(error)


def _dataset(user: Array, item: Array) -> Any:
    """Return rows, oldest first within a user, as a data set of RecTools; their positions are its times."""
    return to_dataset(user, item, 1.0, np.arange(len(user)))


def _trainer(
    deterministic: Any, ended: Callable[[float], None], wait: Callable[[], Any]
) -> Callable[[], Any]:
    """Return what makes RecTools' own trainer, which tells the loss of each epoch and waits after it."""

    def stop(trainer: Any, _model: Any) -> None:
        ended(float(trainer.callback_metrics["train_loss"]))
        wait()

    def make() -> Any:
        from pytorch_lightning import Trainer
        from pytorch_lightning.callbacks import LambdaCallback

        return Trainer(
            max_epochs=-1,  # recgauge counts them
            deterministic=deterministic,
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            logger=False,
            devices=1,
            callbacks=[LambdaCallback(on_train_epoch_end=stop)],
        )

    return make


if __name__ == "__main__":
    serve(fit)
