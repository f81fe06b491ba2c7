"""What stands at a server's address is told in one line; a store that fails is left alone for a while."""

import json
import os
import threading
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from recgauge.app.commands.sync import _chosen
from recgauge.app.files.artifacts import write_checksums
from recgauge.app.tracking import servers
from recgauge.app.tracking.claims import ASKED, CLAIM_TAG, FINGERPRINT_TAG, PASSED_TAG
from recgauge.app.tracking.delivering import deliver, deliver_each
from recgauge.app.tracking.servers import Pauses, check_server, plain_reason
from recgauge.app.tracking.tracker import DELIVERY_TAG, RunStart, Tracker
from recgauge.app.tracking.untracked import (
    done_by,
    owing,
    stored_all_the_same,
    unreadable,
    untracked,
    waiting,
)
from recgauge.errors import TrackingError

JSON, HTML = "application/json", "text/html; charset=utf-8"
ANSWERS = {
    "wrong password": (401, "You are not authenticated.", HTML, "refuses the login (status 401)"),
    "boom": (
        500,
        '{"message": "(raised as a result)\\nboom."}',
        JSON,
        "answers with status 500 (boom). Look",
    ),
    "maintenance": (503, "<html>", HTML, "answers with status 503. Look"),
    "full": (507, "", HTML, "answers with status 507. Look"),
    "log in": (200, "<html>log in</html>", HTML, "not MLflow (status 200, text/html)"),
    "another program": (404, "no such page", HTML, "not MLflow (status 404, text/html)"),
    "a list": (200, "[]", JSON, "not MLflow (status 200, application/json)"),
    "a name": (403, "Invalid Host header - possible", HTML, "Start the server with that name"),
    "no experiment": (404, '{"error_code": "RESOURCE_DOES_NOT_EXIST"}', JSON, None),
    "an experiment": (200, '{"experiment": {}}', JSON, None),
}


@pytest.fixture(scope="module")
def address():
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self):
            name = self.path.split("/")[1].replace("_", " ")
            status, body, kind, _ = ANSWERS[name]
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Retry-After", "3600")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ANSWERS)
def test_what_answers_is_told_in_one_line(address, name):
    uri, said = f"{address}/{name.replace(' ', '_')}", ANSWERS[name][-1]
    if said is None:
        check_server(uri)
        return
    with pytest.raises(TrackingError) as caught:
        check_server(uri)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_password_in_an_address_is_not_told(address):
    with pytest.raises(TrackingError, match=r"ann:\*\*\*@") as caught:
        check_server(f"{address.replace('//', '//ann:verysecret@')}/wrong_password")
    assert "verysecret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "API request to http://h failed with exception HTTPConnectionPool(): Max retries exceeded "
            "with url: /api (Caused by NewConnectionError('failed: [Errno 111] Connection refused'))",
            "the server does not answer (Connection refused)",
        ),
        ("API request to http://h failed with timeout exception Read", "the server takes too long to answer"),
        (
            "507 Server Error: Insufficient Storage for url: http://h/api",
            "the server answers with status 507 (Insufficient Storage)",
        ),
        ("(Caused by SSLError(SSLError(1, '[SSL: WRONG_VERSION_NUMBER] wrong", "it gives no safe connection"),
        ("API request to endpoint /x failed with error code 401 != 200.", "refuses the login (status 401)"),
        (
            "API request to endpoint was successful but the response body was not in a valid JSON format.",
            "what answers is not MLflow",
        ),
        ("disk I/O error", "disk I/O error"),
    ],
)
def test_errors_of_mlflow_say_what_the_server_did(text, reason):
    assert reason in plain_reason(text)


def test_a_store_that_failed_is_left_alone_longer_each_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(servers, "monotonic", lambda: now[0])
    pauses, failed_at = Pauses(), []
    for second in range(600):
        now[0] = float(second)
        try:
            pauses.check("store")
        except TrackingError as error:  # of a job that was not tried
            pauses.failed("store", error)
        else:
            failed_at.append(second)
            pauses.failed("store", TrackingError("down"))
    assert failed_at == [0, 15, 45, 105, 225, 345, 465, 585]
    with pytest.raises(TrackingError, match="down"):
        pauses.check("store")
    pauses.check("another store")
    pauses.worked("store")
    pauses.check("store")


class Store(Tracker):
    uri, experiment = "http://store", "recgauge"

    def __init__(self, *, works: bool = True) -> None:
        self.works, self.asked = works, 0

    def check_there(self) -> None:
        if not self.works:
            raise TrackingError("down")

    def deliver(self, run, record, files):
        self.asked += 1
        self.check_there()
        return f"id of {run.name}"


@pytest.fixture
def three_wait(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("recgauge.app.tracking.untracked.work_folder", lambda: tmp_path)
    monkeypatch.setattr("recgauge.app.tracking.delivering.load_record", lambda _folder: None)
    (tmp_path / "SHA256SUMS").write_text("")
    for name in "abc":
        untracked(RunStart(name, {}, {DELIVERY_TAG: name}), Store(), tmp_path).remember()
    return waiting()


def test_a_store_that_is_down_is_asked_for_one_of_the_runs_that_wait(three_wait):
    told, store = [], Store(works=False)
    assert deliver_each(three_wait, store, lambda *result: told.append(result[1])) == 3
    assert store.asked == len(told) == 1
    assert len(waiting()) == 3


def test_runs_that_wait_are_delivered_and_forgotten(three_wait, tmp_path):
    told = []
    assert deliver_each(three_wait, Store(), lambda *result: told.append(result[1])) == 0
    assert sorted(told) == ["id of a", "id of b", "id of c"]
    assert not (tmp_path / "untracked").exists()
    assert deliver_each(three_wait, Store(), lambda *result: told.append(result[1])) == 0
    assert len(told) == 3


def test_a_run_that_is_being_tracked_is_left_alone(three_wait, tmp_path):
    store = Store()
    with owing(RunStart("d", {}, {DELIVERY_TAG: "d"}), store, tmp_path) as owed:
        assert len(waiting()) == 4
        assert deliver(owed, store) is None
        with three_wait[0].held() as mine:
            assert mine
            assert deliver(three_wait[0], store) is None
    assert store.asked == 0
    assert deliver(owed, store) == "id of d"


def outcome_of(one):
    told = []
    deliver_each([one], Store(), lambda *result: told.append(str(result[1])))
    return told[0]


def test_a_run_whose_files_are_away_or_damaged_waits_on(tmp_path, monkeypatch):
    monkeypatch.setattr("recgauge.app.tracking.untracked.work_folder", lambda: tmp_path)
    monkeypatch.setattr("recgauge.app.tracking.delivering.load_record", lambda _folder: None)
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    write_checksums([folder / "a.txt"], folder)
    sums = (folder / "SHA256SUMS").read_text()
    one = untracked(RunStart("d", {}, {DELIVERY_TAG: "d"}), Store(), folder)
    one.remember()
    folder.rename(tmp_path / "moved")
    assert "run is not there; the run d still waits" in outcome_of(one)
    (tmp_path / "moved").rename(folder)
    for damaged in (b"", sums[:40].encode(), b"\xff"):
        (folder / "SHA256SUMS").write_bytes(damaged)
        assert "SHA256SUMS is missing or changed" in outcome_of(one)
    (folder / "SHA256SUMS").write_text(sums)
    (folder / "a.txt").write_text("b")
    assert "a.txt is missing or changed" in outcome_of(one)
    assert waiting() == [one]
    (folder / "a.txt").write_text("a")
    assert outcome_of(one) == "id of d"
    assert waiting() == []


def test_sync_finds_a_run_in_the_place_that_it_was_moved_to(three_wait, tmp_path):
    (tmp_path / "SHA256SUMS").rename(tmp_path / "x")
    (tmp_path / "new" / "0").mkdir(parents=True)
    (tmp_path / "x").rename(tmp_path / "new" / "0" / "SHA256SUMS")
    assert {one.folder for one in _chosen([tmp_path / "new"])} == {str(tmp_path / "new" / "0")}


@pytest.mark.parametrize(
    "content",
    ["", "[" * 100_000, "{}", '{"folder": 1}', "NOTE.1", b"\xff", "NOTE", None],
    ids=["empty", "deep", "no field", "number", "a field is a number", "no text", "another's", "pipe"],
)
def test_what_is_no_note_is_named_and_does_no_harm(three_wait, tmp_path, content):
    file = tmp_path / "untracked" / "d.json"
    if content is None:
        os.mkfifo(file)
    elif isinstance(content, bytes):
        file.write_bytes(content)
    else:
        note = json.dumps(asdict(three_wait[0]) | ({"tags": {DELIVERY_TAG: 1}} if "1" in content else {}))
        file.write_text(note if content.startswith("NOTE") else content)
    assert waiting() == three_wait
    assert unreadable() == [file]


class Notes:
    """Progress that keeps its notes."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, text: str) -> None:
        self.told.append(text)


class Holding(Store):
    """A store that has finished runs, each with the delivery that made it."""

    def __init__(self, runs: dict[str, str], *, works: bool = True) -> None:
        super().__init__(works=works)
        self.runs = runs

    def find(self, fingerprint: str) -> list[str]:
        assert fingerprint == "f"
        return list(self.runs)

    def tag(self, run_id: str, name: str) -> str | None:
        assert name == DELIVERY_TAG
        return self.runs[run_id]


CLAIMED = {CLAIM_TAG: ASKED, FINGERPRINT_TAG: "f", PASSED_TAG: "damaged"}


@pytest.mark.parametrize(
    ("tags", "store", "run_id", "told"),
    [
        (CLAIMED, Holding({"other": "e"}), "other", ["done by another process, run other"]),
        (CLAIMED, Holding({"damaged": "e"}), None, []),  # the reason why the job was done again
        ({}, Holding({"other": "e"}), None, []),  # a repetition, which nobody else does
        ({}, Holding({"other": "e", "own": "d"}), "own", ["the store has it, run own"]),
        (CLAIMED, Holding({}), None, []),
        (CLAIMED, Holding({"other": "e"}, works=False), None, []),
    ],
)
def test_a_run_that_could_not_be_tracked_may_be_in_the_store(
    tmp_path, monkeypatch, tags, store, run_id, told
):
    monkeypatch.setattr("recgauge.app.tracking.untracked.work_folder", lambda: tmp_path)
    (tmp_path / "SHA256SUMS").write_text("")
    one, progress = untracked(RunStart("d", {}, {DELIVERY_TAG: "d", **tags}), store, tmp_path), Notes()
    one.remember()
    assert stored_all_the_same(one, "f", store, progress) == run_id
    assert progress.told == told
    assert one.note.exists() is (run_id is None)


def test_a_run_that_was_given_up_is_forgotten_when_the_other_s_files_are_in_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("recgauge.app.tracking.untracked.work_folder", lambda: tmp_path)
    folders = [tmp_path / name for name in ("given up", "elsewhere")]
    for folder in folders:
        folder.mkdir()
        (folder / "SHA256SUMS").write_text("")
        tags = {DELIVERY_TAG: folder.name, FINGERPRINT_TAG: "f"}
        untracked(RunStart("d", {}, tags), Store(), folder).remember()
    progress = Notes()
    done_by("other", "another fingerprint", folders[0], progress)
    assert len(waiting()) == 2
    done_by("other", "f", folders[0], progress)
    assert progress.told == ["done by another process, run other; this one was silent for too long"]
    assert [one.folder for one in waiting()] == [str(folders[1].resolve())]
