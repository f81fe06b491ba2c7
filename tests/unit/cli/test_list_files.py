"""Files of an earlier run do not stay beside those of a later one."""

from recgauge.runs.folder import unfinished


def run_files(folder, **texts):
    """Write the files of a run as a job does."""
    with unfinished(folder) as room:
        for name, text in texts.items():
            (room / name.replace("_", ".")).write_text(text)


def test_lists_of_another_run_do_not_stay_in_the_folder(tmp_path):
    run_files(tmp_path, record_json="1", recommendations_parquet="lists")
    (tmp_path / "mine.txt").write_text("kept")
    run_files(tmp_path, record_json="2", recommendations_parquet="lists")
    assert (tmp_path / "recommendations.parquet").read_text() == "lists"
    run_files(tmp_path, record_json="3")
    assert {path.name for path in tmp_path.iterdir()} == {"record.json", "SHA256SUMS", "mine.txt"}
