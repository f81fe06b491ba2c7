"""Which of several processes does a job: each claims it by its fingerprint, and the store is the referee.

A claim is the run itself that will hold the job's results: RUNNING, with the fingerprint and `CLAIM_TAG`. It
ends with the run, or when the run's process gives no more signs of life (`recgauge.app.tracking.alive`).
Nothing is asked of a store but that a write that it has confirmed is seen by every read that begins later, so
SQLite files, database servers and MLflow servers will do, and no lock is held anywhere.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from recgauge.app.tracking.addresses import explained
from recgauge.app.tracking.alive import UNTIL_TAG, process_of, why_dead
from recgauge.app.tracking.once import DELIVERY_TAG, HIDDEN_TAG, create_once, despite_others
from recgauge.app.tracking.opening import OpenedStore
from recgauge.errors import TrackingError

FINGERPRINT_TAG = "recgauge.fingerprint"
CLAIM_TAG, ASKED, HELD = f"{HIDDEN_TAG}claim", "asked", "held"
PASSED_TAG = f"{HIDDEN_TAG}passed_over"
"""Tag of a claim with the finished runs of the same fingerprint that its job cannot use."""
LOOKS, PAUSE = 20, 0.1
"""How often, and after how many seconds, a claimant looks again whether the others have withdrawn."""


class ElsewhereError(Exception):
    """The job of a run is another process's.

    Parameters
    ----------
    run_id : str
        The run of the other process, or the own one if it was taken over.
    reason : str
    finished : bool
        Whether the other run has finished, so that there is nothing to wait for.
    """

    def __init__(self, run_id: str, reason: str, *, finished: bool = False) -> None:
        super().__init__(reason)
        self.run_id, self.finished = run_id, finished


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as the store has it.

    Parameters
    ----------
    run_id : str
    tags : mapping of str to str
    name : str
        Of the run.
    """

    run_id: str
    tags: Mapping[str, str]
    name: str = ""

    def taken(self) -> ElsewhereError:
        """Return what a process is told that comes too late."""
        return ElsewhereError(self.run_id, f"{process_of(self.tags)} is at it, run {self.run_id}")


class Board(Protocol):
    """Where the claims to one job are put up."""

    def claims(self) -> Sequence[Claim]:
        """Return all claims that have not ended."""

    def finished(self) -> Collection[str]:
        """Return the runs that finished the job."""

    def announce(self) -> Claim:
        """Put up a claim of this process."""

    def hold(self, mine: Claim) -> None:
        """Mark it as one that holds."""

    def withdraw(self, mine: Claim) -> None:
        """Take it back without a trace."""

    def close(self, dead: Claim, reason: str) -> bool:
        """End the claim of a dead process; return False if it has ended or is alive by now."""


def claim(board: Board, passed_over: Collection[str], sleep: Callable[[float], None] = time.sleep) -> Claim:
    """Claim a job for this process, as in Burns' mutual exclusion with one bit for each process.

    A claim holds once its claimant, having announced it, has seen no other. Of two claimants at least the one
    who announced last sees the other, so that at most one claim holds. Claimants withdraw where they see one
    that holds, or one whose run has a smaller id, who waits until they have: somebody gets the job.

    Parameters
    ----------
    board : Board
    passed_over : collection of str
        Finished runs that do not count, since they cannot be reused.
    sleep : callable
        Waits for some seconds.

    Raises
    ------
    ElsewhereError
        If the job is another process's, or done.
    TrackingError
        If the store fails.

    References
    ----------
    Burns, Lynch. Bounds on shared memory for mutual exclusion. Information and Computation 107(2), 1993.
    Lamport. The mutual exclusion problem, part II. Journal of the ACM 33(2), 1986 (the one-bit algorithm).
    """
    if others := _living(board):  # usually all there is to it: no claim is put up in vain
        raise others[0].taken()
    mine = board.announce()
    try:
        _outlast_others(board, mine, sleep)
        # a job that was finished before the claim was put up shows only now
        for run_id in board.finished():
            if run_id not in passed_over:
                raise ElsewhereError(run_id, f"run {run_id} has finished", finished=True)
        board.hold(mine)
    except BaseException:
        with suppress(TrackingError):  # such a claim ends for want of signs of life
            board.withdraw(mine)
        raise
    return mine


def _outlast_others(board: Board, mine: Claim, sleep: Callable[[float], None]) -> None:
    """Return when there is no other claim; raise if this one has to go."""
    for _ in range(LOOKS):
        others = _living(board, mine)
        if not others:
            return
        for other in others:
            if other.tags[CLAIM_TAG] == HELD or other.run_id < mine.run_id:
                raise other.taken()
        sleep(PAUSE)
    raise others[0].taken()  # it does not withdraw: its process hangs, or died elsewhere


def _living(board: Board, mine: Claim | None = None) -> list[Claim]:
    """Return the claims of others, and end those whose processes are dead."""
    found = []
    for one in board.claims():
        if mine is not None and one.run_id == mine.run_id:
            continue
        if mine is not None and _are_twins(one, mine):
            board.withdraw(one)
            continue
        reason = why_dead(one.tags)
        if reason is None or not board.close(one, reason):
            found.append(one)
    return found


def _are_twins(one: Claim, other: Claim) -> bool:
    """Whether both come of one announcement: a client repeats one whose answer was cut off."""
    return one.tags.get(DELIVERY_TAG, one.run_id) == other.tags.get(DELIVERY_TAG)


@dataclass(frozen=True)
class StoredClaims:
    """The claims to one job in an MLflow store.

    Parameters
    ----------
    store : ClaimedStore
    name : str
        Of the run.
    tags : mapping of str to str
        Of the run, with `FINGERPRINT_TAG` and `CLAIM_TAG`.
    """

    store: "ClaimedStore"
    name: str
    tags: Mapping[str, str]

    def claims(self) -> list[Claim]:
        """Return the running runs with this fingerprint that are claims."""
        search = f"tags.`{FINGERPRINT_TAG}` = '{self.tags[FINGERPRINT_TAG]}'"
        return [Claim(*one) for one in self.store.running(search) if CLAIM_TAG in one[1]]

    def finished(self) -> list[str]:
        """Return the newest finished runs with this fingerprint."""
        return self.store.find(self.tags[FINGERPRINT_TAG])

    def announce(self) -> Claim:
        """Open the run."""
        return Claim(self.store.create(self.name, self.tags), self.tags, self.name)

    def hold(self, mine: Claim) -> None:
        """Mark the run."""
        with explained(self.store.uri, "open a run"):
            self.store.client.set_tag(mine.run_id, CLAIM_TAG, HELD)

    def withdraw(self, mine: Claim) -> None:
        """Delete the run, which has nothing yet."""
        with explained(self.store.uri, "withdraw a claim"):
            self.store.client.set_terminated(mine.run_id, "KILLED")  # deleted runs keep what they were called
            self.store.client.delete_run(mine.run_id)

    def close(self, dead: Claim, reason: str) -> bool:
        """Mark the run of a dead process as KILLED."""
        return self.store.close(dead.run_id, dead.tags, reason)


class ClaimedStore(OpenedStore):
    """An MLflow experiment whose runs are claims; what comes in and goes out is plain, see `mlflow_store`."""

    def create(self, name: str, tags: Mapping[str, str]) -> str:
        """Open a run, once, and return its id."""
        with explained(self.uri, "open a run"):
            if self.uri.startswith("http"):
                return str(create_once(self.client, self.experiment_id, name, tags).info.run_id)
            made = self.client.create_run(self.experiment_id, tags=dict(tags), run_name=name)
            return str(made.info.run_id)

    def find(self, fingerprint: str) -> list[str]:
        """Return the ids of the newest runs that finished with this fingerprint; others never count."""
        search = f"tags.`{FINGERPRINT_TAG}` = '{fingerprint}' and attributes.status = 'FINISHED'"
        newest = ["attributes.start_time DESC"]
        with explained(self.uri, "look for finished runs"):
            found = self.client.search_runs([self.experiment_id], search, max_results=10, order_by=newest)
        return [str(run.info.run_id) for run in found]

    def running(self, search: str = "") -> list[tuple[str, dict[str, str], str]]:
        """Return id, tags and name of the runs that are called RUNNING, which a search may narrow."""
        words = [*([search] if search else []), "attributes.status = 'RUNNING'"]
        with explained(self.uri, "look for runs that are under way"):
            found = self.client.search_runs([self.experiment_id], " and ".join(words))
        return [(str(run.info.run_id), dict(run.data.tags), str(run.info.run_name)) for run in found]

    def close(self, run_id: str, tags: Mapping[str, str], reason: str) -> bool:
        """Mark the run of a dead process as KILLED; return False if it has ended or is alive by now.

        A process may end its run, and then itself, between a look at the store and one at the process.
        """
        with explained(self.uri, f"mark run {run_id}"):
            now = self.client.get_run(run_id)
            if now.info.status != "RUNNING" or now.data.tags.get(UNTIL_TAG) != tags.get(UNTIL_TAG):
                return False
            despite_others(lambda: self.client.set_tag(run_id, "error", reason))
            self.client.set_terminated(run_id, "KILLED")
        return True
