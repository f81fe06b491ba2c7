"""What an interactive session shows of the objects of a run: a line, and in a notebook a table."""

import numpy as np
import pytest

from recgauge import SVD, Demo, RandomRows, Relevant, evaluate, recommend, stream


@pytest.fixture(scope="module")
def objects():
    dataset = Demo().load()
    split = RandomRows(test_size=0.2).split(dataset.interactions, rng=stream(0, "split"))
    model = SVD(n_factors=4).fit(split.train, rng=stream(0, "fit"))
    relevant = Relevant.from_interactions(split.test, relevant_from=4)
    lists = recommend(model, relevant.users, k=10, excluded=split.train.to_csr())
    return {
        "Dataset(demo: 60,000 rows, 1,000 users, 1,500 items; explicit, relevant from 4)": dataset,
        "Interactions(60,000 rows, 1,000 users, 1,500 items, with times)": dataset.interactions,
        "Split(random: train 48,000 rows, test 12,000 rows)": split,
        f"Relevant(937 users, {len(relevant.items):,} relevant items)": relevant,
        "TopK(937 users, k=10)": lists,
        "Evaluation(937 users: ndcg@5 ": evaluate(lists, relevant, metrics=("ndcg", "map"), cutoffs=(5, 10)),
    }


def test_each_is_one_short_line(objects):
    for line, value in objects.items():
        assert repr(value).startswith(line)
        assert len(repr(value)) < 110
        assert "\n" not in repr(value)


def test_each_is_a_small_table_in_a_notebook_with_texts_escaped(objects):
    for value in objects.values():
        html = value._repr_html_()
        assert html.startswith("<table>")
        assert len(html) < 3000
    rows = Demo().load().interactions
    named = type(rows)(rows.user, rows.item, rows.value, None, np.array(["<b>"] * 1000), rows.item_ids)
    assert "<b>" not in named._repr_html_()
