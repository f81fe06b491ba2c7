"""Deliveries in the background: a process beside the program imports MLflow and delivers folder by folder."""

import json
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from recgauge import errors
from recgauge.errors import RecgaugeError, TrackingError
from recgauge.tracking.store import Store
from recgauge.utils.messages import print_note

_PATIENCE = 10  # seconds without a word


@cache
def delivering() -> "subprocess.Popen[str]":
    """Start the process that delivers, or return it; it imports MLflow at once, beside what goes on here."""
    command = (sys.executable, "-P", "-W", "ignore", "-m", "recgauge.tracking")
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")


class Deliveries(AbstractContextManager["Deliveries"]):
    """Delivers folders in the background; leaving the context waits for what is under way.

    A store that fails is left alone until then, when what it lacks is delivered once more. The `store` that
    is named here is opened at once, so that the first folder need not wait for it.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._asking = ThreadPoolExecutor(1, "deliveries")
        self._stores: dict[Path, Store] = {}
        self._done: dict[Path, Future[dict[str, Any]]] = {}
        self._failed: dict[Store, TrackingError] = {}
        self._repeated = set[Path]()
        self._process: subprocess.Popen[str] | None = None
        if store is not None:
            self._asking.submit(self._ask, "open", store)

    def submit(self, folder: Path, store: Store) -> None:
        """Deliver a complete folder in the background."""
        self._stores[folder] = store
        self._done[folder] = self._asking.submit(self._deliver, folder.absolute(), store)

    @property
    def results(self) -> Mapping[Path, str | RecgaugeError]:
        """The run ids of folders that were delivered, and the errors of those that were not."""
        results: dict[Path, str | RecgaugeError] = {}
        for folder, done in self._done.items():
            if done.done():
                error = done.exception()
                ours = error if isinstance(error, RecgaugeError) else TrackingError(str(error))
                results[folder] = str(done.result()["run_id"]) if error is None else ours
        return results

    def address(self, store: Store, tag: str | None = None, value: str = "true") -> str | None:
        """Return `recgauge.tracking.address`, asked in the background; None if the store fails."""
        with suppress(RecgaugeError):
            return str(self._asking.submit(self._ask, "address", store, tag, value).result()["address"])
        return None

    def run_address(self, folder: Path) -> str | None:
        """Return the page of a folder's run, once it is delivered; None if it is not."""
        with suppress(RecgaugeError):
            return str(self._done[folder].result()["address"])
        return None

    def __exit__(self, *raised: object) -> None:
        try:
            self.finish()
        except KeyboardInterrupt:
            if self._process is not None:
                self._process.kill()  # what is torn is completed by the next delivery
            raise
        finally:
            self._asking.shutdown(cancel_futures=True)
            if self._process is not None:
                delivering.cache_clear()
                with self._process:  # its input ends, and with it the process
                    pass

    def finish(self) -> None:
        """Wait for all folders, and deliver those once more whose store failed."""
        if waiting := len(wait(self._done.values(), timeout=_PATIENCE).not_done):
            print_note(
                f"results are complete; waiting for the tracking store, which has {waiting} still to take."
            )
        failed = {
            folder for folder, done in self._done.items() if isinstance(done.exception(), TrackingError)
        }
        self._failed.clear()
        for folder in failed - self._repeated:
            self.submit(folder, self._stores[folder])
        self._repeated |= failed
        for done in self._done.values():
            done.exception()

    def _deliver(self, folder: Path, store: Store) -> dict[str, Any]:
        if store in self._failed:
            raise self._failed[store]
        try:
            return self._ask("deliver", store, str(folder))
        except TrackingError as error:
            self._failed[store] = error
            raise

    def _ask(self, request: str, store: Store, *arguments: str | None) -> dict[str, Any]:
        self._process = self._process or delivering()
        question, reply = self._process.stdin, self._process.stdout
        try:
            if question is None or reply is None:
                raise OSError("the process has no pipes")
            print(json.dumps([request, asdict(store), *arguments]), file=question, flush=True)
            answer: dict[str, Any] = json.loads(reply.readline())
        except (OSError, ValueError) as error:
            self._process = None
            delivering.cache_clear()
            raise TrackingError("the process that delivers has ended; `recgauge sync` delivers.") from error
        if "error" in answer:
            raise getattr(errors, answer["error"], TrackingError)(answer["message"])
        return answer
