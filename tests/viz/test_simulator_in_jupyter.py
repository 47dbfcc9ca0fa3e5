"""The simulator where students have it: JupyterLab, with a kernel that times a run of real ranks.

DISTLAB_PICTURES=FOLDER keeps what was to be seen.
"""

import nbformat
import pytest
import test_live_in_jupyter as walks
from browsing import browser, missing

pytestmark = [
    pytest.mark.slow,  # a server, a kernel that imports torch, and a browser
    pytest.mark.long,
    pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing"),
]
CELLS = (
    "import time\nimport torch\nimport torch.distributed as dist\n\nfrom distlab import Ranks\n\n"
    "ranks = Ranks(2)",
    "def steps(rank, size):\n    gradients = torch.ones(25_000)\n    for _ in range(3):\n"
    "        time.sleep(0.05)\n        dist.all_reduce(gradients)",
    "ranks.run(steps).simulator(title='three steps')",
    "# the walk waits for twenty lines\n# of which these\n# are some\n\n\n\n\n1 + 1",
)
_MOVED = """
const [name, place, done] = arguments, view = document.querySelector(".ds").view;
const {input} = view.sliders.find(one => one.name === name), count = view.answered;
input.value = place;
input.dispatchEvent(new Event("input"));
const begin = performance.now();
const look = () => view.answered > count
  ? done([view.said.textContent, performance.now() - begin]) : setTimeout(look, 2);
look();
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(walks, "CELLS", CELLS)
    walks.notebook(tmp_path / "walk.ipynb")
    with walks.served("lab", tmp_path) as url, browser(tmp_path / "browser", 1240, 1000) as driver:
        driver.get(f"{url}/lab/tree/walk.ipynb")
        yield walks.Page(driver, tmp_path, "lab", url)


def test_sliders_ask_the_kernel_and_the_saved_notebook_has_the_still_picture(page):
    from selenium.webdriver.common.keys import Keys

    page.run_cells()
    page.until("document.querySelector('section.ds') && document.querySelector('.ds').view")
    begun = page.driver.execute_script("return document.querySelector('.ds-said').textContent")
    assert begun.startswith("On 2 ranks the run takes")
    times = []
    for place in range(22):
        said, took = page.driver.execute_async_script(_MOVED, "ranks", place)
        times.append(took)
    assert said.startswith("On 1,000 ranks the run takes")
    print(f"a move took {sorted(times)[11]:.0f} ms, at most {max(times):.0f} ms")
    slow, _ = page.driver.execute_async_script(_MOVED, "slowness", 4)
    assert slow != said
    # by keys, which the notebook must not take for its own
    cells = "return document.querySelectorAll('.jp-Cell').length"
    count = page.driver.execute_script(cells)
    slider = page.driver.find_element("css selector", ".ds input[type=range]")
    slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert slider.get_attribute("aria-valuetext") == "3 ranks"
    page.until("document.querySelector('.ds-said').textContent.startsWith('On 3 ranks')")
    assert page.driver.execute_script(cells) == count
    page.driver.execute_script("document.querySelector('.ds').scrollIntoView()")
    page.picture("simulator-notebook")
    saved = nbformat.writes(page.saved())
    assert "data-distlab-simulator" in saved and "On 2 ranks the run takes" in saved
    assert "application/vnd.jupyter.widget-state" not in saved
