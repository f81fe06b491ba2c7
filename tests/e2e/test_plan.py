"""``--plan`` tells what a command would do, and does nothing."""

import pytest

pytestmark = pytest.mark.e2e
WORDS = ("-m", "model=random,popularity", "seed=0,1", "cutoffs=[5]")


@pytest.fixture(scope="module")
def made(shared_workplace):
    """A store with two of the four runs."""
    shared_workplace.succeed(*WORDS[:2], "seed=0", "cutoffs=[5]", "hydra.sweep.dir=first")
    return shared_workplace


def files(workplace):
    return sorted(path for path in workplace.folder.rglob("*") if path.name != "mlflow.db.lock")


def rows(done):
    return {line.split()[0]: line for line in done.out.splitlines() if line.strip()[:1].isdigit()}


def test_a_plan_of_a_sweep_has_what_becomes_of_each_job(made):
    before = files(made)
    done = made.succeed(*WORDS, "reuse=true", "jobs=2", "--plan")
    found = rows(done)
    stored = {run.data.params["model"]: run.info.run_id for run in made.runs()}
    assert f"reuse run {stored['random']}" in found["0"]
    assert found["1"].split()[3] == "run"
    assert f"reuse run {stored['popularity']}" in found["2"]
    assert "4 jobs: 2 to run, 2 reused, 0 left out, 0 cannot run" in done.out
    assert files(made) == before
    assert len(made.runs()) == 2


def test_a_plan_says_which_jobs_cannot_run(workplace):
    done = workplace.fail(
        "-m", "model.n_factors=4,0", "dataset=demo,ml_1m", "data.offline=true", "data.mirror=null",
        "data.cache=empty", "--plan",
    )  # fmt: skip
    found = rows(done)
    assert [found[str(job)].count("cannot run") for job in range(4)] == [0, 0, 1, 1]
    assert "left out: no data" in found["1"]
    assert done.err.count("jobs 2, 3: model: SVD: n_factors must be") == 1
    assert done.err.count("ml-1m.zip could not be found") == 1
    assert list(workplace.folder.iterdir()) == []


def test_a_setting_that_only_swept_models_have_goes_to_each(workplace):
    done = workplace.succeed("-m", "model=biased_mf,bpr", "model.n_epochs=2", "seed=1", "--plan")
    assert [rows(done)[number].split()[1] for number in "01"] == ["model=biased_mf", "model=bpr"]
    wrong = workplace.fail("-m", "model=biased_mf,svd", "model.n_epochs=2", "--plan")
    assert "model (SVD) has no such setting" in wrong.err


def test_a_setting_of_one_model_goes_to_it_alone(workplace):
    done = workplace.succeed("-m", "model=bias,svd", "model.svd.n_factors=4,8", "seed=1", "--plan")
    assert [rows(done)[number].split()[1] for number in "012"] == ["model=bias", "model=svd", "model=svd"]
    assert "model.n_factors=8" in rows(done)["2"]
