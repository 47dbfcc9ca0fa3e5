"""The page in which Python runs, in headless Chromium: runs, verdicts, sliders, for everybody."""

import functools
import http.server
import importlib.util
import sys
import threading
from pathlib import Path

import pytest
from browsing import browser
from browsing import missing as no_browser
from in_node import missing

ROOT = Path(__file__).parents[2]
AXE = ROOT / "tests" / "viz" / "node_modules" / "axe-core" / "axe.min.js"
LACKS = missing() or no_browser()
pytestmark = [
    pytest.mark.slow,  # starts a browser, and Python in it
    pytest.mark.skipif(bool(LACKS), reason=LACKS or "nothing is missing"),
]


def playground():
    spec = importlib.util.spec_from_file_location("playground", ROOT / "docs" / "playground.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files, without a line for each."""

    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The built page, served as files alone."""
    folder = tmp_path_factory.mktemp("site")
    assert playground().build(folder / "playground")
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/playground/index.html"
        server.shutdown()


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("browser")) as made:
        yield made


def loaded(driver, address):
    """Open the page; returns whether Python is there: "true" or "failed"."""
    driver.set_script_timeout(300)
    driver.get("about:blank")
    driver.get(address)
    return driver.execute_async_script(
        "const done = arguments[0]; const look = () => document.body.dataset.ready"
        " ? done(document.body.dataset.ready) : setTimeout(look, 100); look();"
    )


@pytest.fixture
def page(driver, address):
    """The page when Python is there, on a run."""

    def opened(name):
        ready = loaded(driver, f"{address}#{name}")
        assert ready == "true", driver.find_element("id", "status").text
        return driver

    yield opened
    assert not [line for line in driver.get_log("browser") if line["level"] == "SEVERE"]


def move(driver, label, by):
    """Move a slider as a keyboard does; returns what is said then, and milliseconds."""
    return driver.execute_async_script(
        """
        const [label, by, done] = arguments;
        const labels = [...document.querySelectorAll(".ds label")];
        const input = labels.find(one => one.textContent === label).control;
        const view = input.closest(".ds").view;
        const count = view.answered, begin = performance.now();
        input.value = Number(input.value) + by;
        input.dispatchEvent(new Event("input"));
        const look = () => {
          if (view.answered === count) return setTimeout(look, 5);
          const told = input.getAttribute("aria-valuetext");
          done([view.said.textContent, performance.now() - begin, told]);
        };
        look();
        """,
        label,
        by,
    )


def test_python_in_the_page_proves_draws_and_simulates_a_recorded_run(page):
    driver = page("straggler")
    assert driver.find_element("id", "verdict").text.startswith("Every operation has met")
    assert driver.find_element("css selector", "#timeline .dl-stage canvas").is_displayed()
    begun = driver.find_element("css selector", ".ds-said").text
    assert begun.startswith("On 4 ranks the run takes")
    said, _, told = move(driver, "ranks", 10)
    assert told == "64 ranks" and said.startswith("On 64 ranks the run takes")
    said, _, told = move(driver, "one rank computes", 6)
    assert told == "5 × as long" and said != begun
    assert "rank 3, slow" in driver.find_element("css selector", ".ds-result").text


def test_what_the_page_says_is_what_python_here_says(page):
    """One model: the same record and the same sliders, in the page and in this process."""
    driver = page("straggler")
    said, _, _ = move(driver, "latency", 5)
    sys.path.append(str(ROOT / "docs" / "playground"))
    from page import Playground

    here = Playground((ROOT / "docs" / "playground" / "runs.json").read_text("utf-8"))
    here.open("straggler")
    at = here._simulators["straggler"].start()["latency"] + 5
    assert here._simulators["straggler"].answer({"latency": at})["said"] == said


def test_a_deadlock_is_proven_in_the_page_and_has_no_simulator(page):
    driver = page("deadlock")
    verdict = driver.find_element("id", "verdict").text
    assert "rank 0" in verdict and "rank 1" in verdict and "send" in verdict
    assert "stuck" in driver.find_element("id", "verdict").get_attribute("class")
    assert "simulate a run that ends" in driver.find_element("id", "simulator").text


def test_every_run_of_the_list_opens(page):
    driver = page("exchange")
    names = driver.execute_script(
        "return [...document.querySelectorAll('#which option')].map(one => one.value)"
    )
    assert names == list(playground().RUNS)
    for name in names:
        driver.execute_script(
            "const which = document.querySelector('#which'); which.value = arguments[0];"
            "which.dispatchEvent(new Event('change'));",
            name,
        )
        assert driver.find_element("id", "verdict").text
        assert driver.find_element("css selector", "#timeline section.dl").is_displayed()


def test_keys_move_a_slider(page):
    from selenium.webdriver.common.keys import Keys

    driver = page("straggler")
    slider = driver.find_element("css selector", ".ds input[type=range]")
    slider.send_keys(Keys.END)
    assert slider.get_attribute("aria-valuetext") == "1,000 ranks"
    slider.send_keys(Keys.HOME)
    assert slider.get_attribute("aria-valuetext") == "1 rank"


def test_in_a_narrow_window_nothing_is_cut_off(page):
    driver = page("straggler")
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )
    try:
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 360
        wide = driver.execute_script(
            "return [...document.querySelectorAll('.ds input')].map(one => one.clientWidth)"
        )
        assert min(wide) > 150
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: npm ci --prefix tests/viz")
def test_axe_finds_no_violation(page, scheme):
    for name in ("straggler", "deadlock", "exchange"):
        driver = page(name)
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )
        driver.execute_script(AXE.read_text("utf-8"))
        found = driver.execute_async_script("axe.run().then(arguments[0])")
        told = [(v["id"], [n["html"][:160] for n in v["nodes"]]) for v in found["violations"]]
        assert not told
        assert len(found["passes"]) > 15


def test_what_is_packed_is_no_answer_and_needs_no_torch():
    packed = [str(path.relative_to(ROOT / "src" / "distlab")) for path in playground().sources()]
    assert {"records/deadlock.py", "viz/timeline.py", "simulation/simulator.py"} <= set(packed)
    assert not [name for name in packed if name.startswith(("course", "exercises", "rank/"))]


def test_a_page_that_gets_no_numpy_says_so_in_a_sentence(driver, address):
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*numpy*"]})
    try:
        assert loaded(driver, address) == "failed"
        said = driver.find_element("id", "status").text
    finally:
        driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
        driver.get_log("browser")  # what was blocked is told there
    assert "NumPy could not be fetched from " in said and "Traceback" not in said
