"""What a job is called in the table of a sweep."""

from recgauge.app.sweep.callback import _short_labels
from recgauge.report.series import JobOutcome


def labels(*words):
    jobs = [JobOutcome(number, label, None, None) for number, label in enumerate(words)]
    return [job.label for job in _short_labels(jobs)]


def test_what_all_jobs_share_is_left_out():
    assert labels("model=svd seed=1", "model=random seed=1") == ["model=svd", "model=random"]
    assert labels("model=svd seed=1") == ["model=svd seed=1"]


def test_an_experiments_own_parts_go_without_its_name():
    words = [f"dataset={data} +experiment/x={part}" for data in ("demo", "ml_1m") for part in ("one", "two")]
    assert labels(*words) == [
        "dataset=demo one",
        "dataset=demo two",
        "dataset=ml_1m one",
        "dataset=ml_1m two",
    ]
