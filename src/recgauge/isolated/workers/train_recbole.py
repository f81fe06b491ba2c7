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

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from recbole.config import Config
from recbole.data import create_dataset, create_samplers
from recbole.data.interaction import Interaction
from recbole.data.utils import get_dataloader
from recbole.model import general_recommender
from recbole.utils import get_model, get_trainer, init_logger, init_seed
from serving import Array, Score, SettingsError, serve

DATA = "rows"


def fit(job: Any) -> Score:
    """Train; users and items without a row are not shown to RecBole and get no score."""
    torch.set_num_threads(job.n_threads)
    config = to_config(job)
    init_logger(config)
    Path(DATA).mkdir()
    names = ("user_id:token", "item_id:token", "rating:float", "timestamp:float")
    rows = pd.DataFrame(dict(zip(names, (job.user, job.item, job.value, job.timestamp), strict=True)))
    rows.to_csv(Path(DATA) / f"{DATA}.inter", sep="\t", index=False, float_format="%g")
    init_seed(config["seed"], config["reproducibility"])
    dataset = create_dataset(config)
    parts = dataset.build()
    sampler = create_samplers(config, dataset, parts)[0]
    batches = get_dataloader(config, "train")(config, parts[0], sampler, shuffle=config["shuffle"])
    init_seed(config["seed"], config["reproducibility"])
    model = get_model(config["model"])(config, batches._dataset).to(config["device"])
    get_trainer(config["MODEL_TYPE"], config["model"])(config, model).fit(
        batches, saved=False, show_progress=False
    )
    model.eval()
    return to_score(model, dataset, job)


def to_config(job: Any) -> Any:
    """Return RecBole's configuration; names that it does not know are refused, for it would ignore them."""
    ours = {
        "data_path": ".",
        "checkpoint_dir": "saved",
        "seed": job.seed,
        "load_col": {"inter": ["user_id", "item_id", "rating", "timestamp"]},
        "eval_args": {"split": {"RS": [1.0, 0.0, 0.0]}, "group_by": None, "order": "RO", "mode": "full"},
    }
    defaults = {"reproducibility": True, "show_progress": False, "use_gpu": False, "state": "INFO"}
    kinds = [name for name, kind in vars(general_recommender).items() if isinstance(kind, type)]
    if job.name not in kinds:
        raise SettingsError(f"name: RecBole has the general models {', '.join(kinds)}; got {job.name!r}")
    names = Config(job.name, DATA, config_dict=ours | defaults).final_config_dict
    if invalid := [name for name in job.settings if name not in names or name in (*ours, "model", "dataset")]:
        raise SettingsError(f"settings: {job.name} of RecBole has no setting {', '.join(invalid)}")
    return Config(job.name, DATA, config_dict=ours | defaults | job.settings)


def to_score(model: Any, dataset: Any, job: Any) -> Score:
    """Return what scores the items with rows, for users with rows."""
    user, item, n = dataset.uid_field, dataset.iid_field, dataset.item_num
    items = dataset.id2token(item, np.arange(1, n)).astype(np.int64)  # the first is padding

    def score(users: Array, _n: int) -> Array:
        table, with_rows = np.full((len(users), job.n_items), np.nan), np.isin(users, job.user)
        if not with_rows.any():
            return table
        asked = torch.from_numpy(dataset.token2id(user, users[with_rows].astype(str)))
        with torch.no_grad():
            try:
                scores = model.full_sort_predict(Interaction({user: asked}))
            except NotImplementedError:  # some models score pairs only
                pairs = {user: asked.repeat_interleave(n), item: torch.arange(n).repeat(len(asked))}
                scores = model.predict(Interaction(pairs))
        scored = scores.view(len(asked), n).numpy()[:, 1:]
        if np.isnan(scored).any():
            raise ValueError("the model gives scores that are no numbers; try a lower learning_rate")
        table[np.ix_(with_rows, items)] = scored
        return table

    return score


if __name__ == "__main__":
    serve(fit, "recbole", "torch")
