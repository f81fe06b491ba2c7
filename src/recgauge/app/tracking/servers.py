"""MLflow's servers: whether one answers, how long it is waited for, and what its errors mean."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from recgauge.app.places import program
from recgauge.app.terminal.secrets import without_secrets
from recgauge.errors import TrackingError

TIMEOUT, RETRIES = "MLFLOW_HTTP_REQUEST_TIMEOUT", "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
MLFLOW_DEFAULTS = {  # unless the environment says something else
    "MLFLOW_DISABLE_TELEMETRY": "true",  # MLflow would report its use to its makers
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # two lines for each job of a sweep
    # A run that cannot be tracked is on disk and tracked later, so there is no use in waiting. MLflow's own
    # numbers are 7 times 120 s, and four minutes for a server that refuses connections.
    TIMEOUT: "10",
    RETRIES: "2",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",  # at once, then after 2 s
    "MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER": "false",  # a proxy may ask for minutes
}
PATIENT = {TIMEOUT: "120", RETRIES: "4"}
_FIRST_PAUSE, _LONGEST_PAUSE = 15.0, 120.0
_SPEED = 1_000_000  # bytes a second that a file may take at least
_PROBE = "/api/2.0/mlflow/experiments/get-by-name"
_LOGIN = (
    "Give the right MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN, or run "
    "with tracking=off."
)
_REASONS = (
    (r"too many (\d+) error responses", "the server answers with status {}"),
    (r"failed with error code (40[13])\b", "the server refuses the login (status {})"),
    (r"failed with error code (\d+).*<html", "the server answers with status {} and a page of HTML"),
    (r"(40[13]) Client Error", "the server refuses the login (status {})"),
    (r"(\d{3}) (?:Client|Server) Error: ([^:]*?) for url", "the server answers with status {} ({})"),
    (
        r"failed with timeout exception|[Rr]ead timed out|ConnectTimeout",
        "the server takes too long to answer",
    ),
    (r"\[SSL: ([A-Z_]+)\]", "it gives no safe connection ({})"),
    (r"Max retries exceeded.*\[Errno -?\d+\] ([^'\")]+)", "the server does not answer ({})"),
    (
        r"(Connection reset by peer|Connection aborted|RemoteDisconnected|IncompleteRead)",
        "connection cut ({})",
    ),
    (
        r"not (?:a valid JSON object|in a valid JSON format)",
        "what answers is not MLflow but something in front of it",
    ),
)


def give_defaults() -> None:
    """Set how MLflow behaves, where the user has not."""
    for name, value in MLFLOW_DEFAULTS.items():
        os.environ.setdefault(name, value)


def be_patient() -> None:
    """Wait long for servers in this process, where nothing else waits."""
    for name, value in PATIENT.items():
        os.environ.setdefault(name, value)


@contextmanager
def set_to(name: str, value: str) -> Iterator[None]:
    """Set a variable of MLflow's for a few calls."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def time_for(file: Path) -> Iterator[None]:
    """Wait longer for the answer to a large file."""
    seconds = int(os.environ.get(TIMEOUT) or MLFLOW_DEFAULTS[TIMEOUT]) + file.stat().st_size // _SPEED
    with set_to(TIMEOUT, str(seconds)):
        yield


def check_server(uri: str) -> None:
    """Ask an MLflow server one question, without asking again.

    Raises
    ------
    TrackingError
        If it does not answer, refuses the login, or what answers is not MLflow.
    """
    from mlflow.exceptions import MlflowException
    from mlflow.utils import credentials, rest_utils

    give_defaults()
    ask: Any = rest_utils.http_request  # as MLflow itself asks: with its logins and certificates
    login: Any = credentials.get_default_host_creds
    shown = without_secrets(uri)
    try:
        answer = ask(
            login(uri),
            _PROBE,
            "GET",
            max_retries=0,
            raise_on_status=False,
            params={"experiment_name": "recgauge"},
        )
    except MlflowException as error:
        raise TrackingError(
            f"tracking.uri={shown}: {plain_reason(str(error))}. Start it (`{program('ui')}`), correct the "
            "address, or run with tracking=off."
        ) from error
    if (problem := _problem(answer)) is not None:
        raise TrackingError(f"tracking.uri={shown}: {problem}")


def _problem(answer: Any) -> str | None:
    """Return what is wrong with the server that gave an answer, and what to do about it."""
    status = answer.status_code
    if status == 401:
        return f"the server refuses the login (status 401). {_LOGIN}"
    if status >= 500:
        return (
            f"the server answers with status {status}{_told(answer)}. Look at its log, or run with "
            "tracking=off."
        )
    if "Invalid Host" in answer.text[:200]:
        return (
            "MLflow refuses the name in this address. Start the server with that name: mlflow server "
            "--allowed-hosts NAME:PORT."
        )
    if not _is_json(answer):
        kind = str(answer.headers.get("Content-Type", "no type")).split(";")[0]
        return (
            f"what answers is not MLflow (status {status}, {kind}). Correct the address, log in to the "
            "proxy in front of it, or run with tracking=off."
        )
    return None


def plain_reason(text: str) -> str:
    """Return what an error of MLflow's client says about the server, without addresses and objects around it.

    Examples
    --------
    >>> plain_reason("API request to http://h failed with exception ...: too many 503 error responses")
    'the server answers with status 503'
    >>> plain_reason("database is locked")
    'database is locked'
    """
    for pattern, words in _REASONS:
        if match := re.search(pattern, text, re.DOTALL):
            return words.format(*match.groups())
    return text


def _told(answer: Any) -> str:
    """Return what MLflow says went wrong, in parentheses; nothing if the answer is not MLflow's."""
    if not _is_json(answer):
        return ""
    lines = str(answer.json().get("message", "")).strip().splitlines()
    first = next((line for line in lines if not line.startswith("(raised as")), "")
    return f" ({first[:200].strip().rstrip('.')})" if first else ""


def _is_json(answer: Any) -> bool:
    try:
        return isinstance(answer.json(), dict)
    except ValueError:
        return False


class Pauses:
    """Which stores have failed in this process and are left alone: for 15 s, then longer each time."""

    def __init__(self) -> None:
        self._failed: dict[str, tuple[str, float, float]] = {}

    def check(self, uri: str) -> None:
        """Refuse a store that is left alone.

        Raises
        ------
        TrackingError
            With the words of its failure.
        """
        reason, _, until = self._failed.get(uri, ("", 0.0, 0.0))
        if monotonic() < until:
            raise TrackingError(reason)

    def failed(self, uri: str, error: TrackingError) -> None:
        """Note a failure, unless it is only the memory of one."""
        _, pause, until = self._failed.get(uri, ("", 0.0, 0.0))
        if monotonic() >= until:
            pause = min(max(2 * pause, _FIRST_PAUSE), _LONGEST_PAUSE)
            self._failed[uri] = (str(error), pause, monotonic() + pause)

    def worked(self, uri: str) -> None:
        """Forget the failures of a store."""
        self._failed.pop(uri, None)


pauses = Pauses()
"""Those of this process."""
