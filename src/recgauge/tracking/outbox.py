"""Deliveries in the background: a process beside the program imports MLflow and delivers folder by folder."""

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from recgauge.errors import RecgaugeError, TrackingError, said
from recgauge.tracking.delivering import deliver, mark
from recgauge.tracking.pages import address, run_address
from recgauge.tracking.store import Store, open_store
from recgauge.utils.messages import print_note
from recgauge.utils.workers import end_worker, worker_process

_PATIENCE = 10  # seconds without a word


def _open(store: Store) -> None:
    """Open a store before the first folder comes; what is wrong with it is said of that folder."""
    open_store(store)


def _delivered(folder: Path, store: Store, experiment: str) -> tuple[str, str]:
    """Deliver a folder, as a run of this experiment of recgauge, too; return its run and the run's page."""
    run_id = deliver(folder, store)
    if experiment:
        mark(store, run_id, experiment)
    return run_id, run_address(store, run_id)


class Deliveries(AbstractContextManager["Deliveries"]):
    """Delivers folders in the background; leaving the context waits for what is under way.

    What a store did not take is delivered once more then. The `store` that is named here is opened at once,
    so that the first folder need not wait for it.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._process: Executor | None = None
        self._sent: dict[Path, tuple[Store, str]] = {}
        self._done: dict[Path, Future[tuple[str, str]]] = {}
        self._repeated = set[Path]()
        if store is not None:
            self._submit(_open, store)

    def submit(self, folder: Path, store: Store, experiment: str = "") -> None:
        """Deliver a folder in the background; a reused run is one of this experiment, too."""
        self._sent[folder] = store, experiment
        self._done[folder] = self._submit(_delivered, folder.absolute(), store, experiment)

    @property
    def results(self) -> Mapping[Path, str | RecgaugeError]:
        """The run ids of folders that were delivered, and the errors of those that were not."""
        return {folder: _result(done) for folder, done in self._done.items() if done.done()}

    def address(self, store: Store, tag: str, value: str, dataset: str = "") -> str | None:
        """Return `recgauge.tracking.address`, asked in the background; None if the store fails."""
        with suppress(Exception):
            return str(self._submit(address, store, tag, value, dataset).result())
        return None

    def run_address(self, folder: Path) -> str | None:
        """Return the page of a folder's run, once it is delivered; None if it is not."""
        with suppress(Exception):
            return self._done[folder].result()[1]
        return None

    def __exit__(self, *raised: object) -> None:
        try:
            self.finish()
        finally:
            if self._process is not None:  # what is torn is completed by the next delivery
                end_worker(self._process)

    def finish(self) -> None:
        """Wait for all folders, and deliver those once more that their store did not take."""
        if waiting := len(wait(self._done.values(), timeout=_PATIENCE).not_done):
            print_note(f"waiting for the tracking store, which has the results of {waiting} still to take.")
        self._wait()
        failed = {folder for folder, result in self.results.items() if isinstance(result, TrackingError)}
        for folder in failed - self._repeated:
            self.submit(folder, *self._sent[folder])
        self._repeated |= failed
        self._wait()

    def _wait(self) -> None:
        """Wait for all folders; once the store fails, those that wait need not try it each."""
        waiting = {future for future in self._done.values() if not future.done()}
        while waiting:
            ended, waiting = wait(waiting, return_when=FIRST_EXCEPTION)
            if any(isinstance(_result(future), TrackingError) for future in ended):
                for future in waiting:
                    future.cancel()

    def _submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Give the process something to do; after a death, a new process."""
        for _ in range(2):
            if self._process is None:
                self._process = worker_process({"PYTHONWARNINGS": "ignore"})
            try:
                future: Future[Any] = self._process.submit(function, *arguments)
            except BrokenExecutor:
                self._process = None
            else:
                return future
        raise TrackingError("no process that delivers can be started; `recgauge sync` delivers.")


def _result(done: Future[tuple[str, str]]) -> str | RecgaugeError:
    """Return the run of a folder that was delivered, or why it was not."""
    try:
        return done.result()[0]
    except RecgaugeError as error:
        return error
    except (BrokenExecutor, CancelledError):
        return TrackingError("the process that delivers has ended, or the store fails; see `recgauge sync`.")
    except Exception as error:
        return TrackingError(f"{type(error).__name__}: {said(error)}")
