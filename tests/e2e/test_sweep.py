"""Several jobs: one table, other data apart, failures that stop nothing else."""

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("has_store")]


def test_a_failed_job_is_marked_and_the_others_go_on(workplace):
    done = workplace.run("-m", "model.n_factors=0,9999,8", "cutoffs=[5]")
    assert done.code == 1
    assert "1 done, 2 failed" in done.out
    assert "Traceback" not in done.err
    # what was wrong before it began has no run
    assert [run.info.status for run in workplace.runs()] == ["FAILED", "FINISHED"]
    assert "below the 1000 users" in workplace.runs()[0].data.tags["error"]
    assert "n_factors must be a whole number >= 1" in done.err
    assert all(error in done.out for error in ("got 0", "got 9999"))


def test_real_data_sets_side_by_side(workplace, mirror):
    sets = ("ml_100k", "ml_latest_small", "ml_1m")
    done = workplace.run("-m", "model=popularity", f"dataset={','.join(sets)}", RECGAUGE_MIRROR=mirror)
    assert done.code == 0, done.err
    assert tuple(run.data.params["dataset"] for run in workplace.runs()) == sets
    assert "ml-1m.zip is not the publisher's" in done.err


def test_filters_make_other_data_so_nothing_is_compared(workplace):
    done = workplace.run("-m", "model=popularity", "filters=[],[n_core],[min_rating,n_core]", "cutoffs=[10]")
    assert done.code == 0, done.err
    assert [run.data.params["filters"] for run in workplace.runs()] == ["none", "n_core", "min_rating+n_core"]
    assert all(run.data.params["metrics"] == "ranking" for run in workplace.runs())
    rows = [line for line in done.out.splitlines() if " done " in line]
    assert len(rows) == 3
    assert not any("*" in row for row in rows)  # each stands alone on its own data
    assert "best of" not in done.out
    assert any("filters=[min_rating,n_core]" in row for row in rows)
