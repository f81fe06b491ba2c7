"""A real HTTP server on this machine that serves files and, when told to, fails in a given way."""

import threading
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Fault = Callable[["_Handler", bytes], None]


class _Handler(BaseHTTPRequestHandler):
    server: "FaultyServer"

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        self.server.encodings.append(self.headers.get("Accept-Encoding"))
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        fault = self.server.faults.popleft() if self.server.faults else whole
        fault(self, content)

    def log_message(self, *_: object) -> None:
        pass

    def head(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()


def whole(handler: _Handler, content: bytes) -> None:
    handler.head(content)
    handler.wfile.write(content)


def cut(handler: _Handler, content: bytes) -> None:
    """Announce everything, send a part, hang up."""
    handler.head(content)
    handler.wfile.write(content[:100_000])
    handler.close_connection = True


def wrong_bytes(handler: _Handler, content: bytes) -> None:
    other = bytes(len(content))
    handler.head(other)
    handler.wfile.write(other)


def busy(handler: _Handler, content: bytes) -> None:
    handler.send_response(503)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def silence(handler: _Handler, content: bytes) -> None:
    """Send the beginning, then nothing until the client hangs up."""
    handler.head(content)
    handler.wfile.write(content[:1000])
    handler.wfile.flush()
    handler.connection.settimeout(10)
    handler.connection.recv(1)
    handler.close_connection = True


def endless(*, length: int | None = None, chunked: bool = False) -> Fault:
    """Send the file, then zeros for as long as the client takes them, announcing `length` or nothing."""

    def fault(handler: _Handler, content: bytes) -> None:
        handler.send_response(200)
        if length is not None:
            handler.send_header("Content-Length", str(length))
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        block = content
        try:
            for _ in range(10_000):
                handler.wfile.write(b"%x\r\n%b\r\n" % (len(block), block) if chunked else block)
                handler.server.n_sent += len(block)
                block = bytes(1 << 20)
        except OSError:  # the client has had enough
            pass
        handler.close_connection = True

    return fault


class FaultyServer(ThreadingHTTPServer):
    """Serves `files`; each of `faults` spoils one request, in order. `requests` lists what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.faults: deque[Fault] = deque()
        self.requests: list[str] = []
        self.encodings: list[str | None] = []
        self.n_sent = 0
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # clients that hang up are part of the tests

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()
