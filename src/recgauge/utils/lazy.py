"""What lets programs start soon: names that are imported at their first use, and no search for garbage."""

import ast
import atexit
import gc
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose names are imported at their first use.

    The names are those that the package imports for type checkers, in the form that exports them::

        if TYPE_CHECKING:
            from recgauge.splits.shares import RandomRows as RandomRows
        else:
            __getattr__, __dir__ = lazy_names(__name__)

    There is one list, and a misspelt name fails in mypy as it does at run time. ``__all__`` holds these names
    and the public classes and functions that the package's ``__init__.py`` defines itself or imports at once.

    Examples
    --------
    >>> import recgauge.splits
    >>> recgauge.splits.RandomRows.__module__
    'recgauge.splits.shares'
    """

    @cache
    def names() -> tuple[dict[str, str], list[str]]:
        tree = ast.parse(Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8"))
        homes = {
            alias.name: str(node.module)
            for block in tree.body
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for node in block.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.asname == alias.name
        }
        own = [node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
        imports = (node for node in tree.body if isinstance(node, ast.ImportFrom))
        own += [alias.name for node in imports for alias in node.names if alias.asname == alias.name]
        return homes, sorted([*homes, *(name for name in own if not name.startswith("_"))])

    def get(name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        homes, public = names()
        if name == "__all__":
            return public
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {', '.join(public)}")
        return getattr(import_module(homes[name]), name)

    return get, lambda: names()[1]


def pause_collecting() -> None:
    """Do not look for objects that refer to each other alone, until `resume_collecting`, nor at the end.

    Imports and settings make a hundred thousand objects, which stay. To look through them again and again,
    and once more when the program ends, takes a fifth of the time of a short run.
    """
    gc.disable()
    atexit.register(gc.freeze)


def resume_collecting() -> None:
    """Look again if `pause_collecting` was called, at objects that are made from now on."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
