"""The rules of the house that a machine can check."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import recgauge

SOURCE = Path(recgauge.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
OUTER = ("hydra", "omegaconf", "mlflow")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_hydra_and_mlflow_stay_in_the_outer_ring(path):
    inside_app = path.is_relative_to(SOURCE / "app")
    roots = {name.split(".")[0] for name in imported(path)}
    assert inside_app or not roots & set(OUTER)
    assert "mlflow" not in roots or path.is_relative_to(SOURCE / "app" / "tracking")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_are_small_rooms(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_functions_are_short(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            docstring = ast.get_docstring(node, clean=False) or ""
            length = node.end_lineno - node.lineno + 1 - docstring.count("\n")
            assert length <= 50, f"{node.name} has {length} lines without its docstring"


CORE = [path for path in FILES if not path.is_relative_to(SOURCE / "app")]


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_core_reads_no_environment(path):
    text = path.read_text(encoding="utf-8")
    assert "os.environ" not in text
    assert "getenv" not in text


def loaded_by(statement):
    code = f"import sys; {statement}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.parametrize(
    "heavy", ["hydra", "omegaconf", "mlflow", "pandas", "numba", "pyarrow", "matplotlib"]
)
def test_importing_recgauge_is_light(heavy):
    assert heavy not in loaded_by("import recgauge")


@pytest.mark.parametrize("heavy", ["numpy", "pandas", "pyarrow"])
def test_what_talks_to_mlflow_does_without_what_takes_long_to_import(heavy):
    modules = "answering, mlflow_store, views, claims, searches, opening"
    assert heavy not in loaded_by(f"from recgauge.app.tracking import {modules}")


def test_public_names_exist():
    assert all(getattr(recgauge, name) is not None for name in recgauge.__all__)
    assert sorted(recgauge.__all__) == list(recgauge.__all__)
