"""examples/compare_models.ipynb runs from top to bottom, and its results show themselves.

It is committed without outputs, so that a change of it can be read; here its cells run as Jupyter runs them:
the last expression of a cell is shown.
"""

import ast
import json
import re

import pytest

from conftest import REPOSITORY

pytestmark = pytest.mark.e2e
NOTEBOOK = json.loads((REPOSITORY / "examples" / "compare_models.ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the cells show, and the names that they leave."""
    names, last = {}, []
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.chdir(tmp_path_factory.mktemp("notebook"))
    for code in CODE:
        tree = ast.parse(code)
        value = None
        final = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "notebook", "exec"), names)
        if final is not None:
            value = eval(compile(ast.Expression(final.value), "notebook", "eval"), names)
        last.append(value)
    monkeypatch.undo()
    return [value for value in last if value is not None], names


def test_every_cell_runs_and_the_numbers_are_those_of_the_command_line(shown):
    values, names = shown
    found = names["found"]
    assert round(found["svd"].values()["ndcg_at_10"], 4) == 0.1831  # README, `make run`
    assert names["run"].numbers["ndcg_at_10"] == found["svd"].values()["ndcg_at_10"]
    assert "svd is better than item_knn" in names["result"].claims[0]
    assert len(values) == 6


def test_evaluations_and_comparisons_show_themselves_as_tables(shown):
    values, _ = shown
    run, evaluation, _, comparison, figure, segments = values
    for value, cells in (
        (run, ["ndcg", "0.1831 ± .0065"]),
        (evaluation, ["0.1831 ± 0.0065"]),
        (comparison, ["svd", "item_knn", "popularity"]),
        (segments, ["all", "svd"]),
    ):
        for cell in cells:
            assert re.search(rf">\s*{cell}\s*<", value._repr_html_()), cell
    assert figure.axes
