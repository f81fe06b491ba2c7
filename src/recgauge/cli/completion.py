"""Settings of a run that a shell completes, by argcomplete."""

from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from recgauge.cli.explain import group_options, option_files
from recgauge.sweeps.places import conf_folder


def settings(prefix: str, parsed_args: object = None, **_: object) -> list[str]:
    """Return what may follow in a run: settings, options of a group, and the settings of its option."""
    group, equals, options = prefix.partition("=")
    if equals:
        first, comma, _name = options.rpartition(",")
        return [f"{group}={first}{comma}{option}" for option in group_options(group)]
    root = _read(conf_folder() / "config.yaml")
    group, dot, rest = prefix.partition(".")
    if not dot:
        names = {folder.name for folder in conf_folder().iterdir() if folder.is_dir()} | {*root}
        return [f"{name}=" for name in sorted(names - {"defaults", "hydra"})]
    chosen = {
        name: option
        for entry in root["defaults"]
        if isinstance(entry, dict)
        for name, option in entry.items()
    }
    chosen |= dict(word.split("=", 1) for word in getattr(parsed_args, "words", None) or [] if "=" in word)
    option, own = chosen.get("model" if group == "search" else group), group
    model, dot, _name = rest.partition(".")
    if dot and group in ("model", "search") and model in group_options("model"):
        option, own = model, f"{group}.{model}"
    file = conf_folder() / group / f"{option}.yaml"
    node = _read(file) if file.is_file() else root.get(group) or {}
    if group in chosen and option is None:  # none is typed yet: the settings of all
        nodes = map(_read, option_files(group))
        node = {name: None for each in nodes if "_target_" in each for name in each}
    return [f"{own}.{name}=" for name in node if name not in ("_target_", "defaults")]


def _read(file: Path) -> dict[str, Any]:
    content: Any = OmegaConf.to_container(OmegaConf.load(file))
    return dict(content)
