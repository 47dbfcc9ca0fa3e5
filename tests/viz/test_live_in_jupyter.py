"""Live pictures where students have them: JupyterLab and Notebook 7, with a kernel and real ranks.

DISTLAB_PICTURES=FOLDER keeps what was to be seen.
"""

import contextlib
import json
import os
import time
from pathlib import Path

import jupyter_served
import nbformat
import pytest
from browsing import browser, missing

PATIENCE = 120.0  # seconds; a deadline for a busy machine, never a pause
pytestmark = [
    pytest.mark.slow,  # a server, a kernel that imports torch, and a browser
    pytest.mark.long,
    pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing"),
]
CELLS = (
    "import torch\nimport torch.distributed as dist\n\nfrom distlab import Ranks\n\n"
    "ranks = Ranks(2)",
    "def swap(rank, size):\n    mine = torch.tensor([10.0 + rank])\n    other = torch.zeros(1)\n"
    "    if rank == 0:\n        dist.send(mine, 1)\n        dist.recv(other, 1)\n"
    "    else:\n        dist.recv(other, 0)\n        dist.send(mine, 0)\n    return other",
    "ranks.run(swap)",
    "def both_send(rank, size):\n    mine = torch.tensor([10.0 + rank])\n"
    "    dist.send(mine, rank ^ 1)\n    dist.recv(mine, rank ^ 1)\n\n\n"
    "ranks.run(both_send, may_fail=True)",
)


def notebook(path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)


@contextlib.contextmanager
def served(application: str, folder: Path):
    """A Jupyter server in this folder; its URL."""
    settings = Path(jupyter_served.own(folder)["JUPYTERLAB_SETTINGS_DIR"])
    saves = settings / "@jupyterlab" / "docmanager-extension"
    saves.mkdir(parents=True)  # a notebook that saves itself would hide that a key does not
    (saves / "plugin.jupyterlab-settings").write_text('{"autosave": false}')
    root = f"--ServerApp.root_dir={folder}"
    with jupyter_served.served(application, folder, root, patience=PATIENCE) as url:
        yield url


_DRAWN = """
const done = arguments[0];
requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)));
"""
_FETCH = """
const [url, method, content, done] = arguments;
const xsrf = (document.cookie.match(/_xsrf=([^;]+)/) || [])[1];
fetch(url, {
  method, headers: {"Content-Type": "application/json", "X-XSRFToken": xsrf || ""},
  body: content === null ? undefined : JSON.stringify(content),
}).then(async r => done([r.status, await r.text()]), e => done([0, String(e)]));
"""


class Page:
    """A notebook in a browser."""

    def __init__(self, driver, folder: Path, name: str, url: str) -> None:
        self.driver, self.folder, self.name, self.url = driver, folder, name, url

    def until(self, script: str):
        """What a script answers, once that is true."""
        deadline, found = time.monotonic() + PATIENCE, None
        while not found:
            assert time.monotonic() < deadline, f"{script} was never true"
            time.sleep(0.2)
            found = self.driver.execute_script(f"return {script}")
        return found

    def ask(self, script: str, number: int = 0):
        """What a script says of the live picture of that number, which it calls v."""
        view = f"const v = document.querySelectorAll('section.dl')[{number}].view;"
        return self.driver.execute_script(f"{view} {script}")

    def press(self, *keys: str, held: str = "") -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        pressed = ActionChains(self.driver)
        for key in keys:
            pressed = (
                pressed.key_down(held).send_keys(key).key_up(held)
                if held
                else pressed.send_keys(key)
            )
        pressed.perform()

    def run_cells(self) -> None:
        from selenium.webdriver.common.keys import Keys

        self.until("document.querySelectorAll('.jp-CodeCell .cm-line').length > 20")
        self.until("document.querySelector('.jp-Notebook-ExecutionIndicator[data-status=idle]')")
        self.driver.find_elements("css selector", ".jp-CodeCell .cm-content")[0].click()
        for number in range(len(CELLS)):
            self.press(Keys.ENTER, held=Keys.SHIFT)
            self.until(
                f"[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')][{number}]"
                f".textContent.includes('[{number + 1}]')"
            )

    def fetch(self, path: str, method: str = "GET", content=None) -> str:
        """What the server answers this page, with its cookies."""
        status, text = self.driver.execute_async_script(_FETCH, self.url + path, method, content)
        assert 200 <= status < 300, text
        return text

    def picture(self, name: str) -> None:
        if kept := os.environ.get("DISTLAB_PICTURES"):
            self.driver.execute_async_script(_DRAWN)
            self.driver.save_screenshot(str(Path(kept) / f"{name}.png"))

    def saved(self) -> nbformat.NotebookNode:
        from selenium.webdriver.common.keys import Keys

        path = self.folder / "walk.ipynb"
        before = path.stat().st_mtime_ns
        deadline = time.monotonic() + PATIENCE
        while path.stat().st_mtime_ns == before:
            assert time.monotonic() < deadline
            self.press("s", held=Keys.CONTROL)
            time.sleep(0.5)
        return nbformat.read(path, 4)


@pytest.fixture(params=["lab", "notebook"])
def page(request, tmp_path):
    notebook(tmp_path / "walk.ipynb")
    where = "lab/tree" if request.param == "lab" else "notebooks"
    with (
        served(request.param, tmp_path) as url,
        browser(tmp_path / "browser", 1240, 1000) as driver,
    ):
        driver.get(f"{url}/{where}/walk.ipynb")
        yield Page(driver, tmp_path, request.param, url)


def test_a_walk_through_a_notebook(page):
    """Run, zoom, hover, scrub, click to the line, dark theme, narrow window, save, open again."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    page.run_cells()
    page.until("document.querySelectorAll('section.dl').length === 2")
    # zoom and scrub by keys, which the notebook must not take for its own
    page.ask("v.stage.scrollIntoView({block: 'center'})")
    stage = page.driver.find_elements("css selector", ".dl-stage")[0]
    wide = page.ask("return v.stage.offsetWidth")
    aside = ActionChains(page.driver).move_to_element_with_offset(stage, 12 - wide // 2, 0)
    aside.click().perform()  # beside the ranks' names
    cells = page.driver.execute_script("return document.querySelectorAll('.jp-Cell').length")
    page.press(Keys.HOME, "+", "+", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, "-")
    assert page.until("document.querySelector('section.dl').view.moment === 2")
    assert page.ask("return v.picture.high - v.picture.low") == pytest.approx(1 / 1.6)
    found = page.driver.execute_script("return document.querySelectorAll('.jp-Cell').length")
    assert found == cells
    # hover, then click: the line is marked in the cell above
    x, y, wide, high = page.ask(
        "v.picture.show(0, 1); const p = v.picture, r = v.run, b = v.stage.getBoundingClientRect();"
        "return [p.x((r.at(r.from[3]) + r.at(r.until[3])) / 2), p.y(1), b.width, b.height]"
    )
    over = ActionChains(page.driver).move_to_element_with_offset(
        stage, round(x - wide / 2), round(y - high / 2)
    )
    over.perform()
    assert "send(dst=0)" in page.ask("return v.tip.innerText")
    over.click().perform()
    assert page.until("document.querySelector('.dl-stage').dataset.marked === 'true'")
    assert page.ask("v.tellNow(); return v.event") == 3
    marked = page.driver.execute_script(_MARKED)
    assert marked.strip() == "dist.send(mine, 0)"
    assert "[11]" in page.ask("return v.run.holds(1, v.picture.cursor)")
    page.driver.execute_script("document.querySelectorAll('.jp-CodeCell')[1].scrollIntoView()")
    page.picture(f"live-{page.name}")
    # the run that stands still says so, and where
    assert "neither can ever receive" in page.ask("return v.root.innerText", 1)
    page.ask("v.choose(0)", 1)
    assert page.driver.execute_script(_MARKED).strip() == "dist.send(mine, rank ^ 1)"
    _looks(page)
    _saves_still_pictures(page)


_MARKED = """
const mark = document.querySelector('.dl-mark'), top = mark.getBoundingClientRect().top;
const lines = [...mark.parentElement.querySelectorAll('.cm-line')];
return lines.find(l => Math.abs(l.getBoundingClientRect().top - top) < 2).textContent;
"""


def _looks(page) -> None:
    """After a reload pictures live again; in the dark theme text is light; a narrow window cuts
    nothing off.
    """
    page.saved()
    page.fetch(
        "/lab/api/settings/@jupyterlab/apputils-extension:themes", "PUT",
        {"raw": json.dumps({"theme": "JupyterLab Dark"})},
    )  # fmt: skip
    page.driver.refresh()
    page.until("document.querySelectorAll('section.dl').length === 2")
    page.until("document.body.dataset.jpThemeLight === 'false'")
    ink = page.ask("return getComputedStyle(v.root).color").split("(")[1].split(",")[0]
    assert int(ink) > 200
    page.ask("v.choose(0); v.root.scrollIntoView()", 1)
    page.picture(f"live-dark-{page.name}")
    page.driver.set_window_size(620, 900)
    assert page.until(
        "[...document.querySelectorAll('.dl-stage canvas')].every(c => "
        "c.getBoundingClientRect().width <= c.closest('section').getBoundingClientRect().width)"
    )
    page.ask("v.root.scrollIntoView()")
    page.picture(f"live-narrow-{page.name}")


def _saves_still_pictures(page) -> None:
    """What is saved is still; opened without its kernel, it shows the still picture."""
    saved = nbformat.read(page.folder / "walk.ipynb", 4)
    assert "widgets" not in saved.metadata
    kinds = {kind for cell in saved.cells for out in cell.outputs for kind in out.get("data", {})}
    assert kinds == {"text/html", "text/plain"}
    size = (page.folder / "walk.ipynb").stat().st_size
    assert size < 40_000, "the saved notebook holds more than two still pictures"
    for kernel in json.loads(page.fetch("/api/kernels")):
        page.fetch(f"/api/kernels/{kernel['id']}", "DELETE")
    page.driver.refresh()
    page.until("document.querySelectorAll('.jp-OutputArea svg[id]').length === 2")
    assert not page.driver.find_elements("css selector", "section.dl")
