"""Who starts processes for all threads of this one."""

import queue
import sys
import threading
import types

from distlab.processes import children


def test_two_threads_that_start_the_first_process_at_once_both_get_one(monkeypatch):
    monkeypatch.setattr(children, "_starting", [])
    made = []

    def start():
        made.append(children.started([sys.executable, "-c", ""]))

    def second_comes_first():
        monkeypatch.setattr(children, "queue", queue)
        second = threading.Thread(target=start, daemon=True)
        second.start()
        second.join(60)
        return queue.SimpleQueue()

    monkeypatch.setattr(children, "queue", types.SimpleNamespace(SimpleQueue=second_comes_first))
    first = threading.Thread(target=start, daemon=True)
    first.start()
    first.join(120)
    assert [process.wait(60) for process in made] == [0, 0]
