"""Predicted ratings from files: in a run and by ``recgauge evaluate``."""

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, DataError, ModelError
from recgauge.evaluation.evaluate_ratings import predict_ratings
from recgauge.models import Recorded

EVERY = Interactions.from_ids(["a", "a", "b", "b"], ["x", "y", "y", "z"], [5.0, 3.0, 4.0, 2.0])
TRAIN, TEST = EVERY.take(np.array([0, 2, 3])), EVERY.take(np.array([1, 3]))


def fitted(tmp_path, text, name="recs.csv", **settings):
    (tmp_path / name).write_text(text)
    return Recorded(str(tmp_path / name), **settings).fit(TRAIN, rng=np.random.default_rng(0))


@pytest.mark.parametrize("column", ["prediction", "est", "rating", "score"])
def test_scores_of_the_file_are_the_predicted_ratings(tmp_path, column):
    model = fitted(tmp_path, f"user,item,{column}\nb,z,1.5\na,y,9\na,x,4\n")
    found = predict_ratings(model, TEST, (1.0, 5.0))
    assert found.predicted.tolist() == [5.0, 1.5]
    assert found.counts()["ratings_clipped"] == 1


def test_a_missing_prediction_is_refused_or_counted(tmp_path):
    text = "user,item,prediction\na,y,4\n"
    with pytest.raises(DataError, match=r"user 'b', item 'z'\. without_prediction: 1 .*model\.keep="):
        predict_ratings(fitted(tmp_path, text), TEST, None)
    model = fitted(tmp_path, text, keep=["without_prediction"])
    found = predict_ratings(model, TEST, None)
    assert found.predicted.tolist() == pytest.approx([4, 11 / 3])
    assert found.counts()["ratings_impossible"] == 1
    assert [(one.name, one.count) for one in model.found] == [("without_prediction", 1)]


def test_ranks_are_no_ratings(tmp_path):
    with pytest.raises(ModelError, match="has no scores"):
        predict_ratings(fitted(tmp_path, "user,item,rank\na,y,1\n"), TEST, None)


def test_a_run_has_one_file_and_one_tag(tmp_path):
    text = "a Q0 y 1 2 one\na Q0 y 1 3 two\n"
    with pytest.raises(ConfigError, match=r"2 runs.*model\.tag=one,two"):
        fitted(tmp_path, text, "both.run")
    chosen = fitted(tmp_path, text, "both.run", tag="two")
    assert chosen.predict(np.array([0]), np.array([1])).tolist() == [3]
    with pytest.raises(ConfigError, match=r"model\.tag=three.*one.*two"):
        fitted(tmp_path, text, "both.run", tag="three")
