"""Which runs are compared, by what names, and which are refused, naming the difference."""

import dataclasses
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recgauge.cli.commands.cli import main
from recgauge.comparison.runs import agreeing, run_names
from recgauge.comparison.series import all_series
from recgauge.report.sweep_tables import sweep_table
from recgauge.runs.facts import JobFacts, PartFacts, SearchFacts
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.protocol import differences, protocol
from recgauge.search.trial import Trial
from recgauge.sweeps.compared import claim_lines, compare_sweep, comparison_summary
from recgauge.sweeps.ending import end_sweep
from recgauge.sweeps.sweep import Sweep
from recgauge.tracking import Deliveries, Store, find_runs
from recgauge.tracking.store import open_store
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


def store(folder, record, *, users=USERS, keys=None, order=None, ids=None):
    """Write a run's folder: its record, and per-user values whose mean is that of the record."""
    folder.mkdir(parents=True)
    (folder / "record.json").write_text(record.to_json(), encoding="utf-8")
    rng = np.random.default_rng(len(record.names["model"]) + record.seed)
    noise = rng.normal(0, 0.1, users)
    ids = np.arange(users) if ids is None else np.array([f"{ids}{n}" for n in range(users)])
    columns = {"user_id": ids}
    for entry in record.results:
        if keys is None or entry.key in keys:
            columns[entry.key] = entry.value + noise - noise.mean()
    order = slice(None) if order is None else order
    pq.write_table(pa.table({key: each[order] for key, each in columns.items()}), folder / "per_user.parquet")
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


def test_the_better_run_is_marked_and_costs_are_shown(pair, capsys):
    code, out, err = compare(capsys, *pair)
    assert (code, err) == (0, "")
    assert "d: 2 runs, 60 users" in out
    lines = [line.split() for line in out.splitlines()]
    assert next(line for line in lines if line[:1] == ["svd"])[:2] == ["svd", "0.6000*"]
    assert "250.0" in out
    assert "+0.1000" in out


def test_the_order_of_users_changes_nothing(pair, tmp_path, capsys, rng):
    first = compare(capsys, *pair)
    shuffled = [
        store(tmp_path / "again" / model, record_of(model, value=value), order=rng.permutation(USERS))
        for model, value in (("svd", 0.6), ("knn", 0.5))
    ]
    assert compare(capsys, *shuffled) == first


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


def altered(record, **changes):
    return dataclasses.replace(record, **changes)


def with_settings(record, **settings):
    return altered(record, settings=record.settings | settings)


def with_part(record, part, digest):
    return altered(record, split=replace(record.split, **{part: PartFacts(1, 1, digest)}))


SPLIT, CANDIDATES = SETTINGS["split"], SETTINGS["candidates"]
LEAVE_OUT = {"_target_": "recgauge.splits.LeaveOneOut", "cold_users": "drop"}
MISMATCHES = {
    "data": (lambda r: altered(r, dataset=replace(r.dataset, sha256="ff")), "data: 0 (svd); ff (knn)"),
    "relevance": (
        lambda r: altered(r, dataset=replace(r.dataset, relevant_from=3.0)),
        "dataset.relevant_from: 4.0 (svd); 3.0 (knn)",
    ),
    "filter": (
        lambda r: with_settings(r, filters={"n_core": {"n": 5}}),
        "filters: none (svd); n_core(n=5) (knn)",
    ),
    "split": (
        lambda r: altered(with_settings(r, split=LEAVE_OUT), names=r.names | {"split": "leave_one_out"}),
        "split: s (svd); leave_one_out (knn)",
    ),
    "split size": (
        lambda r: with_part(with_settings(r, split=SPLIT | {"test_size": 0.1}), "test", "x"),
        "split.test_size: 0.2 (svd); 0.1 (knn)",
    ),
    "validation": (
        lambda r: with_settings(r, split=SPLIT | {"validation_size": 0.1}),
        "split.validation_size: 0.0 (svd); 0.1 (knn)",
    ),
    "fold": (
        lambda r: with_part(with_settings(r, split=SPLIT | {"fold": 1}), "test", "x"),
        "split.fold: none (svd); 1 (knn)",
    ),
    "seed of the split": (lambda r: altered(with_part(r, "test", "x"), seed=1), "seed: 0 (svd); 1 (knn)"),
    "test rows": (lambda r: with_part(r, "test", "x"), "evaluated rows: b (svd); x (knn)"),
    "training rows": (lambda r: with_part(r, "train", "x"), "train rows: a (svd); x (knn)"),
    "fold-in rows": (lambda r: with_part(r, "fold_in", "x"), "fold-in rows: none (svd); x (knn)"),
    "fitted on": (lambda r: with_settings(r, fit_on="all"), "fit_on: train (svd); all (knn)"),
    "validation rows": (
        lambda r: altered(
            with_settings(r, evaluate_on="validation"), split=replace(r.split, evaluated="validation")
        ),
        "evaluate_on: test (svd); validation (knn)",
    ),
    "candidates": (
        lambda r: altered(r, names=r.names | {"candidates": "sampled"}, candidates_sha256="c"),
        "candidates: all (svd); sampled (knn)",
    ),
    "seen items": (
        lambda r: with_settings(r, candidates=CANDIDATES | {"seen": "none"}),
        "candidates.seen: train (svd); none (knn)",
    ),
    "negatives": (lambda r: altered(r, candidates_sha256="c"), "candidates drawn:  (svd); c (knn)"),
    "conventions": (
        lambda r: altered(r, names=r.names | {"conventions": "trec"}),
        "conventions: standard (svd); trec (knn)",
    ),
    "definition": (
        lambda r: altered(r, results=(metric("ndcg", 10, 0.5, definition="nDCG(gain=exponential)@10"),)),
        "definition of ndcg_at_10: ndcg@10 (svd); nDCG(gain=exponential)@10 (knn)",
    ),
    "ties": (
        lambda r: altered(r, policies=r.policies.replace("ties=stable", "ties=expected")),
        "ties: stable (svd); expected (knn)",
    ),
    "users without relevant items": (
        lambda r: altered(r, policies=r.policies.replace("no_relevant=skip", "no_relevant=zero")),
        "no_relevant: skip (svd); zero (knn)",
    ),
    "threshold": (
        lambda r: altered(r, policies=r.policies.replace("threshold=1", "threshold=2")),
        "threshold: 1 (svd); 2 (knn)",
    ),
    "version of the numbers": (
        lambda r: altered(r, environment={"numeric_version": 2}),
        "numbers of recgauge: version 3 (svd); version 2 (knn)",
    ),
    "a setting of tomorrow": (lambda r: with_settings(r, weather="rain"), "weather: none (svd); rain (knn)"),
}


@pytest.mark.parametrize("kind", MISMATCHES)
def test_runs_that_differ_in_more_than_the_model_are_refused(kind, tmp_path, capsys):
    change, told = MISMATCHES[kind]
    folders = [store(tmp_path / "a", record_of("svd")), store(tmp_path / "b", change(record_of("knn")))]
    words = [*folders, "--metrics", "ndcg@10"]
    code, out, err = compare(capsys, *words)
    assert code == 1
    assert told in err
    assert out == ""
    code, out, err = compare(capsys, *words, "--mark")
    assert code == 0, err
    assert f"† d: the runs differ in {told}" in out
    assert "knn †" in out


def test_a_difference_is_told_once_and_not_what_follows_from_it():
    one = record_of("svd")
    other = altered(with_part(with_part(record_of("knn", seed=1), "train", "x"), "test", "y"), seed=1)
    assert differences([protocol([one]), protocol([other])]) == {"seed": ("0", "1")}


def test_seeds_may_differ_where_they_change_no_row(tmp_path, capsys):
    folders = [store(tmp_path / "a", record_of("svd")), store(tmp_path / "b", record_of("knn", seed=3))]
    assert compare(capsys, *folders)[0] == 0


def test_other_metrics_and_cutoffs_do_not_matter_for_the_metrics_that_all_have(tmp_path, capsys):
    more = record_of("knn", cutoffs=[10, 20], metrics={"ndcg": "ndcg"}, sanity=True)
    folders = [store(tmp_path / "a", record_of("svd")), store(tmp_path / "b", more)]
    assert compare(capsys, *folders)[0] == 0


def test_what_makes_numbers_mean_less_is_told_in_the_output_and_in_every_file(tmp_path, capsys):
    def sampled(record):
        return altered(record, incomparable="ranked among 100 negatives", candidates_sha256="c")

    records = [sampled(record_of("svd")), sampled(record_of("svd", model={"_target_": "m.svd", "size": 16}))]
    folders = [store(tmp_path / str(number), record) for number, record in enumerate(records)]
    files = [tmp_path / f"table.{kind}" for kind in ("md", "tex", "json")]
    _, out, _ = compare(capsys, *folders, "--out", *files)
    for text in (out, *(file.read_text() for file in files)):
        assert "not comparable with full-catalogue numbers: ranked among 100 negatives" in text
        assert "selection on test" in text.replace("\\_", "_")
    assert "[svd size=8, svd size=16]" in out


def test_folds_and_seeds_of_a_model_are_one_run(tmp_path, capsys):
    folders = []
    for model, value in (("svd", 0.6), ("knn", 0.5)):
        for fold in range(3):
            record = with_part(
                record_of(model, value=value + fold / 100, split=SPLIT | {"fold": fold}), "test", f"{fold}"
            )
            folders.append(store(tmp_path / f"{model}{fold}", record))
    code, out, _ = compare(capsys, *folders)
    assert code == 0
    assert "d: 2 runs" in out
    assert "±0.0100 of 3" in out


def test_a_tuned_model_is_one_run_over_folds_whatever_was_chosen():
    def tuned(fold):
        trials = (Trial(0, {"size": fold + 1}, "finished", 0.5, 1.0),)
        search = SearchFacts("s", "ndcg_at_10", True, "tpe", "20 trials", trials)
        model = {"_target_": "m.svd", "size": fold + 1}
        return altered(record_of("svd", split=SPLIT | {"fold": fold}, model=model), search=search)

    assert len(all_series([job_of(tuned(fold)) for fold in range(3)])) == 1


def tuned_record(**chosen):
    trials = (Trial(0, chosen, "finished", 0.5, 1.0),)
    search = SearchFacts("s", "ndcg_at_10", True, "tpe", "20 trials", trials)
    model = {"_target_": "m.svd", "size": 8, "values": "rating"} | chosen
    split = SPLIT | {"validation_size": 0.1}
    return altered(record_of("svd", model=model, split=split, fit_on="train_validation"), search=search)


def test_a_tuned_run_is_named_by_its_search_and_not_by_what_it_lacks():
    plain = record_of("svd", model={"_target_": "m.svd", "size": 8, "values": "rating"})
    names = run_names(all_series([job_of(plain), job_of(tuned_record(size=3, values="binary"), 1)]))
    assert sorted(names) == ["svd size=8 values=rating", "svd tuned=tpe, 20 trials"]


def test_without_sources_the_largest_number_of_runs_that_agree_is_compared_and_the_rest_named():
    jobs = [job_of(tuned_record(size=3)), job_of(record_of("svd"), 1), job_of(record_of("knn"), 2)]
    kept, (note,) = agreeing(jobs)
    assert [job.number for job in kept] == [1, 2]
    assert note.startswith("d: 2 of 3 runs are compared")
    assert "Left out: svd tuned=tpe, 20 trials" in note
    assert "split.validation_size 0.1 instead of 0.0" in note
    assert agreeing(jobs[:1]) == ([], [])


def job_of(record, number=0):
    return JobOutcome(number, f"run {number}", record=record)


def test_runs_of_one_model_are_named_by_what_differs():
    records = [record_of("svd"), record_of("svd", model={"_target_": "m.svd", "size": 16}), record_of("knn")]
    series = all_series([job_of(record, number) for number, record in enumerate(records)])
    assert run_names(series) == ["svd size=8", "svd size=16", "knn"]


def test_of_equal_runs_the_newest_counts_and_that_is_said(pair, tmp_path, capsys):
    import os

    newer = store(tmp_path / "newer", record_of("svd", value=0.7))
    os.utime(pair[0] / "record.json", (1, 1))
    code, out, _ = compare(capsys, *pair, newer)
    assert code == 0
    assert "0.7000*" in out
    assert f"svd on d was run 2 times with equal settings; the newest counts: {newer}" in out


def test_several_data_sets_have_a_table_each(pair, tmp_path, capsys):
    for model, value in (("svd", 0.4), ("knn", 0.5)):
        record = record_of(model, value=value)
        record = altered(
            record, names=record.names | {"dataset": "e"}, dataset=replace(record.dataset, sha256="e")
        )
        pair.append(store(tmp_path / "e" / model, record))
    code, out, _ = compare(capsys, *pair)
    assert code == 0
    assert "d: 2 runs, 60 users" in out
    assert "e: 2 runs, 60 users" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nosuch"], "nosuch: is no folder"),
        (["0" * 32], "has no run with this id"),
        (["{0}"], "a comparison needs at least two runs on one data set, got d: svd"),
        (
            ["{0}", "{1}", "--metrics", "ngcd@10"],
            "no run has ngcd@10. Did you mean ndcg@10? All runs have: ndcg, recall at 10.",
        ),
        (
            ["{0}", "{1}", "--metrics", "nDCG@10"],  # as the sentence below the table has it
            "no run has nDCG@10. Did you mean ndcg@10?",
        ),
        (["{0}", "{1}", "--metrics", "ndcg@5"], "no run has ndcg@5. All runs have: ndcg@10."),
        (["{0}", "{1}", "--baseline", "kn"], "there is no run kn. Did you mean knn?"),
        (["{0}", "{1}", "--where", "params.seed = '0'"], "only folders and ids are given"),
        (["{0}", "{1}", "--out", "a.xlsx"], "a.xlsx must end in one of .md, .tex, .csv, .json"),
        (["{0}", "{1}", "--tests", "z"], "tests must be one of t, "),
        (["{0}", "{1}", "--confidence", "95"], "confidence must be"),
        (["{empty}"], "there is no finished run in this folder"),
        (["{0}", "{bare}"], "has stored no per_user.parquet"),
        (["{0}", "{broken}"], "record.json: RunRecord: not a record"),
        (["{0}", "{other}"], "the runs have no metric in common"),
        (["{0}", "{other}", "--metrics", "ndcg@10"], "and not in"),
        (["{0}", "{strangers}"], "no user in common"),
    ],
)
def test_what_cannot_be_compared_is_told_in_one_message(words, told, pair, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    (tmp_path / "empty").mkdir()
    bare = store(tmp_path / "bare", record_of("ease"))
    (bare / "per_user.parquet").unlink()
    broken = store(tmp_path / "broken", record_of("ease"))
    (broken / "record.json").write_text("{")
    ratings = altered(record_of("ease"), results=(metric("rmse", None, 0.9),))
    named = {
        "empty": tmp_path / "empty",
        "bare": bare,
        "broken": broken,
        "other": store(tmp_path / "other", ratings),
        "strangers": store(tmp_path / "strangers", record_of("ease"), ids="u"),
    }
    if "nosuch" in words or "0" * 32 in words:
        open_store(Store(f"sqlite:///{tmp_path}/mlflow.db"))
    code, out, err = compare(capsys, *[word.format(*pair, **named) for word in words])
    assert code == 1
    assert told in err
    assert err.startswith("error: ")
    assert err.count("error: ") == 1
    assert out == ""


def test_without_a_store_the_message_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/none.db")
    code, _, err = compare(capsys)
    assert code == 1
    assert "none.db does not exist" in err
    assert not (tmp_path / "none.db").exists()


def test_one_damaged_job_of_a_sweep_is_left_out_with_a_note(pair, tmp_path):
    (tmp_path / "svd" / "per_user.parquet").unlink()
    store(tmp_path / "ease", record_of("ease"))
    runs, notes = find_runs([str(tmp_path)], f"sqlite:///{tmp_path}/none.db")
    assert [run.record.names["model"] for run in runs] == ["ease", "knn"]
    assert len(notes) == 1
    assert "has stored no per_user.parquet" in notes[0]


def test_all_files_have_the_same_numbers(pair, tmp_path, capsys):
    files = [tmp_path / f"table.{kind}" for kind in ("md", "tex", "csv", "json")]
    code, out, _ = compare(capsys, *pair, "--out", *files)
    assert code == 0
    table = json.loads(files[3].read_text())
    assert len(table["runs"]) == 4
    assert len(table["pairs"]) == 2
    texts = [out, files[0].read_text(), files[1].read_text()]
    for row in table["runs"]:
        for name in ("mean", "low", "high"):
            assert all(f"{row[name]:.4f}" in text for text in texts)
    lines = files[2].read_text().splitlines()
    columns = lines[0].split(",")
    for line, row in zip(lines[1:], table["runs"], strict=True):
        cells = dict(zip(columns, line.split(","), strict=True))
        assert float(cells["mean"]) == row["mean"]
        assert float(cells["high"]) == row["high"]
        assert float(cells["fit_seconds"]) == row["fit_seconds"] == 1.5
    assert (tmp_path / "table_pairs.csv").is_file()


def test_a_sweep_ends_with_claims_files_and_one_summary_run(pair, tmp_path):
    jobs = [
        JobOutcome(number, "", record=record_of(folder.name, value=value), folder=folder)
        for number, (folder, value) in enumerate(zip(pair, (0.6, 0.5), strict=True))
    ]
    compared, files = compare_sweep(jobs, tmp_path)
    (line,) = claim_lines(compared.comparison)
    assert line.startswith("compared svd is better than knn by .100")
    names = [f"comparison.{kind}" for kind in ("md", "tex", "csv", "json", "png")]
    assert all((tmp_path / name).stat().st_size for name in names)
    assert {file.name for file in files} >= set(names)
    summary, later = (
        comparison_summary(compared.comparison, tmp_path, JobFacts("", time)) for time in (1.0, 2.0)
    )
    assert (summary.subject, summary.job.name) == ("comparison", "comparison · d · 2 runs")
    assert summary.note.startswith("- svd is better than knn")
    assert later.fingerprint == summary.fingerprint


def test_of_a_sweep_over_candidates_the_runs_that_agree_are_compared(pair, tmp_path):
    records = [
        record_of("svd", value=0.6),
        record_of("knn"),
        altered(record_of("ease"), candidates_sha256="c"),
    ]
    folders = [*pair, store(tmp_path / "ease", records[2])]
    jobs = [
        JobOutcome(number, "", record=record, folder=folder)
        for number, (record, folder) in enumerate(zip(records, folders, strict=True))
    ]
    found, _ = compare_sweep(jobs, tmp_path / "sweep")
    assert {row.run for row in found.comparison.results[0].rows} == {"svd", "knn"}
    assert "2 of 3 runs are compared" in found.notes[0]
    assert not any("no results" in note for note in found.notes)
    failed = JobOutcome(3, "", status="failed", reason="it diverged")
    found, _ = compare_sweep([*jobs, failed], tmp_path / "sweep")
    assert "1 of 4 jobs have no results and are left out: summary.md says why" in found.notes
    assert compare_sweep(jobs[1:], tmp_path) is None


def test_a_sweep_does_not_fail_since_its_runs_cannot_be_compared(tmp_path, capsys):
    jobs = [JobOutcome(number, "", record=record_of(model)) for number, model in enumerate(("svd", "knn"))]
    (tmp_path / "per_user.parquet").write_bytes(b"no table")
    store = tmp_path / "outputs"
    sweep = Sweep(tmp_path, None, store, outcomes={job.number: replace(job, folder=tmp_path) for job in jobs})
    with Deliveries() as deliveries:
        assert end_sweep(sweep, deliveries)
    assert "the runs are not compared: " in capsys.readouterr().err


def damage(path, how):
    """Damage a run's per_user.parquet."""
    table = pq.read_table(path)
    if how == "cut":
        path.write_bytes(path.read_bytes()[:200])
    elif how == "text":
        path.write_text("hello", encoding="utf-8")
    elif how == "users":
        pq.write_table(table.slice(0, 40), path)
    elif how == "nobody":
        pq.write_table(table.slice(0, 0), path)
    elif how == "ids":
        pq.write_table(table.drop(["user_id"]), path)
    else:
        values = {"words": ["x"] * USERS, "values": np.full(USERS, 0.9), "nan": np.full(USERS, np.nan)}[how]
        pq.write_table(table.set_column(1, "ndcg_at_10", pa.array(values)), path)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("cut", "is damaged: "),
        ("text", "is damaged: "),
        ("ids", "has no column user_id"),
        ("words", "ndcg_at_10 should be numbers"),
        ("values", "the mean of ndcg_at_10 over its 60 users is 0.9, and record.json has 0.5"),
        ("users", "over its 40 users is "),
        ("nobody", "over its 0 users is nan, and record.json has 0.5"),
        ("nan", "over its 60 users is nan, and record.json has 0.5"),
    ],
)
def test_values_that_are_not_those_of_the_record_are_refused(pair, capsys, how, told):
    path = pair[1] / "per_user.parquet"
    damage(path, how)
    assert main(["compare", *map(str, pair)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"error: {path}: ")
    assert told in err
    assert "Copy the run's folder once more, or run it again." in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("how", ["cut", "values"])
def test_stability_refuses_them_too(pair, capsys, how):
    damage(pair[1] / "per_user.parquet", how)
    assert main(["stability", *map(str, pair)]) == 1
    assert capsys.readouterr().err.startswith(f"error: {pair[1]}/per_user.parquet: ")
