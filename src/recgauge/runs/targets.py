"""Which classes a configuration may build. A name is checked before anything is imported."""

import inspect
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from recgauge.errors import ConfigError, said

OWN_PACKAGE = "recgauge"
TARGET = "_target_"
_SEVERAL = ("filters", "metrics")  # groups that hold one component under each name


def allowed_packages(named: Sequence[str]) -> tuple[str, ...]:
    """Return the packages whose classes may be built: recgauge, and those that the user trusts."""
    for name in named:
        if not isinstance(name, str) or not _is_public(name):
            raise ConfigError(f"allowed_targets: {name!r} is not the name of a package, such as mypackage.")
        if name.partition(".")[0] in sys.stdlib_module_names:
            raise ConfigError(
                f"allowed_targets: {name!r} is part of Python; name a package with components of your own."
            )
    return (OWN_PACKAGE, *named)


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
