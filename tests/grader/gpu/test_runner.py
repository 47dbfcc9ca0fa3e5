"""The runner of `make gpu`: steps that fail or are late, those done before, who ends with it."""

import json
import os
import sys

import pytest

from grader.gpu import runner
from grader.gpu.runner import DONE, FAILED, LATE, LEFT, Step

ENV = dict(os.environ)
WRITES = "import json, sys; json.dump({found}, open(sys.argv[-1], 'w'))"


def step(name, code, seconds=60.0, beside=False):
    return Step(name, f"the step {name}", ("-c", code), seconds, beside)


def good(name, found="{'n': 1}", **options):
    return step(name, WRITES.format(found=found), **options)


@pytest.fixture
def state(tmp_path):
    return runner.State(tmp_path, "key")


def run(steps, state, seconds=120.0, **options):
    said = []
    found = runner.run(steps, state, ENV, seconds, says=said.append, **options)
    assert [one.name for one in found] == [one.name for one in steps]
    return {one.name: one for one in found}, said


def test_what_fails_is_told_and_the_rest_goes_on(state):
    broken = step("broken", "raise SystemExit('no such GPU')")
    silent = step("silent", "pass")  # ended well, and wrote nothing
    found, said = run([broken, silent, good("fine")], state)
    assert found["broken"].status == FAILED and found["broken"].told == "no such GPU"
    assert found["silent"].status == FAILED and found["silent"].told == "it said nothing"
    assert found["fine"].status == DONE and found["fine"].result == {"n": 1}
    assert [line.split(":")[0] for line in said] == ["broken", "silent", "fine"]


def test_a_step_over_its_time_is_ended_with_all_that_it_started_and_its_result_so_far_is_kept(
    state, monkeypatch
):
    reading, writing = os.pipe()  # at its end once nobody holds the other one
    code = (
        "import json, os, signal, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'], "
        f"pass_fds=[{writing}])\n"
        "json.dump({'epochs': 3}, open(sys.argv[-1] + '.part', 'w'))\n"
        "os.replace(sys.argv[-1] + '.part', sys.argv[-1])\n"
        "signal.pause()\n"
    )

    class UntilItWrote(runner._Running):  # in place of a limit that a busy machine makes too short
        def outcome(self):
            if self._state.result(self.step).exists():
                self.end = 0.0
            return super().outcome()

    start = runner.subprocess.Popen
    monkeypatch.setattr(runner, "_Running", UntilItWrote)
    monkeypatch.setattr(runner, "PATIENCE", 0.2)
    monkeypatch.setattr(
        runner.subprocess, "Popen", lambda *w, **options: start(*w, pass_fds=[writing], **options)
    )
    found, _ = run([step("slow", code, seconds=500.0)], state)
    os.close(writing)
    assert found["slow"].status == LATE and "ended after" in found["slow"].told
    assert found["slow"].result == {"epochs": 3}
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "", "what the step had started is gone too"


def test_a_second_call_goes_on_where_the_first_stopped(state, tmp_path):
    counted = tmp_path / "counted"
    code = f"open({str(counted)!r}, 'a').write('x'); " + WRITES.format(found="{'n': 1}")
    steps = [step("first", code), step("second", "raise SystemExit('not yet')")]
    found, _ = run(steps, state)
    assert found["second"].status == FAILED
    steps[1] = good("second")
    found, said = run(steps, state)
    assert [one.status for one in found.values()] == [DONE, DONE]
    assert said[0] == "first: done before" and counted.read_text() == "x"
    found, _ = run(steps, runner.State(tmp_path, "other"))  # other sources: everything again
    assert counted.read_text() == "xx"


def test_a_damaged_state_is_no_state(state):
    one = good("one")
    run([one], state)
    (state.folder / "one.json").write_text('{"name": "one", "sta')
    found, said = run([one], state)
    assert found["one"].status == DONE and said != ["one: done before"]
    (state.folder / "one.json").write_text('{"of": "another version"}')
    assert state.of(one) is None


def test_an_old_result_is_not_taken_for_a_new_one(state):
    run([good("one", "{'n': 1}")], state)
    (state.folder / "one.json").unlink()
    found, _ = run([step("one", "raise SystemExit(3)")], state)
    assert found["one"].status == FAILED and found["one"].result == {}


def test_what_the_time_does_not_suffice_for_is_told_and_done_by_the_next_call(state):
    steps = [good("a"), good("b")]
    found, said = run(steps, state, seconds=0.0)
    assert [one.status for one in found.values()] == [LEFT, LEFT]
    assert "the same command goes on here" in said[0]
    found, _ = run(steps, state)
    assert [one.status for one in found.values()] == [DONE, DONE]


def test_a_step_that_begins_late_has_only_what_is_left(state, monkeypatch):
    limits = []

    class Noted(runner._Running):
        def __init__(self, *words):
            limits.append(words[-1])
            super().__init__(*words)

    monkeypatch.setattr(runner, "_Running", Noted)
    run([good("short", seconds=50.0), good("long", seconds=600.0)], state, seconds=100.0)
    assert limits[0] == 50 and 0 < limits[1] <= 100


def meets(tmp_path, own, other):
    """Code that ends well only if `other` runs at the same time."""
    fifo = {name: str(tmp_path / name) for name in (own, other)}
    first, second = sorted((own, other))
    order = "'w', 'r'" if own == first else "'r', 'w'"
    modes = order.split(", ")
    return (
        f"open({fifo[first]!r}, {modes[0]}).close(); open({fifo[second]!r}, {modes[1]}).close(); "
        + WRITES.format(found="{'met': True}")
    )


def test_steps_that_measure_nothing_run_side_by_side(state, tmp_path):
    for name in ("x", "y"):
        os.mkfifo(tmp_path / name)
    steps = [step(a, meets(tmp_path, a, b), beside=True) for a, b in (("x", "y"), ("y", "x"))]
    found, _ = run(steps, state, at_once=2)
    assert [one.status for one in found.values()] == [DONE, DONE]


def test_a_step_that_measures_runs_alone(state, tmp_path):
    alone = (
        f"import json, os, sys; mark = {str(tmp_path / 'busy')!r}; "
        "os.close(os.open(mark, os.O_CREAT | os.O_EXCL)); "
        "json.dump({'n': 1}, open(sys.argv[-1], 'w')); os.unlink(mark)"
    )
    steps = [
        step("a", alone, beside=True), step("b", alone), step("c", alone, beside=True),
    ]  # fmt: skip
    found, _ = run(steps, state, at_once=4)
    assert [one.status for one in found.values()] == [DONE] * 3


def test_an_interrupted_run_ends_its_steps_and_keeps_what_was_done(state, tmp_path, monkeypatch):
    started = tmp_path / "started"
    code = f"import signal; open({str(started)!r}, 'w').close(); signal.pause()"
    pids = []

    class Noted(runner._Running):
        def __init__(self, *words):
            super().__init__(*words)
            pids.append(self.process.pid)

        def outcome(self):
            if started.exists():
                raise KeyboardInterrupt
            return super().outcome()

    monkeypatch.setattr(runner, "_Running", Noted)
    with pytest.raises(KeyboardInterrupt):
        run([good("done"), step("long", code)], state)
    assert len(pids) == 2
    with pytest.raises(ProcessLookupError):
        os.killpg(pids[-1], 0)
    assert state.of(good("done")).status == DONE


def test_the_log_holds_what_a_step_printed_and_its_result_is_the_last_word(state):
    code = "import sys; print('hello'); print('there', file=sys.stderr); " + WRITES.format(
        found="{'words': sys.argv[1:-1]}"
    )
    one = Step("one", "one", ("-c", code, "a", "b"))
    found, _ = run([one], state)
    assert found["one"].result == {"words": ["a", "b"]}
    assert set(state.log(one).read_text().split()) == {"hello", "there"}
    kept = json.loads((state.folder / "one.json").read_text())
    assert kept["status"] == DONE and sys.executable not in json.dumps(kept)


def test_a_late_step_is_told_by_what_it_said_before_it_was_ended(state, monkeypatch):
    code = (
        "import signal\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('told to end', flush=True))\n"
        "print('epoch 3 of 8', flush=True)\n"
        "while True: signal.pause()\n"
    )

    class UntilItSpoke(runner._Running):
        def outcome(self):
            if self._state.log(self.step).read_text():
                self.end = 0.0
            return super().outcome()

    monkeypatch.setattr(runner, "_Running", UntilItSpoke)
    monkeypatch.setattr(runner, "PATIENCE", 0.2)
    found, _ = run([step("slow", code)], state)
    assert found["slow"].status == LATE and found["slow"].told.endswith("; epoch 3 of 8")
