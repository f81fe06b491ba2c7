"""The schema of the configuration's root: unknown keys and wrong types are refused by Hydra."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from recgauge.app.files.places import store_of_user, work_folder


@dataclass
class DataSettings:
    """Where archives are looked for and prepared data are kept."""

    mirror: Any = None  # one folder or address, or a list of them
    cache: str | None = None
    offline: bool = False
    prepared: bool = True


@dataclass
class EngineSettings:
    """How work is cut up; never changes a number."""

    memory_mib: int = 256


@dataclass
class ArtifactsSettings:
    """What a run stores beside its numbers; never changes one."""

    lists: Any = True  # true, relevant_k or false


@dataclass
class GuardsSettings:
    """What the user says about guards."""

    override: list[str] = field(default_factory=list)
    selected_on: str | None = None


@dataclass
class RunSettings:
    """All settings of one run; the groups hold one component each, as plain mappings."""

    dataset: Any = None
    filters: Any = field(default_factory=dict)
    split: Any = None
    candidates: Any = None
    model: Any = None
    metrics: Any = field(default_factory=dict)
    conventions: Any = None
    ties: str | None = None
    tracking: Any = None
    cutoffs: list[int] = field(default_factory=lambda: [1, 5, 10, 20])
    conventions_table: bool = False
    sanity: bool = False
    guards: GuardsSettings = field(default_factory=GuardsSettings)
    figures: bool = False
    artifacts: ArtifactsSettings = field(default_factory=ArtifactsSettings)
    seed: int = 0
    fit_on: str = "train"
    data: DataSettings = field(default_factory=DataSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    study: Any = None
    reuse: bool = False
    force: bool = False
    allowed_targets: list[str] = field(default_factory=list)


def register_schema() -> None:
    """Make known to Hydra what conf/config.yaml refers to: the schema, the default places."""
    ConfigStore.instance().store(name="run_schema", node=RunSettings)
    places: dict[str, Callable[..., str]] = {
        "work_folder": lambda name: str(work_folder() / name),
        "store_of_user": store_of_user,
    }
    for name, place in places.items():
        OmegaConf.register_new_resolver(f"recgauge.{name}", place, replace=True)


def conf_folder() -> Path:
    """Return the folder of the configuration: inside an installed package, else the checkout's conf/."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "conf"
    return installed if installed.is_dir() else package.parent.parent / "conf"


def experiments_folder() -> Path:
    """Return the folder with published numbers: inside an installed package, else the checkout's."""
    return conf_folder().parent / "experiments"
