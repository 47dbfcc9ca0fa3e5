"""Two runs side by side in headless Chromium: by pointer, by keys and to a reader."""

import pytest
from browsing import browser, missing
from test_comparison import both_send, steps
from test_live_picture import AXE, NO_AXE
from test_timeline import exchange

from distlab.viz.comparison import compare

pytestmark = [
    pytest.mark.slow,  # a browser takes seconds to start
    pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing"),
]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("browser"), 1240, 1000) as made:
        yield made


@pytest.fixture
def both(driver, tmp_path):
    """Opens a comparison; returns what evaluates JavaScript with its views as `a` and `b`."""
    driver.set_window_size(1240, 1000)

    def opened(*runs, **options):
        driver.get(compare(*runs, **options).save(tmp_path / "both.html").as_uri())
        return ask

    def ask(script):
        views = "[...document.querySelectorAll('section.dl')].map(s => s.view)"
        return driver.execute_script(f"const [a, b] = {views}; {script}")

    yield opened
    assert not [line for line in driver.get_log("browser") if line["level"] == "SEVERE"]


def said(ask):
    return ask("return document.querySelector('.dl-compare > .dl-said').textContent")


def test_who_steps_through_one_run_steps_through_the_other(driver, both):
    ask = both(steps(0.01, 0.02, 0.03), steps(0.01, 0.002, 0.06))
    from selenium.webdriver.common.keys import Keys

    ask("b.stage.focus(); b.go(0); b.tellNow()")
    driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    ask("b.tellNow()")
    assert ask("return b.event") == ask("return a.event") >= 0
    ask("a.choose(1)")
    assert said(ask) == "rank 0: send(dst=1): before 20.0 ms, after 2.00 ms"
    ask("b.choose(2)")
    assert ask("return [a.event, b.event]") == [2, 2]
    assert ask("return a.picture.cursor") != ask("return b.picture.cursor")  # each its own time


def test_what_one_run_has_alone_is_said_to_be_so(both):
    ask = both(exchange(), both_send(), names=("right", "hanging"))
    ask("a.choose(2)")
    assert said(ask) == "rank 1: recv(src=0) is in right alone"
    ask("a.choose(0)")
    assert said(ask) == "rank 0: send(dst=1): right 2.00 ms, hanging never finished"
    assert ask("return b.event") == 0


def test_a_row_of_the_table_leads_to_its_operations(driver, both):
    ask = both(exchange(), both_send(), names=("right", "hanging"))
    assert ask("return [a.event, b.event]") == [0, 0]  # it begins at the first
    rows = driver.find_elements("css selector", ".dl-compare > .dl-scrolls tbody tr")
    assert [row.text.split()[-3:] for row in rows[:1]] == [["finished", "in", "hanging"]]
    rows[1].find_element("css selector", "button").click()
    assert ask("return [a.event, b.event]") == [3, 1]
    rows[2].find_element("css selector", "button").click()
    assert ask("return a.event") == 1


@pytest.mark.skipif(bool(NO_AXE), reason=NO_AXE or "it is here")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [1240, 500])
def test_axe_finds_no_violation_and_nothing_is_cut_off(driver, both, scheme, wide):
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    ask = both(exchange(), both_send(), names=("right", "hanging"))
    driver.set_window_size(wide, 1000)
    ask("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    driver.execute_script(AXE.read_text("utf-8"))
    found = driver.execute_async_script("axe.run().then(arguments[0])")
    assert not [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]]
    over = ask("return document.documentElement.scrollWidth - innerWidth")
    assert over <= 0
    shown = ask("return [...document.querySelectorAll('svg[id]')].filter(s => s.checkVisibility())")
    assert not shown  # the still pictures have made room
