"""A run's outcome does not depend on when its watcher looked."""

import pytest

from distlab.engines import run_messages, runs, watching
from distlab.engines.outcomes import Finding
from distlab.processes import clocks, payload
from distlab.processes import stopped as stopping
from distlab.records import events
from distlab.records.events import HEADER, HEADER_BYTES, RAISED, RUNNING


class TwoRanks:
    """Rank 0 has raised, but its answer comes only after some looks; rank 1 never answers."""

    def __init__(self, folder, late):
        self.folder, self.late, self.killed = folder, late, []
        error = {"type": "ValueError", "message": "no", "frames": []}
        self.answer = payload.pack(
            {"status": "raised", "error": error, "seconds": 0.1, "overwritten": False}, b""
        )

    def __len__(self):
        return 2

    def settle(self):
        pass

    def send(self, rank, task, within):
        path = f"{payload.unpack(b''.join(task))[0]['folder']}/{rank}.rec"
        with open(path, "wb") as file:
            progress, end = (RUNNING, 0.0) if rank else (RAISED, clocks.now())
            header = HEADER.pack(rank, 2, 0, progress, clocks.now(), end, 0, 0.0, 0.0)
            file.write(header.ljust(HEADER_BYTES, b"\0"))

    def receive(self, timeout):
        self.late -= 1
        return [(0, self.answer)] if self.late == 0 else []

    def replace(self, ranks):
        self.killed = list(ranks)

    def store(self, run):
        return []

    def machines(self):
        return [clocks.machine()] * 2


@pytest.mark.parametrize("late", [1, 2, 5])
def test_what_a_rank_raised_is_heard_though_the_run_is_ended_for_it(tmp_path, late):
    engines = TwoRanks(tmp_path, late)
    ended = Finding("ended", "rank 1 waits, but rank 0 stopped with an error")
    run = runs.drive(
        engines, b"", [b"", b""],
        watch=lambda seen, dead: ended if seen[0].progress == events.RAISED else None,
    )  # fmt: skip
    assert run.outcomes[0].status == "raised" and run.outcomes[0].error["message"] == "no"
    assert run.outcomes[1].status == "killed" and engines.killed == [1]
    assert run.records[0].stopped == 0.0 < run.records[1].stopped


class OnABusyMachine(TwoRanks):
    """What rank 0 has raised comes seconds after its record says so, by a clock of its own."""

    now = 100.0

    def monotonic(self):
        return self.now

    def receive(self, timeout):
        self.now += max(timeout, 0.001)
        heard = self.late is not None and self.now > 100.0 + self.late
        self.late = None if heard else self.late
        return [(0, self.answer)] if heard else []


@pytest.mark.parametrize(
    ("deadline", "late", "heard"), [(60.0, 8.0, True), (60.0, 12.0, False), (0.5, 1.6, False)]
)
def test_an_answer_that_comes_late_is_waited_for_within_the_deadline(
    tmp_path, monkeypatch, deadline, late, heard
):
    engines = OnABusyMachine(tmp_path, late)
    for module in (runs, watching):
        monkeypatch.setattr(module, "time", engines)
    ended = Finding("ended", "rank 1 waits, but rank 0 stopped with an error")
    run = runs.drive(
        engines, b"", [b"", b""], deadline=deadline,
        watch=lambda seen, dead: ended if seen[0].progress == events.RAISED else None,
    )  # fmt: skip
    assert (run.outcomes[0].status == "raised") == heard and run.finding == ended


def test_ranks_are_asked_with_pauses_where_nobody_looks_at_their_records(tmp_path, monkeypatch):
    engines = OnABusyMachine(tmp_path, 4.0)
    for module in (runs, watching):
        monkeypatch.setattr(module, "time", engines)
    asked, receive = [], engines.receive
    engines.receive = lambda timeout: asked.append(timeout) or receive(timeout)
    run = runs.drive(engines, b"", [b"", b""], deadline=5.0)
    assert run.timed_out and run.outcomes[0].status == "raised"
    assert len(asked) <= 6.0 / watching.POLL


class HeldUp(TwoRanks):
    """Whoever watches is stopped in its first look; the ranks answer `late` looks after that."""

    now, computed, computes = 100.0, 0.0, False

    def __init__(self, folder, stopped, late):
        super().__init__(folder, late)
        self.stopped = stopped

    def monotonic(self):
        return self.now

    def thread_time(self):
        return self.computed

    def receive(self, timeout):
        self.now += max(timeout, 0.001) + self.stopped
        self.computed += self.stopped * self.computes
        if self.stopped:
            self.stopped = 0.0
            return []
        self.late -= 1
        tree = {"status": "returned", "error": None, "seconds": 0.1, "overwritten": False}
        answer = payload.pack(tree, b"")
        return [(rank, answer) for rank in range(2)] if self.late == 0 else []


@pytest.mark.parametrize(
    ("stopped", "late", "heard"),
    [
        (12.0, 1, True), (12.0, 20, True), (100.0, 1, True), (3600.0, 20, True),
        (0.0, 1000, False), (3600.0, 1000, False),
    ],
)  # fmt: skip
def test_time_in_which_the_watcher_itself_was_stopped_is_not_the_ranks(
    tmp_path, monkeypatch, stopped, late, heard
):
    engines = HeldUp(tmp_path, stopped, late)
    run = driven(monkeypatch, engines)
    assert [one.status for one in run.outcomes] == ["returned" if heard else "killed"] * 2
    assert run.timed_out is not heard
    assert run.stopped == pytest.approx(max(stopped - stopping.USUAL, 0.0), abs=0.1)
    assert run.seconds < 12.0, "the run's own time has the stop in it"
    assert (
        run_messages.unpack(payload.unpack(b"".join(run_messages.parts(run)))).stopped
        == run.stopped
    )


def test_a_watcher_that_computes_is_not_stopped(tmp_path, monkeypatch):
    engines = HeldUp(tmp_path, 100.0, 20)
    engines.computes = True
    run = driven(monkeypatch, engines)
    assert run.timed_out and run.stopped == 0.0


def driven(monkeypatch, engines):
    engines.tidy = lambda size, left: None
    for module in (runs, watching):
        monkeypatch.setattr(module, "time", engines)
    monkeypatch.setattr(stopping, "time", engines)
    monkeypatch.setattr(stopping, "_computed", engines.thread_time)
    return runs.drive(engines, b"", [b"", b""], deadline=10.0, watch=lambda seen, dead: None)


class EndedAtOnce(TwoRanks):
    """Both ranks have returned before anybody looks."""

    def receive(self, timeout):
        tree = {"status": "returned", "error": None, "seconds": 0.1, "overwritten": False}
        return [(rank, payload.pack(tree, b"")) for rank in range(2)]

    def tidy(self, size, left):
        pass


def test_what_is_over_at_once_costs_no_look_at_how_long_its_ranks_waited(tmp_path):
    engines = EndedAtOnce(tmp_path, 0)
    engines.queued = lambda: pytest.fail("asked, which costs more than the run")
    run = runs.drive(engines, b"", [b"", b""])
    assert run.ok and 0.0 <= run.queued <= run.seconds


@pytest.mark.parametrize(("waits", "heard"), [(0.0, False), (0.8, True)])
def test_waiting_for_a_processor_puts_off_the_deadline_though_the_first_look_is_late(
    tmp_path, monkeypatch, waits, heard
):
    """Both ranks answer after 8 s, of which they had no processor for a part, from the begin on."""
    engines = HeldUp(tmp_path, 0.0, round(8.0 / watching.POLL))
    begin = engines.now
    engines.queued = lambda: 100.0 + waits * (engines.now - begin)  # of runs before this one, too
    for module in (runs, watching):
        monkeypatch.setattr(module, "time", engines)
    monkeypatch.setattr(stopping, "time", engines)
    monkeypatch.setattr(stopping, "_computed", engines.thread_time)
    engines.tidy = lambda size, left: None
    run = runs.drive(engines, b"", [b"", b""], deadline=5.0, watch=lambda seen, dead: None)
    assert run.timed_out is not heard
    assert run.queued == pytest.approx(waits * (engines.now - begin), abs=2 * watching.POLL)


class NeverLooks:
    """A watcher that is never asked in time."""

    def __call__(self, seen, dead):
        raise AssertionError("the run had ended")

    def conflict(self, seen, dead):
        return Finding("new_group", f"{len(seen)} ranks make two groups in one call")


def test_what_does_not_fit_together_is_found_though_the_run_ended_before_a_look(tmp_path):
    run = runs.drive(EndedAtOnce(tmp_path, 0), b"", [b"", b""], watch=NeverLooks())
    assert run.ok
    assert run.finding == Finding("new_group", "2 ranks make two groups in one call")


class CannotReadThem(NeverLooks):
    """The records are nonsense that the function has written itself."""

    def conflict(self, seen, dead):
        raise IndexError(len(seen))

    hindsight = conflict


def test_records_of_nonsense_do_not_cost_the_run(tmp_path):
    run = runs.drive(EndedAtOnce(tmp_path, 0), b"", [b"", b""], watch=CannotReadThem())
    assert run.ok and run.finding is None and run.hindsight is None


@pytest.mark.parametrize(("harness", "ended"), [("lab/exercise", True), (None, False)])
def test_a_check_does_not_wait_for_others_long_once_a_rank_has_raised(
    tmp_path, monkeypatch, harness, ended
):
    monkeypatch.setattr(runs, "RAISED", 0.1)
    run = runs.drive(TwoRanks(tmp_path, 1), b"", [b"", b""], harness=harness, deadline=1.0)
    assert [outcome.status for outcome in run.outcomes] == ["raised", "killed"]
    assert (run.seconds < 1.0) == ended


class LeavesAThread(TwoRanks):
    """Rank 0 has raised, and a thread of its function goes on."""

    def send(self, rank, task, within):
        super().send(rank, task, within)
        if rank == 0:
            path = f"{payload.unpack(b''.join(task))[0]['folder']}/{rank}.rec"
            with open(path, "r+b") as file:
                file.seek(events.GOES_ON)
                file.write((1).to_bytes(4, "little"))


@pytest.mark.parametrize(("harness", "killed"), [("lab/exercise", [0, 1]), (None, [1])])
def test_a_rank_in_which_the_function_goes_on_is_replaced_with_those_that_are_killed(
    tmp_path, monkeypatch, harness, killed
):
    monkeypatch.setattr(runs, "RAISED", 0.1)
    engines = LeavesAThread(tmp_path, 1)
    runs.drive(engines, b"", [b"", b""], harness=harness, deadline=1.0)
    assert engines.killed == killed
