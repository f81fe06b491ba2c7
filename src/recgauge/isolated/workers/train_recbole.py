# /// script
# requires-python = ">=3.10,<3.12"
# dependencies = ["recbole==1.2.1", "torch==2.13.0"]
#
# [tool.uv]
# constraint-dependencies = [
#     "absl-py==2.5.1",
#     "aiosignal==1.4.0",
#     "attrs==26.1.0",
#     "certifi==2026.10.18",
#     "charset-normalizer==3.5.2",
#     "click==8.5.1",
#     "cloudpickle==3.1.2",
#     "colorama==0.4.4",
#     "colorlog==4.7.2",
#     "cuda-bindings==13.4.4 ; python_full_version < '3.11' and sys_platform == 'linux'",
#     "cuda-bindings==13.5.0 ; python_full_version >= '3.11' and sys_platform == 'linux'",
#     "cuda-pathfinder==1.8.3 ; python_full_version < '3.11' and sys_platform == 'linux'",
#     "cuda-pathfinder==1.9.0 ; python_full_version >= '3.11' and sys_platform == 'linux'",
#     "cuda-toolkit==13.0.3.0 ; sys_platform == 'linux'",
#     "filelock==4.1.0 ; python_full_version < '3.11'",
#     "filelock==4.2.11 ; python_full_version >= '3.11'",
#     "frozenlist==1.8.0",
#     "fsspec==2026.9.0",
#     "grpcio==1.85.1",
#     "idna==3.20",
#     "jinja2==3.1.6",
#     "joblib==1.6.0",
#     "jsonschema==4.26.0",
#     "jsonschema-specifications==2025.9.1",
#     "markdown==3.10.3 ; python_full_version < '3.11'",
#     "markdown==3.11.3 ; python_full_version >= '3.11'",
#     "markupsafe==3.0.4",
#     "mpmath==1.3.0",
#     "msgpack==1.2.4",
#     "narwhals==2.29.0",
#     "networkx==3.4.2 ; python_full_version < '3.11'",
#     "networkx==3.6.1 ; python_full_version == '3.11.*'",
#     "networkx==3.7 ; python_full_version >= '3.12'",
#     "numpy==1.26.4",
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
#     "pandas==2.2.3",
#     "pillow==12.3.0 ; python_full_version < '3.11'",
#     "pillow==13.0.0 ; python_full_version >= '3.11'",
#     "plotly==7.1.0",
#     "protobuf==7.36.2",
#     "psutil==7.2.2",
#     "python-dateutil==3.0.0 ; python_full_version < '3.11'",
#     "python-dateutil==4.0.0 ; python_full_version >= '3.11'",
#     "pytz==2026.6",
#     "pyyaml==6.0.3",
#     "ray==2.6.3",
#     "referencing==0.37.0",
#     "requests==2.34.2",
#     "rpds-py==0.30.0 ; python_full_version < '3.11'",
#     "rpds-py==2026.9.1 ; python_full_version >= '3.11'",
#     "scikit-learn==1.5.2",
#     "scipy==1.11.4",
#     "setuptools==80.9.0",
#     "six==1.17.0 ; python_full_version < '3.11'",
#     "sympy==1.14.0",
#     "tabulate==0.10.0",
#     "tensorboard==2.21.0",
#     "tensorboard-data-server==0.7.2",
#     "texttable==1.7.2",
#     "thop==0.1.1.post2209072238",
#     "threadpoolctl==3.8.0",
#     "tqdm==4.70.1",
#     "triton==3.7.1 ; sys_platform == 'linux'",
#     "typing-extensions==4.16.0",
#     "tzdata==2026.6",
#     "urllib3==2.8.0",
#     "werkzeug==3.1.9",
# ]
# ///
"""Trains a general recommender of RecBole and scores all items with it."""

from difflib import get_close_matches
from time import perf_counter
from typing import Any

import numpy as np
from serving import Answer, Array, SettingsError, Training, from_scores, serve

DATA = "rows"
_OURS = ("model", "dataset", "seed", "data_path", "checkpoint_dir", "load_col", "eval_args")


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

    if taken := [name for name in job.settings if name in _OURS]:
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
    names = Config(job.name, DATA, config_dict=dict(ours)).final_config_dict
    if unknown := [name for name in job.settings if name not in names]:
        close = sorted({each for name in unknown for each in get_close_matches(name, names)})
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
            for user, item, value, time in zip(*(column.tolist() for column in columns), strict=True)
        )


class _Scores:
    """Scores of all our items, NaN for those that RecBole has not seen."""

    def __init__(self, model: Any, dataset: Any, job: Training) -> None:
        self.model, self.dataset, self.n_items = model, dataset, job.n_items
        self.users = np.zeros(job.n_users, np.int64)  # 0 is RecBole's padding: nobody
        self.items = np.zeros(dataset.item_num, np.int64)
        for code, position in dataset.field2token_id[dataset.uid_field].items():
            if position:
                self.users[int(code)] = position
        for code, position in dataset.field2token_id[dataset.iid_field].items():
            if position:
                self.items[position] = int(code)

    def __call__(self, users: Array) -> Array:
        import torch

        scores = np.full((len(users), self.n_items), np.nan)
        rows = np.flatnonzero(self.users[users])
        if len(rows):
            with torch.no_grad():
                scored = self._score(torch.from_numpy(self.users[users[rows]]))
            if np.isnan(scored[:, 1:]).any():
                raise ValueError("the model gives scores that are no numbers; try a lower learning_rate")
            scores[np.ix_(rows, self.items[1:])] = scored[:, 1:]
        return scores

    def _score(self, users: Any) -> Array:
        import torch
        from recbole.data.interaction import Interaction

        user, item, n = self.dataset.uid_field, self.dataset.iid_field, self.dataset.item_num
        try:
            scores = self.model.full_sort_predict(Interaction({user: users}))
        except NotImplementedError:  # some models score pairs only
            pairs = {user: users.repeat_interleave(n), item: torch.arange(n).repeat(len(users))}
            scores = self.model.predict(Interaction(pairs))
        return scores.view(len(users), n).numpy()


if __name__ == "__main__":
    serve(fit)
