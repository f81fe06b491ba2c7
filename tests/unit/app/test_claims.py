"""The protocol by which processes claim jobs, with every interleaving forced on a store in memory."""

from dataclasses import dataclass, field
from threading import Semaphore, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recgauge.app.tracking import alive, claims
from recgauge.app.tracking.alive import LEASE_TAG, PROCESS_TAG, UNTIL_TAG, Watch, alive_tags, why_dead
from recgauge.app.tracking.claims import ASKED, CLAIM_TAG, HELD, Claim, ElsewhereError, claim
from recgauge.app.tracking.once import DELIVERY_TAG
from recgauge.app.tracking.tracker import Tracker
from recgauge.app.tracking.waiting import Waiting
from recgauge.errors import TrackingError


class Died(BaseException):
    """The process was killed."""


@dataclass
class Store:
    """What processes see of each other: each step is one request to the store, done at once."""

    runs: dict[str, tuple[str, str, int]] = field(default_factory=dict)  # id -> status, claim, owner
    dead: set[int] = field(default_factory=set)
    working: list[int] = field(default_factory=list)
    most_at_work: int = 0


class Process:
    """Does the one job there is, and stops before each request to the store until it is told to go on."""

    def __init__(self, number: int, ids: list[str], store: Store) -> None:
        self.number, self.ids, self.store = number, ids, store
        self.go, self.stopped, self.ended, self.killed = Semaphore(0), Semaphore(0), False, False
        self.reused: str | None = None
        self._thread = Thread(target=self._live, daemon=True)
        self._thread.start()
        self.stopped.acquire()

    def step(self) -> None:
        if not self.ended:
            self.go.release()
            self.stopped.acquire()

    def kill(self) -> None:
        self.killed = True
        self.store.dead.add(self.number)
        self.step()

    def _turn(self) -> None:
        self.stopped.release()
        self.go.acquire()
        if self.killed:
            raise Died

    def _live(self) -> None:
        try:
            while not self._done():
                try:
                    mine = claim(self, (), sleep=lambda _seconds: self._turn())
                except ElsewhereError:
                    self._turn()
                    continue
                self._work(mine)
        except Died:
            if self.number in self.store.working:
                self.store.working.remove(self.number)
        self.ended = True
        self.stopped.release()

    def _done(self) -> bool:
        self._turn()
        self.reused = next(iter(self._with("FINISHED")), None)
        return self.reused is not None

    def _work(self, mine: Claim) -> None:
        store = self.store
        store.working.append(self.number)
        store.most_at_work = max(store.most_at_work, len(store.working))
        self._turn()
        self._turn()
        store.runs[mine.run_id] = ("FINISHED", HELD, self.number)
        store.working.remove(self.number)

    def _with(self, status: str) -> list[str]:
        return [run_id for run_id, (now, _, _) in self.store.runs.items() if now == status]

    # the requests of `claims.Board`

    def claims(self) -> list[Claim]:
        self._turn()
        return [
            Claim(run_id, {CLAIM_TAG: self.store.runs[run_id][1], "owner": str(self.store.runs[run_id][2])})
            for run_id in self._with("RUNNING")
        ]

    def finished(self) -> list[str]:
        self._turn()
        return self._with("FINISHED")

    def announce(self) -> Claim:
        self._turn()
        run_id = self.ids.pop()
        self.store.runs[run_id] = ("RUNNING", ASKED, self.number)
        return Claim(run_id, {CLAIM_TAG: ASKED, "owner": str(self.number)})

    def hold(self, mine: Claim) -> None:
        self._turn()
        self.store.runs[mine.run_id] = ("RUNNING", HELD, self.number)

    def withdraw(self, mine: Claim) -> None:
        if not self.killed:
            self._turn()
            self.store.runs[mine.run_id] = ("deleted", "", self.number)

    def close(self, dead: Claim, reason: str) -> bool:
        del reason
        self._turn()
        if self.store.runs[dead.run_id][0] != "RUNNING":
            return False
        self.store.runs[dead.run_id] = ("KILLED", "", -1)
        return True


N = 3


@pytest.fixture
def store(monkeypatch):
    """A store; the death of a process is seen by all at once, as on one machine."""
    made = Store()
    monkeypatch.setattr(claims, "why_dead", lambda tags: "dead" if int(tags["owner"]) in made.dead else None)
    return made


def live_on(processes, store, n_steps=3000):
    """Let all that are alive take turns to the end."""
    for _ in range(n_steps):
        for process in processes:
            process.step()
        if all(process.ended for process in processes):
            return
    pytest.fail(f"nobody gets on: {store.runs}")


@settings(max_examples=60, deadline=None)
@given(
    turns=st.lists(st.integers(0, N - 1), max_size=60),
    deaths=st.dictionaries(st.integers(0, 60), st.integers(0, N - 2), max_size=2),
    order=st.permutations(range(N)),
)
def test_one_process_at_a_time_is_at_a_job_and_one_run_finishes(turns, deaths, order):
    with pytest.MonkeyPatch.context() as patch:
        made = Store()
        patch.setattr(claims, "why_dead", lambda tags: "dead" if int(tags["owner"]) in made.dead else None)
        # which of two claimants has the smaller run id is a matter of chance
        processes = [Process(one, [f"{order[one]}-{i:03d}" for i in range(900)], made) for one in range(N)]
        for place, turn in enumerate(turns):
            if place in deaths:
                processes[deaths[place]].kill()
            processes[turn].step()
        live_on(processes, made)
    assert made.most_at_work == 1
    statuses = [status for status, _, _ in made.runs.values()]
    assert statuses.count("FINISHED") == 1
    assert "RUNNING" not in statuses or made.dead
    assert all(process.reused or process.killed for process in processes)


@pytest.mark.parametrize("step", range(10))
def test_an_owner_may_die_at_each_step(store, step):
    first, second = (Process(one, [f"{one}-{i}" for i in range(50)], store) for one in range(2))
    for _ in range(step):
        first.step()
    first.kill()
    live_on([first, second], store)
    # whatever the first had reached: its claim is over, the job is done, once
    statuses = sorted(status for status, _, _ in store.runs.values())
    assert statuses.count("FINISHED") == 1
    assert set(statuses) <= {"FINISHED", "KILLED"}


@pytest.mark.parametrize("smaller", [0, 1])
def test_of_two_that_announce_before_either_looks_one_gets_the_job(store, smaller):
    names = ["a", "b"] if smaller == 0 else ["b", "a"]
    both = [Process(one, [f"{names[one]}-{i}" for i in range(50)], store) for one in range(2)]
    while sum(claimed == ASKED for _, claimed, _ in store.runs.values()) < 2:
        for process in both:
            process.step()
    live_on(both, store)
    finished = [owner for status, _, owner in store.runs.values() if status == "FINISHED"]
    assert finished == [smaller]
    assert store.most_at_work == 1


def test_two_that_take_over_a_dead_owners_job_at_once_do_it_once(store):
    dead, *both = (Process(one, [f"{one}-{i}" for i in range(50)], store) for one in range(3))
    while not store.working:
        dead.step()
    dead.kill()
    live_on(both, store)
    statuses = sorted(status for status, _, _ in store.runs.values() if status != "deleted")
    assert statuses == ["FINISHED", "KILLED"]
    assert store.most_at_work == 1


class Fixed:
    """A board on which nothing changes by itself."""

    def __init__(self, others, finished=()):
        self.others, self._finished, self.done = others, finished, []

    def claims(self):
        return [*self.others, *(one for one in self.done if isinstance(one, Claim))]

    def finished(self):
        return self._finished

    def announce(self):
        self.done.append(Claim("m", {CLAIM_TAG: ASKED, DELIVERY_TAG: "d"}))
        return self.done[-1]

    def hold(self, mine):
        del mine
        raise TrackingError("the store is down")

    def withdraw(self, mine):
        self.done = [one for one in self.done if one is not mine] + [f"withdrawn {mine.run_id}"]
        self.others = [one for one in self.others if one is not mine]


def test_a_claim_is_taken_back_when_the_store_fails_meanwhile():
    board = Fixed([])
    with pytest.raises(TrackingError, match="the store is down"):
        claim(board, ())
    assert board.done == ["withdrawn m"]


def test_a_job_that_was_finished_meanwhile_is_not_done_unless_that_run_was_passed_over():
    with pytest.raises(ElsewhereError, match="run f has finished") as told:
        claim(Fixed([], ["f"]), ())
    assert told.value.finished
    with pytest.raises(TrackingError):  # it goes on to hold its claim
        claim(Fixed([], ["f"]), ["f"])


def test_the_claim_that_a_client_announced_twice_since_the_answer_was_cut_off_is_withdrawn(monkeypatch):
    board = Fixed([])
    monkeypatch.setattr(board, "hold", lambda _mine: None)
    announce = board.announce

    def announce_twice():
        board.others = [Claim("a", {CLAIM_TAG: ASKED, DELIVERY_TAG: "d"})]
        return announce()

    monkeypatch.setattr(board, "announce", announce_twice)
    assert claim(board, ()).run_id == "m"
    assert "withdrawn a" in board.done


def test_a_claimant_that_neither_withdraws_nor_holds_is_not_waited_for_for_ever(monkeypatch):
    board, slept = Fixed([]), []
    later = Claim("z", {CLAIM_TAG: ASKED, **alive_tags()})
    announce = board.announce

    def announce_beside_another():
        board.others = [later]
        return announce()

    monkeypatch.setattr(board, "announce", announce_beside_another)
    with pytest.raises(ElsewhereError, match="is at it, run z"):
        claim(board, (), slept.append)
    assert len(slept) == claims.LOOKS
    assert board.done == ["withdrawn m"]


ELSEWHERE = {PROCESS_TAG: "node2 17 1 elsewhere", LEASE_TAG: "60"}


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def far(until):
    """Tags of a process elsewhere whose clock is right."""
    return {**ELSEWHERE, UNTIL_TAG: str(until)}


def test_a_lease_ends_when_its_last_sign_was_seen_for_as_long_as_the_owner_said(monkeypatch):
    monkeypatch.setattr(alive, "time", lambda: 1000.0)
    clock = Clock()
    watch = Watch(clock)
    for clock.now in (0, 15, 30, 45, 59):
        assert watch.why_dead("r", far(1060)) is None
    assert watch.why_dead("r", far(1061)) is None  # a late renewal counts like any other
    for clock.now in (74, 89, 104, 118):
        assert watch.why_dead("r", far(1061)) is None
    clock.now = 119.5
    assert watch.why_dead("r", far(1061)) == "process 17 on node2 gave no sign of life for 60 seconds"


def test_time_in_which_the_watcher_did_not_look_counts_little(monkeypatch):
    monkeypatch.setattr(alive, "time", lambda: 1000.0)
    clock = Clock()
    watch = Watch(clock)
    for clock.now in (0, 10_000, 20_000, 30_000):  # stopped, and all others perhaps with it
        assert watch.why_dead("r", far(1060)) is None
    clock.now = 40_000
    assert watch.why_dead("r", far(1060)) is not None


@pytest.mark.parametrize("offset", [-500, 500])
def test_clocks_that_differ_by_minutes_keep_a_living_owner_alive(monkeypatch, offset):
    clock = Clock()
    monkeypatch.setattr(alive, "time", lambda: 100_000 + clock.now)
    watch = Watch(clock)
    for clock.now in range(0, 600, 10):
        assert watch.why_dead("r", far(int(100_000 + offset + clock.now + 60))) is None


def test_a_process_with_the_number_of_an_ended_one_is_another():
    tags = alive_tags()
    host, number, began, place = tags[PROCESS_TAG].split(" ")
    if not began.isdigit():
        pytest.skip("this system does not tell when a process began")
    other = f"{host} {number} {int(began) - 1} {place}"
    assert "has ended without a word" in why_dead({**tags, PROCESS_TAG: other})
    assert why_dead({**tags, PROCESS_TAG: f"{host} {number} {int(began) - 1} elsewhere"}) is None


class Away(Tracker):
    """Has one run of another process, or fails."""

    def __init__(self):
        self.runs, self.fails, self.closed = [Claim("r", far(2_000_000_000), "svd")], False, []

    def __hash__(self):
        return 1

    def running(self):
        if self.fails:
            raise TrackingError("the server does not answer")
        return self.runs

    def close(self, run, reason):
        self.closed.append((run.run_id, reason))
        return True


def test_waiting_ends_with_the_run_with_its_process_or_with_the_store():
    clock, said = Clock(), []
    away = Away()
    waiting = Waiting(away, said.append, clock)
    for clock.now in (0, 15, 30, 45):
        assert waiting.look(["r"]) == []
    assert waiting.pause == 2
    away.fails = True  # while it fails, the owner cannot give signs of life either
    clock.now = 60
    assert waiting.look(["r"]) == []
    assert said == ["still waiting, though the store fails: the server does not answer"]
    away.fails = False
    for clock.now in (75, 90, 105, 120):
        assert waiting.look(["r"]) == []
    clock.now = 135
    assert waiting.look(["r"]) == ["r"]
    assert away.closed[0][0] == "r"
    assert "marked as killed: run r (svd): process 17 on node2" in said[-1]

    away.runs, other = [], Waiting(away, said.append, clock)
    assert other.look(["r"]) == ["r"]
    away.fails = True
    assert other.look(["r"]) == []
    clock.now += alive.LEASE + 1
    assert other.look(["r"]) == ["r"]  # the job itself finds out what is wrong


def test_tags_that_only_programs_need_are_not_on_mlflow_s_page():
    tags = [*alive_tags(), CLAIM_TAG, claims.PASSED_TAG, DELIVERY_TAG]
    assert len(tags) == 6
    assert all(tag.startswith("mlflow.") for tag in tags)  # it shows no tag that begins so
