"""What stands at a server's address is told in one line, with what to do and without secrets."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from recgauge.errors import TrackingError
from recgauge.tracking.delivering import deliver
from recgauge.tracking.store import Store

JSON, HTML = "application/json", "text/html; charset=utf-8"
ANSWERS = {
    "wrong-password": (401, "You are not authenticated.", HTML, "MLFLOW_TRACKING_PASSWORD"),
    "refused": (
        403,
        '{"error_code": "PERMISSION_DENIED", "message": "no"}',
        JSON,
        "MLFLOW_TRACKING_PASSWORD",
    ),
    "boom": (500, '{"error_code": "INTERNAL_ERROR", "message": "boom."}', JSON, "500"),
    "log-in": (200, "<html>log in</html>", HTML, "JSON"),
    "a-list": (200, "[]", JSON, "cannot open the store"),
}


@pytest.fixture(scope="module")
def address():
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self):
            status, body, kind, _ = ANSWERS[self.path.split("/")[1]]
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Retry-After", "3600")
            self.end_headers()
            self.wfile.write(body.encode())

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://ann:hunter2@127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ANSWERS)
def test_what_answers_is_told_in_one_line(address, folder, name):
    uri, words = f"{address}/{name}", ANSWERS[name][-1]
    with pytest.raises(TrackingError, match="tracking=off") as raised:
        deliver(folder, Store(uri))
    told = str(raised.value)
    assert words in told
    assert f"/{name}" in told
    assert "hunter2" not in told
    assert "\n" not in told
