"""Which classes a configuration may build. A name is checked before anything is imported."""

import inspect
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recgauge.errors import ConfigError, said

OWN_PACKAGE = "recgauge"
TARGET = "_target_"
GROUP = "recgauge.options"
"""Entry points of installed packages that add options."""
_SEVERAL = ("filters", "metrics")  # groups that hold one component under each name


def allowed_packages(named: Sequence[str]) -> tuple[str, ...]:
    """Return the packages whose classes may be built: recgauge, those with options, those the user trusts."""
    for name in named:
        if not isinstance(name, str) or not _is_public(name):
            raise ConfigError(f"allowed_targets: {name!r} is not the name of a package, such as mypackage.")
        if name.partition(".")[0] in sys.stdlib_module_names:
            raise ConfigError(
                f"allowed_targets: {name!r} is part of Python; name a package with components of your own."
            )
    return (OWN_PACKAGE, *named, *(name for name, _ in installed_options() if name not in named))


@cache
def installed_options() -> tuple[tuple[str, Path], ...]:
    """Return the installed packages that add options of their own, with their folders of settings.

    A package says so by an entry point in the group ``recgauge.options`` whose value is its name, and has
    beside its modules a folder ``conf`` with ``model/``, ``metrics/`` and so on. Nothing of it is imported
    here. Who installs such a package trusts its code, as with any package.
    """
    folders = []
    for entry in entry_points(group=GROUP):
        name, owner = entry.value, entry.dist.name if entry.dist else "?"
        plain = name.isidentifier() and not name.startswith("_") and name not in sys.stdlib_module_names
        spec = find_spec(name) if plain and name != OWN_PACKAGE else None  # of a name without dots: no import
        places = [Path(place) / "conf" for place in (spec and spec.submodule_search_locations) or ()]
        if (folder := next((place for place in places if place.is_dir()), None)) is None:
            raise ConfigError(
                f"the installed package {owner} has an entry point {entry.name} = {name!r} in the group "
                f"{GROUP}, which must name a package of its own with a folder conf. Mend or uninstall it."
            )
        folders.append((name, folder))
    return tuple(folders)


def check_targets(settings: Mapping[str, Any], packages: Sequence[str]) -> None:
    """Check every ``_target_`` of a resolved configuration by its name, without importing anything."""
    for key, node in settings.items():
        if key in _SEVERAL and isinstance(node, Mapping):
            check_plain(dict.fromkeys(node), key)
            for name, part in node.items():
                check_component(part, f"{key}.{name}", packages)
        else:
            check_component(node, str(key), packages)


def check_component(node: Any, path: str, packages: Sequence[str]) -> None:
    """Check one component's tree: an allowed target at its top, and none below."""
    if isinstance(node, Mapping) and TARGET in node:
        _check_name(node[TARGET], f"{path}.{TARGET}", packages)
        node = {key: part for key, part in node.items() if key != TARGET}
    check_plain(node, path)


def check_plain(node: Any, path: str) -> None:
    """Check that nothing in a tree of plain values names code, as Hydra's ``_target_`` and ``_args_`` do."""
    if isinstance(node, Mapping):
        for key, part in node.items():
            text = str(key)
            if len(text) > 2 and text.startswith("_") and text.endswith("_"):
                raise ConfigError(
                    f"{path}.{text}: {text} is not allowed here. Only a whole component has a {TARGET}; its "
                    "settings are plain values."
                )
            check_plain(part, f"{path}.{key}")
    elif isinstance(node, (list, tuple)):
        for index, part in enumerate(node):
            check_plain(part, f"{path}[{index}]")


def find_class(target: Any, path: str, packages: Sequence[str]) -> type:
    """Import and return the class that a target names."""
    _check_name(target, path, packages)
    module, _, name = target.rpartition(".")
    try:
        component = getattr(import_module(module), name)
    except Exception as error:  # whatever the code of a user's module raises
        raise ConfigError(
            f"{path}: cannot import {target!r} ({said(error)}). Correct the name, install the package, or "
            "put its folder into PYTHONPATH."
        ) from error
    if not inspect.isclass(component):
        raise ConfigError(f"{path}: {target!r} is not a class; only classes can be built.")
    if not _is_inside(component.__module__, packages):
        raise ConfigError(
            f"{path}: {target!r} is defined in {component.__module__}, which is not in {_listed(packages)}."
        )
    return component


def _check_name(target: Any, path: str, packages: Sequence[str]) -> None:
    if not isinstance(target, str):
        raise ConfigError(f"{path}: expected the name of a class, got {target!r}.")
    if not _is_inside(target.rpartition(".")[0], packages):
        raise ConfigError(
            f"{path}: {target!r} is not one of {_listed(packages)}. If you trust its package, name it on the "
            "command line: allowed_targets=[PACKAGE] of a run, --allow PACKAGE of other commands."
        )
    if not _is_public(target):
        raise ConfigError(
            f"{path}: {target!r} is not the public name of a class, such as package.module.Class."
        )


def _is_inside(module: str, packages: Sequence[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _is_public(name: str) -> bool:
    return all(part.isidentifier() and not part.startswith("_") for part in name.split("."))


def _listed(packages: Sequence[str]) -> str:
    return ", ".join(f"{package}.*" for package in packages)
