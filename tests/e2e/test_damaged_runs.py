"""With reuse=true a finished run that is damaged, or has not what the job asks for, is computed anew."""

import json

import pytest

from e2e.program import Workplace
from recgauge.runs.folder import CHECKSUMS, file_digest, read_checksums

pytestmark = pytest.mark.e2e
RUN = ("model=popularity", "cutoffs=[5]", "tracking=off")


def results(folder):
    return json.loads((folder / "record.json").read_text())["results"]


@pytest.fixture
def stored(tmp_path):
    workplace = Workplace(tmp_path)
    workplace.succeed(*RUN, "artifacts.lists=false", "hydra.run.dir=first")
    return workplace, tmp_path / "first"


@pytest.mark.parametrize("signed", [False, True])
def test_a_damaged_run_is_made_again(stored, signed):
    workplace, folder = stored
    values = results(folder)
    record = json.loads((folder / "record.json").read_text())
    record["settings"]["seed"] = record["seed"] = 1
    (folder / "record.json").write_text(json.dumps(record))
    if signed:  # as someone would who means to deceive
        names = read_checksums(folder / CHECKSUMS)
        lines = (f"{file_digest(folder / name)}  {name}\n" for name in names)
        (folder / CHECKSUMS).write_text("".join(lines))
    done = workplace.succeed(*RUN, "artifacts.lists=false", "reuse=true", "hydra.run.dir=again")
    assert "reused" not in done.out
    assert results(folder.parent / "again") == values


def test_a_run_without_lists_does_not_stand_for_one_with_them(stored):
    workplace, folder = stored
    assert not (folder / "recommendations.parquet").exists()
    assert "reused the run" in workplace.succeed(*RUN, "artifacts.lists=false", "reuse=true").out
    workplace.succeed(*RUN, "reuse=true", "hydra.run.dir=again")
    assert (folder.parent / "again" / "recommendations.parquet").exists()
