"""Which runs are compared, by what names, and which are refused, naming the difference."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recgauge.cli.commands.cli import main
from recgauge.comparison.measured_alike import require_equal_protocols
from recgauge.comparison.run_groups import group
from recgauge.comparison.runs import run_names
from recgauge.errors import ConfigError
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import JobOutcome
from recgauge.runs.protocol import protocol
from recgauge.runs.record import PartFacts, SearchFacts
from recgauge.search.trials import Trial
from recgauge.sweeps.ending import compare_sweep, end_sweep
from recgauge.sweeps.sweep import Sweep
from recgauge.sweeps.tables import sweep_table
from recgauge.tracking.outbox import Deliveries
from records import NAMES, metric, record_with

USERS = 60
SETTINGS = {
    "dataset": {"_target_": "recgauge.datasets.movielens.MovieLens", "name": "d", "relevant_from": 4},
    "filters": {},
    "split": {"_target_": "recgauge.splits.RandomRows", "test_size": 0.2, "validation_size": 0.0},
    "candidates": {"_target_": "recgauge.candidates.AllItems", "seen": "train"},
    "conventions": {"name": "standard"},
    "ties": None,
    "cutoffs": [10],
    "seed": 0,
    "fit_on": "train",
    "evaluate_on": "test",
}
POLICIES = "no_relevant=skip, no_list=zero, ties=stable, threshold=1"


def record_of(of="svd", /, *, seed=0, value=0.5, **settings):
    """Return the record of a run as real ones are, with other settings where they are named."""
    chosen = SETTINGS | {"model": {"_target_": f"m.{of}", "size": 8}, "seed": seed} | settings
    return record_with(
        metric("ndcg", 10, value, stderr=0.01),
        metric("recall", 10, value / 2, stderr=0.01),
        names=NAMES | {"model": of},
        seed=seed,
        settings=chosen,
        policies=POLICIES,
        environment={"numeric_version": 3},
        seconds={"fit": 1.5, "recommend": 0.25},
        memory={"peak_bytes": 250_000_000, "model_bytes": 1_500_000},
    )


def store(folder, record, *, users=USERS):
    """Write a run's folder: its record, and per-user values whose mean is that of the record."""
    folder.mkdir(parents=True)
    (folder / "record.json").write_text(record.to_json(), encoding="utf-8")
    rng = np.random.default_rng(len(record.names["model"]) + record.seed)
    noise = rng.normal(0, 0.1, users)
    values = {entry.key: entry.value + noise - noise.mean() for entry in record.results}
    pq.write_table(pa.table({"user_id": np.arange(users), **values}), folder / "per_user.parquet")
    return folder


@pytest.fixture
def pair(tmp_path):
    """Folders of two runs that differ in the model alone."""
    return [
        store(tmp_path / model, record_of(model, value=value))
        for model, value in (("svd", 0.6), ("knn", 0.5))
    ]


def compare(capsys, *words):
    """Return exit code, output and error of the command."""
    code = main(["compare", "--resamples", "200", *map(str, words)])
    return code, *capsys.readouterr()


def test_a_sweep_and_a_comparison_have_one_mean_of_several_seeds(tmp_path, capsys):
    jobs = []
    for model, value in (("svd", 0.6), ("knn", 0.5)):
        for seed, users in ((0, 60), (1, 20)):
            record = record_of(model, seed=seed, value=value + 0.11 * seed, split={"_target_": "s.Random"})
            record = with_part(record, "test", f"rows of seed {seed}")
            folder = store(tmp_path / f"{model}{seed}", record, users=users)
            jobs.append(JobOutcome(len(jobs), f"model={model} seed={seed}", record=record, folder=folder))
    table = sweep_table(jobs)
    place = table.header.index("ndcg@10")
    code, out, _ = compare(capsys, *(job.folder for job in jobs), "--metrics", "ndcg@10")
    assert code == 0
    for model, mean in (("svd", "0.6550"), ("knn", "0.5550")):
        assert [mean] == [row[place].text for row in table.cells() if f"model={model} mean" in row[1].text]
        assert mean in next(line for line in out.splitlines() if line.startswith(model))


def with_part(record, part, digest):
    return replace(record, split=replace(record.split, **{part: PartFacts(1, 1, digest)}))


def rows_of(part):
    return lambda record: with_part(record, part, "x")


def setting(**settings):
    return lambda record: replace(record, settings=record.settings | settings)


SPLIT = SETTINGS["split"]
EXPONENTIAL = metric("ndcg", 10, 0.5, definition="nDCG(gain=exponential)@10")
MISMATCHES = [
    (setting(split=SPLIT | {"validation_size": 0.1}), "split.validation_size: 0.0 (svd); 0.1 (knn)"),
    (rows_of("test"), "evaluated rows: b (svd); x (knn)"),
    (lambda record: replace(record, candidates_sha256="c"), "candidates drawn:  (svd); c (knn)"),
    (
        lambda record: replace(record, results=(EXPONENTIAL,)),
        "definition of ndcg_at_10: ndcg@10 (svd); nDCG(gain=exponential)@10 (knn)",
    ),
    (
        lambda record: replace(record, policies=record.policies.replace("ties=stable", "ties=expected")),
        "ties: stable (svd); expected (knn)",
    ),
    (
        lambda record: replace(record, environment={"numeric_version": 2}),
        "numbers of recgauge: version 3 (svd); ",
    ),
    (setting(weather="rain"), "weather: none (svd); rain (knn)"),
]


def test_runs_that_differ_in_more_than_the_model_are_refused(tmp_path, capsys):
    for number, (change, difference) in enumerate(MISMATCHES):
        runs = [FinishedRun(record, Path()) for record in (record_of("svd"), change(record_of("knn")))]
        protocols = [protocol([run.record], ["ndcg_at_10"]) for run in runs]
        with pytest.raises(ConfigError, match=re.escape(difference)):
            require_equal_protocols(protocols, ["svd", "knn"], "d")
        if not number:
            folders = [store(tmp_path / name, run.record) for name, run in zip("ab", runs, strict=True)]
            code, out, err = compare(capsys, *folders, "--metrics", "ndcg@10")
            assert (code, out) == (1, "")
            assert difference in err


def test_what_makes_numbers_mean_less_is_told_in_the_output_and_in_every_file(tmp_path, capsys):
    def sampled(record):
        return replace(record, incomparable="ranked among 100 negatives", candidates_sha256="c")

    records = [sampled(record_of("svd")), sampled(record_of("svd", model={"_target_": "m.svd", "size": 16}))]
    folders = [store(tmp_path / str(number), record) for number, record in enumerate(records)]
    files = [tmp_path / f"table.{kind}" for kind in ("md", "tex", "json")]
    _, out, _ = compare(capsys, *folders, "--out", *files)
    for text in (out, *(file.read_text() for file in files)):
        assert "not comparable with full-catalogue numbers: ranked among 100 negatives" in text
        assert "selection on test" in text.replace("\\_", "_")
    assert "[svd size=8, svd size=16]" in out


def tuned_record(**chosen):
    trials = (Trial(0, chosen, "finished", 0.5, 1.0),)
    search = SearchFacts("s", "ndcg_at_10", True, "tpe", "20 trials", trials, own_first=True)
    model = {"_target_": "m.svd", "size": 8, "values": "rating"} | chosen
    split = SPLIT | {"validation_size": 0.1}
    return replace(record_of("svd", model=model, split=split, fit_on="train_validation"), search=search)


def test_a_tuned_run_is_named_by_its_search_and_not_by_what_it_lacks():
    plain = record_of("svd", model={"_target_": "m.svd", "size": 8, "values": "rating"})
    names = run_names(group([run_of(plain), run_of(tuned_record(size=3, values="binary"), 1)]))
    assert sorted(names) == ["svd", "svd tuned"]


def test_the_edge_of_a_range_is_told_unless_the_defaults_won():
    tuned = tuned_record(size=8)
    tuned = replace(tuned, settings=tuned.settings | {"search": {"size": {"low": 1, "high": 8}}})
    assert tuned.search_remarks == ["the defaults won"]
    other = replace(tuned, search=replace(tuned.search, own_first=False))
    assert other.search_remarks == ["size at the edge of its range, 1 to 8: raise search.svd.size.high"]


def test_data_sets_are_compared_apart_and_tuned_runs_marked(pair, tmp_path, capsys):
    of_e = {"dataset": SETTINGS["dataset"] | {"name": "e"}}
    records = [
        replace(record_of(model, **of_e), names=NAMES | {"dataset": "e", "model": model})
        for model in ("svd", "knn")
    ]
    records[0] = replace(records[0], search=tuned_record(size=8).search)
    others = [store(tmp_path / f"e{number}", record) for number, record in enumerate(records)]
    code, out, err = compare(capsys, *pair, *others)
    assert code == 0, err
    assert "2 data sets, each compared by itself: d (2 runs), e (2 runs)." in out
    assert out.count("\nrun ") == 2
    assert "are without svd, svd tuned, which not every data set has" in out
    tuned = [line for line in out.splitlines() if "1 trial" in line]
    assert [line.split()[:2] for line in tuned] == [["svd", "tuned"]]


def run_of(record, number=0):
    return FinishedRun(record, Path(str(number)), label=f"run {number}")


def test_of_equal_runs_that_with_the_metrics_counts_else_the_newest(pair, tmp_path, capsys):
    import os

    newer = store(tmp_path / "newer", record_of("svd", value=0.7))
    os.utime(pair[0] / "record.json", (1, 1))
    code, out, _ = compare(capsys, *pair, newer)
    assert code == 0
    assert "0.7000*" in out
    assert f"svd on d, seed 0, was run 2 times with equal settings; the newest counts: {newer}" in out
    fewer = record_of("svd", value=0.6, metrics={"ndcg": {}})
    fewer = store(tmp_path / "fewer", replace(fewer, results=fewer.results[:1]))
    out = compare(capsys, *pair, newer, fewer)[1]
    assert f"3 times with equal settings but for metrics; that with more metrics counts: {newer}" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["{0}"], "a comparison needs at least two runs on one data set, got d: svd"),
        (
            ["{0}", "{1}", "--metrics", "ngcd@10"],
            "--metrics: there is no ngcd@10. Did you mean ndcg@10? All runs have ndcg, recall.",
        ),
        (["{0}", "{bare}"], "has stored no per_user.parquet"),
    ],
)
def test_what_cannot_be_compared_is_told_in_one_message(words, told, pair, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    bare = store(tmp_path / "bare", record_of("ease"))
    (bare / "per_user.parquet").unlink()
    named = {"empty": tmp_path / "empty", "bare": bare}
    code, out, err = compare(capsys, *[word.format(*pair, **named) for word in words])
    assert code == 1
    assert told in err
    assert err.startswith("error: ")
    assert err.count("error: ") == 1
    assert out == ""


def test_of_a_sweep_over_candidates_the_runs_that_agree_are_compared(pair, tmp_path):
    records = [
        record_of("svd", value=0.6),
        record_of("knn"),
        replace(record_of("ease"), candidates_sha256="c"),
    ]
    folders = [*pair, store(tmp_path / "ease", records[2])]
    jobs = [
        JobOutcome(number, "", record=record, folder=folder)
        for number, (record, folder) in enumerate(zip(records, folders, strict=True))
    ]
    found, _ = compare_sweep(jobs, tmp_path / "sweep")
    assert {row.run for row in found.results[0].rows} == {"svd", "knn"}
    assert any("2 of 3 runs are compared" in note for note in found.notes)
    assert not any("no results" in note for note in found.notes)
    failed = JobOutcome(3, "", status="failed", reason="it diverged")
    found, _ = compare_sweep([*jobs, failed], tmp_path / "sweep")
    assert "1 of 4 jobs have no results and are left out: summary.csv says why" in found.notes
    assert compare_sweep(jobs[1:], tmp_path) is None


def test_a_sweep_does_not_fail_since_its_runs_cannot_be_compared(tmp_path, capsys):
    jobs = [JobOutcome(number, "", record=record_of(model)) for number, model in enumerate(("svd", "knn"))]
    (tmp_path / "per_user.parquet").write_bytes(b"no table")
    sweep = Sweep(tmp_path, None, outcomes={job.number: replace(job, folder=tmp_path) for job in jobs})
    with Deliveries() as deliveries:
        assert end_sweep(sweep, deliveries)
    assert "the runs are not compared: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (None, "is damaged: "),
        (["x"] * USERS, "ndcg_at_10 should be numbers"),
        (np.full(USERS, 0.9), "the mean of ndcg_at_10 over its 60 users is 0.9, and record.json has 0.5"),
    ],
)
def test_values_that_are_not_those_of_the_record_are_refused(pair, capsys, values, told):
    path = pair[1] / "per_user.parquet"
    if values is None:
        path.write_bytes(path.read_bytes()[:200])
    else:
        pq.write_table(pq.read_table(path).set_column(1, "ndcg_at_10", pa.array(values)), path)
    assert main(["compare", *map(str, pair)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"error: {path}: ")
    assert told in err
    assert "Copy the run's folder once more, or run it again." in err
    assert len(err.splitlines()) == 1
