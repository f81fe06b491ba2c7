"""Every public class of a package can be imported from the package, and is known to type checkers."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import recgauge

SOURCE = Path(recgauge.__file__).parent
LAZY = sorted(
    ".".join(("recgauge", *path.parent.relative_to(SOURCE).parts))
    for path in SOURCE.rglob("__init__.py")
    if "lazy_names(__name__)" in path.read_text(encoding="utf-8")
)
IN_ONE_PACKAGE = [name for name in LAZY if name not in ("recgauge", "recgauge.tracking")]  # these choose


def public_classes(package):
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if module.ispkg or module.name.rsplit(".", 1)[1].startswith("_"):
            continue
        for name, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            ours = found.__module__ == module.name and not name.startswith("_")
            if ours and not inspect.isabstract(found):
                yield name, found


@pytest.mark.parametrize("name", IN_ONE_PACKAGE)
def test_every_public_class_can_be_imported_from_its_package(name):
    package = importlib.import_module(name)
    for class_name, found in public_classes(package):
        hint = f"add a line to the imports for type checkers in {name.replace('.', '/')}/__init__.py"
        assert getattr(package, class_name, None) is found, f"{class_name}: {hint}"
        assert class_name in package.__all__


@pytest.mark.parametrize("name", LAZY)
def test_every_listed_name_is_there(name):
    package = importlib.import_module(name)
    assert package.__all__ == sorted(package.__all__)
    assert all(getattr(package, public) is not None for public in package.__all__)
    assert dir(package) == package.__all__
