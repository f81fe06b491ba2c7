"""model=recorded: lists and predicted ratings from files, like those of the model that made them."""

import numpy as np
import pytest

from recgauge import recommend
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, DataError
from recgauge.evaluation.evaluate_ratings import predict_ratings
from recgauge.guards.checks import check_recorded
from recgauge.models import Recorded

TRAIN = Interactions.from_ids(["a", "b", "b", "c"], ["x", "y", "z", "w"])


RATED = Interactions.from_ids(["a", "a", "b", "b"], ["x", "y", "y", "z"], [5.0, 3.0, 4.0, 2.0])
RATED_TRAIN, RATED_TEST = RATED.take(np.array([0, 2, 3])), RATED.take(np.array([1, 3]))


def fitted(tmp_path, text, train=TRAIN, name="recs.csv", **settings):
    (tmp_path / name).write_text(text)
    return Recorded(str(tmp_path / name), **settings).fit(train, rng=np.random.default_rng(0))


def lists(model, k=3, users=(0, 1, 2), **more):
    return recommend(model, np.array(users, np.int32), k, **more).items.tolist()


def test_lists_are_those_of_the_file_and_never_filled_up(tmp_path):
    model = fitted(tmp_path, "user,item,rank\na,w,2\na,z,1\nc,y,1\n")
    w, y, z = (TRAIN.item_ids.tolist().index(item) for item in "wyz")
    assert lists(model) == [[z, w, -1], [-1, -1, -1], [y, -1, -1]]
    assert lists(model, k=1, users=(2, 0)) == [[y], [z]]


def test_a_run_keeps_what_was_found_among_its_guards(tmp_path):
    text = "user,item,rank,score\na,y,1,2\na,z,2,2\na,y,3,1\nq,y,1,1\n"
    found = check_recorded(fitted(tmp_path, text, keep=["repeats"]))
    assert [(one.name, one.value, one.level) for one in found] == [
        ("lists_repeats", 1, "warning"),
        ("lists_unknown_users", 1, "note"),
        ("lists_ties", 1, "note"),
    ]
    assert "recs.csv, line 4" in found[0].message


@pytest.mark.parametrize("column", ["prediction", "est", "rating", "score"])
def test_scores_of_the_file_are_the_predicted_ratings(tmp_path, column):
    model = fitted(tmp_path, f"user,item,{column}\nb,z,1.5\na,y,9\na,x,4\n", RATED_TRAIN)
    found = predict_ratings(model, RATED_TEST, (1.0, 5.0))
    assert found.predicted.tolist() == [5.0, 1.5]
    assert found.counts()["ratings_clipped"] == 1


def test_a_missing_prediction_is_refused_or_counted(tmp_path):
    text = "user,item,prediction\na,y,4\n"
    with pytest.raises(DataError, match=r"user 'b', item 'z'\. without_prediction: 1 .*model\.keep="):
        predict_ratings(fitted(tmp_path, text, RATED_TRAIN), RATED_TEST, None)
    model = fitted(tmp_path, text, RATED_TRAIN, keep=["without_prediction"])
    found = predict_ratings(model, RATED_TEST, None)
    assert found.predicted.tolist() == pytest.approx([4, 11 / 3])
    assert found.counts()["ratings_impossible"] == 1
    assert [(one.name, one.count) for one in model.findings] == [("without_prediction", 1)]


def test_a_run_has_one_file_and_one_tag(tmp_path):
    text = "a Q0 y 1 2 one\na Q0 y 1 3 two\n"
    with pytest.raises(ConfigError, match=r"2 runs.*model\.tag=one,two"):
        fitted(tmp_path, text, RATED_TRAIN, "both.run")
    chosen = fitted(tmp_path, text, RATED_TRAIN, "both.run", tag="two")
    assert chosen.predict(np.array([0]), np.array([1])).tolist() == [3]
    with pytest.raises(ConfigError, match=r"model\.tag=three.*one.*two"):
        fitted(tmp_path, text, RATED_TRAIN, "both.run", tag="three")
