"""Runs seen while they go on, in JupyterLab, with a kernel and real ranks.

DISTLAB_PICTURES=FOLDER keeps what was to be seen. A run that is to be looked at waits for a file,
which the test makes when it has seen enough.
"""

import json
import os
from pathlib import Path

import nbformat
import pytest
from browsing import browser, missing
from test_live_in_jupyter import Page, served

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = [
    pytest.mark.slow,  # a server, a kernel that imports torch, and a browser
    pytest.mark.long,
    pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing"),
]
CELLS = (
    "import os\nimport time\n\nimport torch\nimport torch.distributed as dist\n\n"
    "from distlab import Ranks, report\n\nranks = Ranks(3, deadline=100)\n\n\n"
    "def until(name):\n    while not os.path.exists(name):\n        time.sleep(0.005)",
    "def step(rank, size):\n    mine = torch.tensor([10.0 + rank])\n"
    "    for number in range(4):\n        dist.all_reduce(mine)\n"
    '        until(f"{os.getcwd()}/fast{number}" if rank else f"{os.getcwd()}/slow{number}")\n'
    "    dist.all_reduce(mine)\n    return mine\n\n\nranks.run(step)",
    "def around(rank, size):\n    mine = torch.tensor([10.0 + rank])\n"
    '    dist.all_reduce(mine)\n    until(os.getcwd() + "/go")\n'
    "    dist.recv(mine, (rank + 1) % size)\n    dist.send(mine, (rank - 1) % size)\n\n\n"
    "ranks.run(around)",
    "def train(rank, size):\n    weight = torch.zeros(1000)\n    for step in range(30):\n"
    "        report(loss=2.3 * 0.9**step, images=32)\n        weight += rank\n"
    '        dist.all_reduce(weight)\n    until(os.getcwd() + "/trained")\n\n\n'
    "ranks.run(train)",
)


_IDLE = "document.querySelector('.jp-Notebook-ExecutionIndicator[data-status=idle]')"
#: JupyterLab asks whether one wants news, over the lower right of every picture
_NO_NEWS = """
document.head.append(Object.assign(document.createElement('style'), {
  textContent: '.Toastify { display: none }'}));
"""


class Runs(Page):
    """A notebook whose cells are run one at a time, and not waited for."""

    def begin(self, number: int) -> None:
        from selenium.webdriver.common.keys import Keys

        if number == 0:
            self.until("document.querySelectorAll('.jp-CodeCell .cm-line').length > 20")
            self.until(_IDLE)  # else it runs nothing
            self.driver.execute_script(_NO_NEWS)
            self.driver.find_elements("css selector", ".jp-CodeCell .cm-content")[0].click()
        self.press(Keys.ENTER, held=Keys.SHIFT)

    def ended(self, number: int) -> None:
        self.until(
            f"[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')][{number}]"
            f".textContent.includes('[{number + 1}]')"
        )

    def live(self, script: str):
        """What a script says of the run that goes on, as v, once that is true."""
        return self.until(
            "(() => { const v = document.querySelector('section.dl-live')?.view; "
            f"return v && ({script}); }})()"
        )

    def makes(self, name: str) -> None:
        (self.folder / name).touch()

    def axe(self) -> None:
        """Assistive technology is told all of the pictures."""
        if not AXE.exists():
            return
        self.driver.execute_script(AXE.read_text("utf-8"))
        found = self.driver.execute_async_script(
            "axe.run({include: [['section.dl']]}).then(arguments[0])"
        )
        assert not [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]]


@pytest.fixture
def page(request, tmp_path):
    application = getattr(request, "param", "lab")
    where = "lab/tree" if application == "lab" else "notebooks"
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), tmp_path / "walk.ipynb")
    with (
        served(application, tmp_path) as url,
        browser(tmp_path / "browser", 1240, 1000) as driver,
    ):
        driver.get(f"{url}/{where}/walk.ipynb")
        yield Runs(driver, tmp_path, application, url)


def test_runs_are_seen_while_they_go_on(page):
    page.begin(0)
    page.ended(0)
    _a_straggler(page)
    _a_deadlock(page)
    _a_training_run(page)
    _saves_nothing(page)


@pytest.mark.parametrize("page", ["notebook"], indirect=True)
def test_in_notebook_7_too(page):
    page.begin(0)
    page.ended(0)
    _a_straggler(page)


def _a_straggler(page):
    """Rows fill; who keeps the others waiting is named; then the finished picture is there."""
    page.begin(1)
    assert page.live("v.run.count === 3 && v.run.tree.live")
    page.makes("fast0")
    assert page.live("v.said.textContent.includes('wait for rank 0, which computes')")
    assert page.live("v.rows.textContent.includes('rank 0 did not call it yet')")
    assert page.live("v.run.tree.ranks[1].shares[2] > 0")
    page.makes("slow0")
    assert page.live("v.run.count === 6")
    page.makes("fast1")
    assert page.live("v.said.textContent.includes('wait for rank 0')")
    page.driver.execute_script("document.querySelectorAll('.jp-CodeCell')[1].scrollIntoView()")
    page.picture("running-straggler")
    page.axe()
    for name in ("slow1", "fast2", "slow2", "fast3", "slow3"):
        page.makes(name)
    page.ended(1)
    page.until("document.querySelectorAll('section.dl:not(.dl-live)').length === 1")
    assert page.until("!document.querySelector('.dl-place')")


def _a_deadlock(page):
    """It freezes red where it stands, with the verdict, and can be stepped through."""
    page.begin(2)
    assert page.live("v.run.count === 3")
    page.makes("go")
    assert page.until("document.querySelector('.dl-place .dl-verdict')")
    view = "document.querySelector('.dl-place section.dl').view"
    assert not page.driver.execute_script(f"return {view}.run.tree.live")
    said = page.driver.execute_script(f"return {view}.root.innerText")
    assert "waits in recv" in said
    page.ended(2)
    assert page.driver.execute_script(f"return {view}.root.isConnected")
    page.driver.execute_script("document.querySelectorAll('.jp-CodeCell')[2].scrollIntoView()")
    page.picture("running-deadlock")
    page.axe()
    page.fetch(
        "/lab/api/settings/@jupyterlab/apputils-extension:themes", "PUT",
        {"raw": json.dumps({"theme": "JupyterLab Dark"})},
    )  # fmt: skip


def _a_training_run(page):
    """In the dark theme, after the page was loaded anew."""
    page.saved()
    page.driver.refresh()
    page.until("document.body.dataset.jpThemeLight === 'false'")
    page.until("document.querySelectorAll('section.dl').length === 1")
    page.until(_IDLE)
    page.driver.execute_script(_NO_NEWS)
    page.driver.find_elements("css selector", ".jp-CodeCell .cm-content")[3].click()
    page.begin(3)
    assert page.live("v.figures.textContent.includes('loss') && v.run.count === 90")
    assert page.live("v.curve.textContent.includes('loss of rank 0: 2.3 at first')")
    page.driver.execute_script("document.querySelectorAll('.jp-CodeCell')[3].scrollIntoView()")
    page.picture("running-training")
    page.driver.set_window_size(620, 900)
    page.driver.execute_script("document.querySelector('section.dl-live').scrollIntoView()")
    page.picture("running-narrow")
    page.axe()
    page.makes("trained")
    page.ended(3)
    assert page.until("!document.querySelector('.dl-live')")
    page.until("document.querySelectorAll('section.dl .dl-whole summary').length === 2")
    page.driver.execute_script(_OPEN_LAST)
    page.axe()
    page.picture("ended-training")


_OPEN_LAST = """
const last = [...document.querySelectorAll('.dl-whole')].pop();
last.open = true;
last.scrollIntoView({block: 'center'});
"""


def _saves_nothing(page):
    """The saved notebook holds the still pictures of two runs and an error, as without them."""
    saved = page.saved()
    assert "widgets" not in saved.metadata
    # a line that told the seconds is there, and empty
    kinds = [
        [out.output_type for out in cell.outputs if out.get("data") != {"text/plain": ""}]
        for cell in saved.cells
    ]
    assert kinds[1:4] == [["execute_result"], ["error"], ["execute_result"]]
    assert os.path.getsize(page.folder / "walk.ipynb") < 60_000
