"""What a job is called in the table of a sweep."""

from recgauge.app.sweep.outcome import short_labels


def test_what_all_jobs_share_is_left_out():
    assert short_labels(["model=svd seed=1", "model=random seed=1"]) == ["model=svd", "model=random"]
    assert short_labels(["model=svd seed=1"]) == ["model=svd seed=1"]


def test_an_experiments_own_parts_go_without_its_name():
    words = [f"dataset={data} +experiment/x={part}" for data in ("demo", "ml_1m") for part in ("one", "two")]
    assert short_labels(words) == [
        "dataset=demo one",
        "dataset=demo two",
        "dataset=ml_1m one",
        "dataset=ml_1m two",
    ]
