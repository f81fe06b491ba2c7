"""What conf/config.yaml refers to: the schema of a run's settings, default folders, and where conf/ is."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from recgauge.app.files.folders import store_of_user, work_folder
from recgauge.runs.settings import RunSettings

__all__ = [
    "RunSettings", "conf_folder", "experiments_folder", "is_installed", "program", "register_schema",
]  # fmt: skip

_PACKAGE = Path(__file__).resolve().parent.parent


def register_schema() -> None:
    """Make known to Hydra what conf/config.yaml refers to; the schema refuses unknown keys."""
    ConfigStore.instance().store(name="run_schema", node=RunSettings)
    values: dict[str, Callable[..., str]] = {
        "work_folder": lambda name: str(work_folder() / name),
        "store_of_user": store_of_user,
        "program": program,
    }
    for name, value in values.items():
        OmegaConf.register_new_resolver(f"recgauge.{name}", value, replace=True)


def is_installed() -> bool:
    """Whether recgauge runs from an installed package rather than from a checkout."""
    return (_PACKAGE / "conf").is_dir()


def program(command: Literal["run", "ui"] = "run") -> str:
    """Return how the user starts a run, or the page of tracked results: installed, or in a checkout."""
    if is_installed():
        return f"recgauge {command}"
    return "python run.py" if command == "run" else "make ui"


def conf_folder() -> Path:
    """Return the folder of the configuration: inside an installed package, else the checkout's conf/."""
    return (_PACKAGE if is_installed() else _PACKAGE.parent.parent) / "conf"


def experiments_folder() -> Path:
    """Return the folder with published numbers: inside an installed package, else the checkout's."""
    return conf_folder().parent / "experiments"
