"""The clusters that `hydra/launcher` can name, and what can be set of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf
from typing import TYPE_CHECKING, Any, Literal, get_args

from hydra.core.override_parser.types import Override
from omegaconf import OmegaConf

from recgauge.errors import ConfigError
from recgauge.utils.checks import check_choice, check_int, check_real

if TYPE_CHECKING:
    from recgauge.app.sweep.on_ray import RayEngine
    from recgauge.app.sweep.on_submitit import SubmititEngine

Engines = Literal["ray", "slurm", "local"]


_RUN_CODE = ("address", "setup", "additional_parameters")
"""Settings by which whoever writes them runs code here: lines of shell, options of sbatch, another's Ray."""


def check_typed(launcher: Mapping[str, Any] | None, typed: Sequence[Override]) -> None:
    """Refuse settings of a launcher that can run code unless the user has typed them.

    Parameters
    ----------
    launcher : mapping or None
        ``hydra.launcher``.
    typed : sequence of Override
        The words of the command line.

    Raises
    ------
    ConfigError
        If a file of settings, which someone else may have written, has one.
    """
    for name in _RUN_CODE:
        node, path = (launcher or {}).get(name), f"hydra.launcher.{name}"
        given = {word.key_or_group: word.value() for word in typed}
        value = given.get(path)
        names = {str(key) for key in value} if isinstance(value, dict) else set()
        names |= {key.removeprefix(f"{path}.") for key in given if key.startswith(f"{path}.")}
        mine = {str(key) for key in node} <= names if isinstance(node, Mapping) else path in given
        if node and not mine:
            raise ConfigError(f"{path}: a file of settings may not set it, since it can run code. Type it.")


@dataclass(frozen=True)
class RaySettings:
    """What conf/hydra/launcher/ray.yaml sets."""

    address: str | None = None
    workers: int | None = None
    cpus_per_task: int = 2
    mem_gb: float | None = None

    def __post_init__(self) -> None:
        check_int("hydra.launcher.cpus_per_task", self.cpus_per_task, minimum=1)
        if self.mem_gb is not None:
            check_real("hydra.launcher.mem_gb", self.mem_gb, low=0, high=inf, low_open=True)
        if self.workers is not None:
            check_int("hydra.launcher.workers", self.workers, minimum=1)

    @property
    def needs(self) -> dict[str, float]:
        """What Ray reserves for a worker."""
        memory = {} if self.mem_gb is None else {"memory": self.mem_gb * (1 << 30)}
        return {"num_cpus": self.cpus_per_task, **memory}


@dataclass(frozen=True)
class SubmititSettings:
    """What conf/hydra/launcher/submitit_slurm.yaml and submitit_local.yaml set."""

    cpus_per_task: int = 2
    timeout_min: int = 240
    array_parallelism: int = 1
    setup: Sequence[str] | None = None
    poll_seconds: float = 1
    mem_gb: float | None = None
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    exclude: str | None = None
    additional_parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("cpus_per_task", "timeout_min", "array_parallelism"):
            check_int(f"hydra.launcher.{name}", getattr(self, name), minimum=1)
        for name in ("poll_seconds", "mem_gb"):
            if getattr(self, name) is not None:
                check_real(f"hydra.launcher.{name}", getattr(self, name), low=0, high=inf, low_open=True)
        for name in ("partition", "account", "qos", "constraint", "exclude"):
            if not str(getattr(self, name)).isprintable():  # a line of its own would be one of a shell script
                raise ConfigError(f"hydra.launcher.{name}: must be one line, got {getattr(self, name)!r}.")
        if isinstance(self.setup, str):
            raise ConfigError(
                "hydra.launcher.setup: expected a list of lines, such as ['module load python']."
            )

    def parameters(self, engine: Literal["slurm", "local"]) -> dict[str, Any]:
        """Return what submitit is told of every job."""
        given: dict[str, Any] = {"name": "recgauge", "timeout_min": self.timeout_min, "mem_gb": self.mem_gb}
        given |= {f"{engine}_setup": self.setup and list(self.setup), "cpus_per_task": self.cpus_per_task}
        if engine == "slurm":
            names = ("partition", "account", "qos", "constraint", "exclude", "array_parallelism")
            given |= {f"slurm_{name}": getattr(self, name) for name in (*names, "additional_parameters")}
        return {key: value for key, value in given.items() if value not in (None, [], {})}


def cluster(engine: Engines, settings: Mapping[str, Any]) -> "RayEngine | SubmititEngine":
    """Return the cluster that the settings of a launcher name.

    Parameters
    ----------
    engine : {'ray', 'slurm', 'local'}
    settings : mapping of str to Any
        The other keys of the file in conf/hydra/launcher, and what the user set of them.

    Raises
    ------
    ConfigError
        If a setting is wrong, a package is not installed, or the cluster cannot be reached.
    """
    from recgauge.app.sweep.on_ray import RayEngine
    from recgauge.app.sweep.on_submitit import SubmititEngine

    check_choice("hydra.launcher.engine", engine, get_args(Engines))
    kind: type[RaySettings | SubmititSettings] = RaySettings if engine == "ray" else SubmititSettings
    given: dict[str, Any] = {
        key: OmegaConf.to_container(node) if OmegaConf.is_config(node) else node
        for key, node in settings.items()
    }
    known = [one.name for one in fields(kind)]
    if unknown := [key for key in given if key not in known]:
        raise ConfigError(
            f"hydra.launcher: there is no setting {', '.join(unknown)}. Settings: {', '.join(known)}."
        )
    if engine == "ray":
        return RayEngine(RaySettings(**given))
    return SubmititEngine(engine, SubmititSettings(**given))
