"""model=recorded: lists from a file through a run, like those of the model that made them."""

import numpy as np
import pytest

from recgauge import Demo, RandomRows, Relevant, evaluate, recommend, stream
from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.errors import DataError, ModelError
from recgauge.guards.lists import check_recorded
from recgauge.models import Popularity, Recorded

TRAIN = Interactions.from_ids(["a", "b", "b", "c"], ["x", "y", "z", "w"])


def fitted(tmp_path, text, **settings):
    path = tmp_path / "recs.csv"
    path.write_text(text)
    return Recorded(str(path), **settings).fit(TRAIN, rng=np.random.default_rng(0))


def lists(model, k=3, users=(0, 1, 2), **more):
    return recommend(model, np.array(users, np.int32), k, **more).items.tolist()


def test_lists_are_those_of_the_file_and_never_filled_up(tmp_path):
    model = fitted(tmp_path, "user,item,rank\na,w,2\na,z,1\nc,y,1\n")
    w, y, z = (TRAIN.item_ids.tolist().index(item) for item in "wyz")
    assert lists(model) == [[z, w, -1], [-1, -1, -1], [y, -1, -1]]
    assert lists(model, k=1, users=(2, 0)) == [[y], [z]]


def test_what_is_no_candidate_is_taken_out(tmp_path):
    model = fitted(tmp_path, "user,item,score\na,x,9\na,w,8\na,z,8\n")
    w, z = (TRAIN.item_ids.tolist().index(item) for item in "wz")
    assert lists(model, users=(0,), candidates=CandidateItems(excluded=TRAIN.to_csr())) == [
        [*sorted((w, z)), -1]
    ]


def test_items_that_the_data_set_does_not_have_are_refused_with_their_row(tmp_path):
    text = "user,item,rank\na,nowhere,1\na,z,2\n"
    with pytest.raises(DataError, match=r"recs\.csv, line 2\. unknown_items: 1 "):
        fitted(tmp_path, text)
    assert lists(fitted(tmp_path, text, keep=["unknown_items"]), k=1, users=(0,)) == [
        [TRAIN.item_ids.tolist().index("z")]
    ]


def test_scores_of_other_items_are_not_made_up(tmp_path):
    model = fitted(tmp_path, "user,item,rank\na,z,1\n")
    with pytest.raises(ModelError, match="curves"):
        model.score(np.array([0], np.int32))


def test_a_model_and_its_recorded_lists_have_the_same_values(tmp_path):
    rows = Demo().load().interactions
    split = RandomRows(test_size=0.2).split(rows, rng=stream(0, "split"))
    relevant = Relevant.from_interactions(split.test, relevant_from=4)
    made = recommend(
        Popularity().fit(split.train, rng=stream(0, "fit")),
        relevant.users,
        k=10,
        excluded=split.train.to_csr(),
    )
    row, place = np.nonzero(made.items >= 0)
    path = tmp_path / "popularity.csv"
    lines = zip(rows.user_ids[made.users[row]], rows.item_ids[made.items[row, place]], place + 1, strict=True)
    path.write_text("user,item,rank\n" + "".join(f"{u},{i},{r}\n" for u, i, r in lines))
    model = Recorded(str(path)).fit(split.train, rng=stream(0, "fit"))
    again = recommend(model, relevant.users, k=10, excluded=split.train.to_csr())
    assert (again.items == made.items).all()
    one, two = (evaluate(some, relevant, metrics=("ndcg", "map")).values() for some in (made, again))
    assert one == two


def test_a_run_keeps_what_was_found_among_its_guards(tmp_path):
    text = "user,item,rank,score\na,y,1,2\na,z,2,2\na,y,3,1\nq,y,1,1\n"
    found = check_recorded(fitted(tmp_path, text, keep=["duplicates"]))
    assert [(one.name, one.value, one.level) for one in found] == [
        ("lists_duplicates", 1, "warning"),
        ("lists_unknown_users", 1, "note"),
        ("lists_ties", 1, "note"),
    ]
    assert "recs.csv, line 4" in found[0].message
    assert check_recorded(Popularity()) == ()
