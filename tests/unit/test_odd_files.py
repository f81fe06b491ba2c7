"""What is no file in the place of a run's files is refused at once: it neither hangs nor counts as absent."""

import os

import pytest

from finished import finished
from recgauge.errors import SchemaError
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import read_jobs

KINDS = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "broken link": lambda path: path.symlink_to("nothing"),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return finished(folder, "popularity", "cutoffs=[5]")


@pytest.fixture(params=KINDS)
def put(request, stored, tmp_path):
    """Put what is no file in the place of one of a run's."""

    def put(name):
        folder = tmp_path / "run"
        folder.mkdir()
        for file in stored.iterdir():
            if file.name != name and file.is_file():
                (folder / file.name).write_bytes(file.read_bytes())
        KINDS[request.param](folder / name)
        return folder

    return put


@pytest.mark.parametrize(
    "name", ["record.json", "SHA256SUMS", "per_user.parquet", "recommendations.parquet", "data_card.json"]
)
def test_a_run_with_what_is_no_file_is_refused(put, name):
    with pytest.raises(SchemaError, match=f"{name} is not a regular file"):
        FinishedRun.read(put(name))


def test_jobs_that_are_no_file_are_refused(put):
    with pytest.raises(SchemaError, match="is not a regular file"):
        read_jobs(put("sweep.json"))
