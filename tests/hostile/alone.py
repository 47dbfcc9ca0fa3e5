"""Judge one attack by itself, as the referee would: python tests/hostile/alone.py NAME…"""

import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from hostile import entries  # noqa: E402

from distlab import submission  # noqa: E402
from grader.ledger import Ledger  # noqa: E402
from grader.referee import Referee  # noqa: E402


def free():
    words = dict(l.split(":") for l in open("/proc/meminfo").read().splitlines())
    return int(words["MemAvailable"].split()[0]) >> 10


def main(names):
    known = {"places": entries.places(Path("/nowhere"), Path("/nohome")), "port": "9", "abstract": "x"}
    found = {e.student: e for e in entries.attacks(known)}
    low = [free()]
    base = low[0]
    done = threading.Event()

    def watch():
        while not done.wait(0.02):
            low[0] = min(low[0], free())

    threading.Thread(target=watch, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder, Referee(Ledger(Path(folder) / "l")) as referee:
        for name in names or found:
            entry = found[name]
            where = Path(folder) / name
            where.mkdir()
            entry.write(where)
            low[0] = base = free()
            begin = time.monotonic()
            try:
                content = submission.read(next(where.iterdir()))
                rebuilt, repaired = referee.rebuild(entry.lab, content)
                made = referee.judge(entry.lab, name, rebuilt, repaired)
            except Exception as error:
                print(f"BAD {name}: GRADER RAISED {error!r}", flush=True)
                import traceback; traceback.print_exc()
                continue
            lost = {l.name: l.status for l in made.lines if l.status != "passed"}
            messages = " | ".join(l.message.split(". ", 1)[-1][:300] for l in made.lines if l.status != "passed")
            says = entry.says in " ".join(l.message for l in made.lines)
            ok = lost == entry.lost and says and "leak" not in messages
            print(f"{'ok ' if ok else 'BAD'} {name:28} {time.monotonic()-begin:5.1f}s -{base - low[0]:5}MB want {entry.lost or 'passed'} {entry.says!r} got {lost} {messages!r}", flush=True)
    done.set()


main(sys.argv[1:])
