"""examples/compare_models.ipynb runs from top to bottom, and its results show themselves.

It is committed without outputs, so that a change of it can be read; here its cells run as Jupyter runs them:
the last expression of a cell is shown.
"""

import ast
import json
from html.parser import HTMLParser

import pytest

from conftest import REPOSITORY

pytestmark = pytest.mark.e2e
NOTEBOOK = json.loads((REPOSITORY / "examples" / "compare_models.ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


class Cells(HTMLParser):
    """Collects the cells of tables; a tag that is not closed in its order is an error."""

    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("td", "th"):
            self.texts.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.texts[-1] += data


def cells_of(html):
    parser = Cells()
    parser.feed(html)
    assert not parser.open
    return [text.strip() for text in parser.texts]


@pytest.fixture(scope="module")
def shown():
    """What the cells show, and the names that they leave."""
    names, last = {}, []
    for code in CODE:
        tree = ast.parse(code)
        value = None
        final = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "notebook", "exec"), names)
        if final is not None:
            value = eval(compile(ast.Expression(final.value), "notebook", "eval"), names)
        last.append(value)
    return [value for value in last if value is not None], names


def test_every_cell_runs_and_the_numbers_are_those_of_the_command_line(shown):
    values, names = shown
    assert round(names["found"]["svd"].values()["ndcg_at_10"], 4) == 0.1831  # README, `make run`
    assert "svd is better than item_knn" in names["result"].claims[0]
    assert len(values) == 5


def test_evaluations_and_comparisons_show_themselves_as_tables(shown):
    values, _ = shown
    evaluation, _, comparison, figure, segments = values
    assert "0.1831 ± 0.0065" in cells_of(evaluation._repr_html_())
    assert {"svd", "item_knn", "popularity"} <= set(cells_of(comparison._repr_html_()))
    assert {"all", "svd"} <= set(cells_of(segments._repr_html_()))
    assert "Mean over 937 users" in evaluation._repr_html_()
    assert figure.axes


def test_it_has_no_outputs_and_ids():
    assert NOTEBOOK["nbformat"] == 4
    assert all(cell["outputs"] == [] for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code")
    ids = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len(set(ids)) == len(ids)


def test_what_is_to_be_installed_is_here_and_not_a_package_of_that_name_in_an_index():
    first = "".join(NOTEBOOK["cells"][0]["source"])
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert "`pip install . jupyterlab`" in first
    assert "    pip install . " in readme
    assert "pip install recgauge" not in first + readme
