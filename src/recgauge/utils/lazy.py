"""Names of a package that are imported at their first use, so that programs start soon."""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_EXPORT = re.compile(r"^ *from (\S+) import (?:\(\s*)?(\w+) as \2\b", re.MULTILINE)


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose names are imported at their first use.

    The names are those that the package imports for type checkers, in the form that exports them::

        if TYPE_CHECKING:
            from recgauge.splits.shares import RandomRows as RandomRows
        else:
            __getattr__, __dir__ = lazy_names(__name__)

    So there is one list, which mypy checks. ``__all__`` holds these names and the public classes and
    functions that the package's ``__init__.py`` defines.

    Examples
    --------
    >>> import recgauge.splits
    >>> recgauge.splits.RandomRows.__module__
    'recgauge.splits.shares'
    """

    def modules() -> dict[str, str]:
        text = Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")
        return {name: module for module, name in _EXPORT.findall(text)}

    def public_names() -> list[str]:
        defined = vars(sys.modules[package]).items()
        own = (name for name, value in defined if getattr(value, "__module__", None) == package)
        return sorted(name for name in {*modules(), *own} if not name.startswith("_"))

    def get(name: str) -> Any:
        if name == "__all__":
            return public_names()
        module = None if name.startswith("__") else modules().get(name)
        if module is None:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}; it has {', '.join(public_names())}"
            )
        return getattr(import_module(module), name)

    return get, public_names
