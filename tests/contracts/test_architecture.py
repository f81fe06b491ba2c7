"""The rules of the house that a machine can check."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import recgauge
from conftest import REPOSITORY

SOURCE = Path(recgauge.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


def rooms():
    """Packages of the table in CONTRIBUTING.md, in its order."""
    table = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n| package |")[1]
    rows = table.split("\n\n")[0].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]


ORDER = ("_version", "experiments", *rooms(), "__main__")
"""A package imports only what stands before it."""
OUTER = {"hydra": ("cli", "sweeps"), "omegaconf": ("cli", "sweeps"), "mlflow": ("tracking",)}
PRIVATE = re.compile(r"^(hydra|omegaconf|mlflow|numba|optuna|ray|submitit)(\.\w+)*\._\w")


def module_of(path):
    parts = ("recgauge", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def is_for_type_checkers(node):
    """Whether a statement is ``if TYPE_CHECKING``, whose imports run nowhere."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imported(node):
    """Names that a module imports, inside functions too; ``from a import b`` is ``a.b``."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif not isinstance(node, ast.expr):
        for inner in node.orelse if is_for_type_checkers(node) else ast.iter_child_nodes(node):
            yield from imported(inner)


@pytest.fixture(scope="module")
def imports():
    """What each module imports."""
    return {module: list(imported(tree)) for module, tree in MODULES.items()}


def own_imports(names):
    for name in names:
        module = name if name in MODULES else name.rpartition(".")[0]
        if module in MODULES and module != "recgauge":
            yield module


def room(module):
    return module.split(".")[1] if "." in module else "top"


def test_every_package_has_a_place_in_the_order():
    assert {room(module) for module in MODULES} - {"top"} <= set(ORDER)


def test_imports_go_one_way(imports):
    rank = {name: place for place, name in enumerate(ORDER)}
    back = [
        f"{module} -> {target}"
        for module, names in imports.items()
        if module != "recgauge"
        for target in own_imports(names)
        if rank[room(target)] > rank[room(module)]
    ]
    assert not back


def test_no_circle_of_imports(imports):
    arrows = {module: set(own_imports(names)) - {module} for module, names in imports.items()}
    while leaves := {module for module, targets in arrows.items() if not targets & arrows.keys()}:
        arrows = {module: targets for module, targets in arrows.items() if module not in leaves}
    assert not {module: sorted(targets & arrows.keys()) for module, targets in arrows.items()}


def test_other_libraries_stay_in_their_rooms(imports):
    outside = [
        f"{module}: {name}"
        for module, names in imports.items()
        for name in names
        if room(module) not in OUTER.get(name.split(".")[0], (room(module),))
    ]
    assert not outside


def test_nothing_private_of_other_libraries_is_imported(imports):
    assert not [
        f"{module}: {name}" for module, names in imports.items() for name in names if PRIVATE.match(name)
    ]


def test_no_module_variable_changes():
    declared = [
        f"{module}: {', '.join(node.names)}"
        for module, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Global)
    ]
    assert not declared


# where programs that are run lie is up to the user's own environment, and to no setting that others can
# write; passwords in the environment are taken out of what is printed and stored
READERS = (SOURCE / "isolated" / "process.py", SOURCE / "utils" / "secrets.py")
OUTER_ROOMS = ("cli", "sweeps", "tracking")
CORE = [path for path in FILES if room(module_of(path)) not in OUTER_ROOMS and path not in READERS]


def test_the_core_reads_no_environment():
    reading = re.compile(r"os\.environ|getenv")
    assert not [
        str(path.relative_to(SOURCE)) for path in CORE if reading.search(path.read_text(encoding="utf-8"))
    ]


HEAVY = {"hydra", "omegaconf", "mlflow", "pandas", "numba", "matplotlib"}


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("recgauge", HEAVY | {"numpy", "scipy", "pyarrow"}),
        ("recgauge.engine, recgauge.evaluation.evaluate", HEAVY),
        ("recgauge.tracking", {"mlflow", "sqlalchemy", "pandas"}),
        ("recgauge.sweeps.jobs, recgauge.sweeps.artifacts", {"matplotlib"}),
    ],
)
def test_imports_are_light(modules, heavy):
    code = f"import sys, {modules}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())
