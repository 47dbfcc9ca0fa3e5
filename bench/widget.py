"""The live picture: seconds until a large run is open, frames a second, what notebooks save, and
runs that are seen while they go on (`bench.live`).

python -m bench.widget

The run is made up: 100,800 operations on 4 ranks. It is opened as a page in headless Chromium and
panned and zoomed, a frame at a time, without a GPU. The notebook is one of ten pictures.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench import header, live

ROOT = Path(__file__).resolve().parent.parent
STEPS = 8_400  # of 3 operations on each of 4 ranks
PICTURES = 10

#: pans over the whole run at several zooms: milliseconds of each frame, and of drawing it
_SCROLL = """
const done = arguments[arguments.length - 1], frames = [], drawn = [];
const view = document.querySelector("section.dl").view, picture = view.picture;
const widths = [1, 0.3, 0.03, 0.002];
let step = 0, before = 0;
const draw = picture.draw.bind(picture);
picture.draw = () => { const t = performance.now(); draw(); drawn.push(performance.now() - t); };
const next = now => {
  if (before) frames.push(now - before);
  before = now;
  const wide = widths[Math.floor(step / 60)], part = step % 60 / 60;
  if (wide === undefined) return done([frames, drawn]);
  picture.show(part * (1 - wide), part * (1 - wide) + wide);
  step++;
  requestAnimationFrame(next);
};
requestAnimationFrame(next);
"""
_STEP = """
const view = document.querySelector("section.dl").view, times = [];
for (let k = 0; k < 40; k++) {
  const begin = performance.now();
  view.go(Math.floor(k / 40 * view.run.moments.time.length));
  view.tellNow();
  times.push(performance.now() - begin);
}
return times;
"""


def main() -> int:
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "viz")]
    from browsing import browser, missing
    from test_timeline import exchange, long_run

    from distlab.viz.timeline import timeline

    if lacks := missing():
        print(lacks, file=sys.stderr)
        return 1
    print(header())
    records = long_run(STEPS)
    count = sum(len(record.events) for record in records)
    begin, busy = time.perf_counter(), time.process_time()
    picture = timeline(records, title=f"{count:,} operations")
    paired = time.perf_counter() - begin
    run = picture.model()
    told = time.perf_counter() - begin - paired
    busy = time.process_time() - busy
    size = sum(map(len, run.buffers()))
    print(
        f"{count:,} events: paired in {paired:.2f} s, told in {told:.2f} s ({busy:.2f} s of the "
        f"processor for both), {size / 1e6:.1f} MB"
    )
    with tempfile.TemporaryDirectory() as folder:
        page = picture.save(Path(folder) / "run.html")
        with browser(Path(folder) / "profile") as driver:
            opened = [_open(driver, page) for _ in range(5)]
            frames, drawn = driver.execute_async_script(_SCROLL)
            steps = driver.execute_script(_STEP)
    print(f"opened in {_of(opened, 's')} (parsed, indexed, drawn, tables filled)")
    print(f"from records to an open picture: {paired + told + statistics.median(opened):.2f} s")
    rate = 1000 / statistics.median(frames)
    slow = 1000 / sorted(frames)[int(0.95 * len(frames))]
    print(f"scrolled at {rate:.0f} frames a second (of 20 frames one at {slow:.0f})")
    print(f"a frame is drawn in {_of(drawn, 'ms')}, a step told in {_of(steps, 'ms')}")
    _notebook(timeline(exchange()))
    live.measure()
    return 0


def _open(driver, page: Path) -> float:
    driver.get(page.as_uri())
    return driver.execute_script("return document.querySelector('section.dl').view.openedIn") / 1e3


def _notebook(picture) -> None:
    """What a notebook with ten pictures saves, with the live ones and without."""
    import nbformat

    from distlab.viz import widget

    def size(pictures: list[str]) -> str:
        cells = []
        for html in pictures:
            data = {"text/html": html, "text/plain": repr(picture)}
            outputs = [nbformat.v4.new_output("display_data", data)]
            cells.append(nbformat.v4.new_code_cell("run", outputs=outputs))
        return f"{len(nbformat.writes(nbformat.v4.new_notebook(cells=cells))) / 1e3:.0f} kB"

    still, run, name = picture.still(), picture.model(), "0123abcd-10"
    print(
        f"a notebook with {PICTURES} live pictures saves "
        f"{size([widget.framed(name, still)] * PICTURES)}, with still ones "
        f"{size([still] * PICTURES)}, run in VS Code "
        f"{size([widget.embedded(name, still, run, coded=not n) for n in range(PICTURES)])}"
    )


def _of(figures, unit: str) -> str:
    low, middle, high = min(figures), statistics.median(figures), max(figures)
    return f"{middle:.2f} ({low:.2f}–{high:.2f}) {unit}"


if __name__ == "__main__":
    sys.exit(main())
