"""Runs seen while they go on, in JupyterLab in headless Chromium: how late their first event is on
the screen, and what that costs an epoch of training. A part of `python -m bench.widget`.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

RUNS = 15  # whose first event is waited for
PAIRS = 5  # epochs with the picture and without

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
# the class counts what its pictures took; every other epoch has none
_EPOCHS = """
def epoch(rank, size):
    torch.manual_seed(0)
    model = DDP(torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(4),
        torch.nn.Flatten(), torch.nn.Linear(16 * 64, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images, labels = torch.randn(2048, 3, 32, 32), torch.randint(0, 10, (2048,))
    dist.barrier()
    begin = time.perf_counter()
    for some, of in zip(images.split(16), labels.split(16)):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(some), of)
        loss.backward()
        optimizer.step()
        report(loss=loss, images=16)
    return time.perf_counter() - begin

spent, made = [], live.Live.end
def end(self):
    spent.append(self.purse.spent)
    made(self)
live.Live.end = end
took = {"off": [], "on": []}
ranks.run(epoch)
for _ in range(PAIRS):
    for setting in took:
        os.environ["DISTLAB_WIDGETS"] = setting
        took[setting].append(max(ranks.run(epoch)))
took["spent"] = spent[1:]
print(json.dumps(took))
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
    """Print both figures."""
    import nbformat
    import test_live_in_jupyter
    from browsing import browser
    from test_live_in_jupyter import served
    from test_live_runs import Runs

    test_live_in_jupyter.PATIENCE = 600.0  # seconds; epochs take long on a busy machine
    cells = [_SETUP, *[_SHORT] * RUNS, _EPOCHS]
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
            for number in range(1, len(cells)):
                page.begin(number)
                page.ended(number)
            painted = driver.execute_script("return window.painted")
            saved = page.saved()
    offset, epochs = (_told(saved.cells[at]) for at in (0, len(cells) - 1))
    late = sorted(
        painted_at - 1000 * (offset + made - horizon + first)
        for painted_at, first, horizon, made in painted[:RUNS]
    )
    print(
        f"the first event of a run is on the screen {statistics.median(late):.0f} "
        f"({late[0]:.0f}–{late[-1]:.0f}) ms after it happened, in {len(late)} of {RUNS} runs"
    )
    ratios = [on / off for on, off in zip(epochs["on"], epochs["off"], strict=True)]
    seconds = statistics.median(epochs["off"])
    taken = statistics.median(epochs["spent"]) / seconds
    print(
        f"an epoch of {seconds:.1f} s takes {100 * (statistics.median(ratios) - 1):+.1f} % longer "
        f"when it is seen ({100 * (min(ratios) - 1):+.1f} to {100 * (max(ratios) - 1):+.1f} %); "
        f"its pictures take {100 * taken:.1f} % of a processor"
    )


def _told(cell):
    """What a cell printed, as JSON."""
    (text,) = [out.text for out in cell.outputs if out.output_type == "stream"]
    return json.loads(text)
