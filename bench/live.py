"""Runs seen while they go on, in JupyterLab in headless Chromium: how late their first event is on
the screen, and what that costs an epoch of training. A part of `python -m bench.widget`; alone,
`python -m bench.live`.

An epoch takes some 18 seconds: pictures come quickly at first, which is a lot of half a second. It
is measured with the page before one's eyes, and with its window minimized. The first is all that it
costs on a machine whose cores the ranks share with a browser that draws without a GPU, the second
nearly what it costs where the browser is elsewhere, as with JupyterHub.

Epochs differ by more than what is looked for. So the processor time of all but the ranks is told,
too: by what it grows when a run is seen, ranks that want all cores have less.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RUNS = 15  # whose first event is waited for
PAIRS = 4  # epochs with the picture and without, for each of the two
PASSES = 30  # over 2,048 images, an epoch: some 18 s
PATIENCE = 600.0  # seconds; epochs take long on a busy machine

_SETUP = """
import json, os, time
import torch, torch.distributed as dist, torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from distlab import Ranks, report
from distlab.engines import live

ranks = Ranks(2)
print(json.dumps(time.time() - time.monotonic()))
"""
_SHORT = """
def once(rank, size):
    dist.all_reduce(torch.ones(1))
    time.sleep(0.5)

result = ranks.run(once)
"""
# the class counts what its pictures took
_DEFINED = """
def epoch(rank, size):
    torch.manual_seed(0)
    model = DDP(torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(4),
        torch.nn.Flatten(), torch.nn.Linear(16 * 64, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images, labels = torch.randn(2048, 3, 32, 32), torch.randint(0, 10, (2048,))
    dist.barrier()
    begin, worked = time.perf_counter(), time.process_time()
    for _ in range(PASSES):
        for some, of in zip(images.split(16), labels.split(16)):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(some), of)
            loss.backward()
            optimizer.step()
            report(loss=loss, images=16)
    return time.perf_counter() - begin, time.process_time() - worked

def busy():
    with open("/proc/stat") as file:  # user, nice, system, idle, waiting for disks, irq, softirq
        user, nice, system, _, _, *interrupts = map(int, file.readline().split()[1:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")

spent, made = [], live.Live.end
def end(self):
    spent.append(self.purse.spent)
    made(self)
live.Live.end = end
ranks.run(epoch)
""".replace("PASSES", str(PASSES))
# every other epoch has no picture, and each of the two ways comes first as often
_EPOCHS = """
took = {"off": [], "on": []}
others = {"off": [], "on": []}
spent.clear()
for number in range(PAIRS):
    for setting in ("off", "on") if number % 2 else ("on", "off"):
        os.environ["DISTLAB_WIDGETS"] = setting
        before = busy()
        told = list(ranks.run(epoch))
        seconds, worked = max(one for one, _ in told), sum(one for _, one in told)
        took[setting].append(seconds)
        others[setting].append((busy() - before - worked) / seconds / os.cpu_count())
os.environ["DISTLAB_WIDGETS"] = "on"
took["spent"], took["others"] = spent, others
with open("WHERE.part", "w") as file:
    json.dump(took, file)
os.replace("WHERE.part", "WHERE")
""".replace("PAIRS", str(PAIRS))
#: notes of each picture that comes up when it was painted, its first event, its end, and the
#: monotonic time of that end
_WATCH = """
window.painted = [];
const known = new WeakSet();
new MutationObserver(() => {
  for (const section of document.querySelectorAll("section.dl-live")) {
    if (known.has(section)) continue;
    known.add(section);
    const {run} = section.view;
    const note = () => window.painted.push([performance.timeOrigin + performance.now(),
      Math.min(...run.begin), run.horizon, run.lookedAt]);
    requestAnimationFrame(() => requestAnimationFrame(note));
  }
}).observe(document.body, {childList: true, subtree: true});
"""


def measure() -> None:
    """Print these figures."""
    import nbformat
    import test_live_in_jupyter
    from browsing import browser
    from test_live_in_jupyter import served
    from test_live_runs import Runs

    test_live_in_jupyter.PATIENCE = PATIENCE
    ways = ("the page is visible", "the page is hidden")
    cells = [_SETUP, *[_SHORT] * RUNS, _DEFINED, *(_EPOCHS.replace("WHERE", way) for way in ways)]
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}},
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nbformat.write(book, folder / "walk.ipynb")
        with served("lab", folder) as url, browser(folder / "browser", 1240, 1000) as driver:
            driver.get(f"{url}/lab/tree/walk.ipynb")
            page = Runs(driver, folder, "lab", url)
            page.begin(0)
            page.ended(0)
            driver.execute_script(_WATCH)
            for number in range(1, RUNS + 2):
                page.begin(number)
                page.ended(number)
            painted = driver.execute_script("return window.painted")
            offset = _told(page.saved().cells[0])
            for number, way in enumerate(ways, RUNS + 2):
                page.begin(number)
                if way != ways[0]:
                    driver.minimize_window()
                _wait_for(folder / way)
                assert driver.execute_script("return document.hidden") == (way != ways[0]), way
            epochs = {way: json.loads((folder / way).read_text()) for way in ways}
    late = sorted(
        painted_at - 1000 * (offset + made - horizon + first)
        for painted_at, first, horizon, made in painted[:RUNS]
    )
    print(
        f"the first event of a run is on the screen {statistics.median(late):.0f} "
        f"({late[0]:.0f}–{late[-1]:.0f}) ms after it happened, in {len(late)} of {RUNS} runs"
    )
    for way, took in epochs.items():
        _print(way, took)


def _print(way: str, took: dict[str, Any]) -> None:
    """What an epoch takes longer when it is seen, and which part of a processor that took."""
    ratios = [on / off for on, off in zip(took["on"], took["off"], strict=True)]
    seconds = statistics.median(took["off"])
    taken = statistics.median(took["spent"]) / seconds
    off, on = (statistics.median(took["others"][setting]) for setting in ("off", "on"))
    print(
        f"{way}: an epoch of {seconds:.1f} s takes {100 * (statistics.median(ratios) - 1):+.1f} % "
        f"longer when it is seen ({100 * (min(ratios) - 1):+.1f} to "
        f"{100 * (max(ratios) - 1):+.1f} %); the kernel takes {100 * taken:.1f} % of a processor "
        f"for it; all but the ranks take {100 * on:.1f} % of the machine, {100 * off:.1f} % when "
        "it is not seen"
    )


def _wait_for(path: Path) -> None:
    """Wait until a cell has written its figures; the page is not asked, which might draw for it."""
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline, f"no {path.name}"
        time.sleep(0.2)


def _told(cell):
    """What a cell printed, as JSON."""
    (text,) = [out.text for out in cell.outputs if out.output_type == "stream"]
    return json.loads(text)


if __name__ == "__main__":
    root = Path(__file__).resolve().parent.parent
    sys.path[:0] = [str(root / "tests"), str(root / "tests" / "viz")]
    measure()
