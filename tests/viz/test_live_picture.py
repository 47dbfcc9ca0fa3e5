"""The live picture in headless Chromium: what it shows, by pointer, by keys and to a reader."""

from pathlib import Path

import pytest
from browsing import browser, missing
from test_run_model import HOSTILE
from test_timeline import add, exchange, long_run, world

from distlab.records.events import RUNNING, Held
from distlab.viz import widget
from distlab.viz.timeline import timeline

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
NO_AXE = "" if AXE.exists() else "axe-core is not here: npm ci --prefix tests/viz"
pytestmark = [
    pytest.mark.slow,  # a browser takes seconds to start
    pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing"),
]
SOURCE = "def step():\n    pass\n    dist.send(a, 1)\n    dist.recv(b, 1)\n    dist.send(b, 0)\n"


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("browser")) as made:
        yield made


@pytest.fixture
def view(driver, tmp_path):
    """Opens a run; returns what evaluates JavaScript with its view as `v`."""
    driver.set_window_size(1100, 900)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def opened(records, **options):
        sources = options.pop("sources", {"cell": SOURCE})
        page = timeline(records, **options).save(tmp_path / "run.html", sources=sources)
        driver.get(page.as_uri())
        return ask

    def ask(script):
        return driver.execute_script(
            f"const v = document.querySelector('section.dl').view; {script}"
        )

    yield opened
    said = [line for line in driver.get_log("browser") if line["level"] == "SEVERE"]
    assert not said


def stuck():
    """Rank 0 receives from rank 1, which sits in a collective that rank 0 never calls."""
    records = world(2, RUNNING)
    add(records, 0, "recv", 0.002, None, 1)
    add(records, 1, "all_reduce", 0.003, None)
    return records


def texts(driver, selector):
    return [one.text for one in driver.find_elements("css selector", selector)]


def keys(driver, *pressed):
    from selenium.webdriver.common.action_chains import ActionChains

    for key in pressed:
        ActionChains(driver).send_keys(key).perform()
    driver.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"
    )


def test_the_live_picture_takes_the_place_of_the_still_one(driver, view):
    ask = view(exchange(), title="exchange")
    assert ask("return v.root.getBoundingClientRect().height") > 200
    assert not driver.find_element("css selector", "[data-distlab-run] svg[id]").is_displayed()


OUTPUT = """
const [html, into] = arguments, output = document.createElement("div");
output.innerHTML = html;
for (const was of output.querySelectorAll("script")) {
  const script = document.createElement("script");
  script.text = was.text;
  for (const {name, value} of was.attributes) script.setAttribute(name, value);
  was.replaceWith(script);
}
document.querySelector(into).append(output);
"""


def test_outputs_of_vscode_come_to_life_one_by_one_with_the_code_of_the_first(driver, tmp_path):
    """VS Code puts an output's HTML into the page and has its scripts run."""
    run = timeline(exchange(), title="exchange")
    outputs = [
        widget.embedded(f"0-{n}", run.still(), run.model(), coded=n == 1) for n in range(3)
    ]  # fmt: skip
    (tmp_path / "page.html").write_text("<!doctype html><body></body>")
    driver.get((tmp_path / "page.html").as_uri())
    driver.execute_script(OUTPUT, outputs[0], "body")
    assert driver.find_element("css selector", "[data-distlab-run] svg[id]").is_displayed()
    assert not driver.find_elements("css selector", "section.dl")
    driver.execute_script(OUTPUT, outputs[1], "body")
    driver.execute_script(OUTPUT, outputs[2], "body")
    drawn = "return new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
    driver.execute_script(drawn)
    assert len(driver.find_elements("css selector", "section.dl")) == 3
    stills = driver.find_elements("css selector", "[data-distlab-run] svg[id]")
    assert not any(one.is_displayed() for one in stills)
    assert [line for line in driver.get_log("browser") if line["level"] == "SEVERE"] == []


def test_an_output_that_cannot_be_read_keeps_no_other_one_from_coming_to_life(driver, tmp_path):
    """One that another version has written, in a notebook that several kernels have run."""
    run = timeline(exchange())
    outputs = [widget.embedded(f"0-{n}", run.still(), run.model(), n == 0) for n in range(3)]
    begin = outputs[0].index("{", outputs[0].index("data-of"))
    other = f'{{"version": 99}}{outputs[0][outputs[0].index("</script>", begin) :]}'
    outputs[0] = f"{outputs[0][:begin]}{other}"
    (tmp_path / "page.html").write_text("<!doctype html><body></body>")
    driver.get((tmp_path / "page.html").as_uri())
    for output in outputs:
        driver.execute_script(OUTPUT, output, "body")
    driver.execute_script(
        "return new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
    )
    assert len(driver.find_elements("css selector", "section.dl")) == 2
    stills = driver.find_elements("css selector", "[data-distlab-run] svg[id]")
    assert [one.is_displayed() for one in stills] == [True, False, False]
    assert [line for line in driver.get_log("browser") if line["level"] == "SEVERE"] == []


def test_without_a_script_the_still_picture_stays(tmp_path):
    page = timeline(exchange()).save(tmp_path / "run.html")
    shut = ("--blink-settings=scriptEnabled=false",)
    with browser(tmp_path / "browser", flags=shut) as driver:
        driver.get(page.as_uri())
        assert driver.find_element("css selector", "[data-distlab-run] svg[id]").is_displayed()
        assert not driver.find_elements("css selector", "section.dl")


def test_each_moment_says_where_each_rank_is_and_what_it_waits_for(driver, view):
    ask = view(exchange())
    told = ask(
        "return v.run.tree.ranks.map((_, r) => [0.0008, 0.0020, 0.0088, 0.1].map(t => {"
        "const s = v.run.standing(r, t); return [s.does, s.state, s.on, s.why]; }))"
    )
    assert told[0][0] == ["computes", "computes", [], ""]
    assert told[1][0] == [
        "waits in recv(src=0) at step:3", "waits", [0], "rank 0 has not sent yet",
    ]  # fmt: skip
    assert told[0][1] == [
        "waits in send(dst=1) at step:3",
        "waits",
        [],
        "the message is on its way",
    ]
    assert told[1][1][3] == "the message is on its way"
    assert told[1][2][0] == "computes after send(dst=0) at step:5"
    assert told[0][3][:2] == told[1][3][:2] == ["returned", "ended"]
    before = ask("const s = v.run.standing(1, -1); return [s.does, s.state]")
    assert before == ["has not begun", "absent"]  # not the square of a rank that has returned


def test_a_run_that_never_ended_opens_where_it_stands_with_its_wait_for_graph(driver, view):
    view(stuck(), verdict="neither can ever go on")
    assert texts(driver, ".dl-verdict") == ["neither can ever go on"]
    rows = texts(driver, ".dl-ranks tbody tr")
    assert "waits in recv(src=1) at step:3" in rows[0] and "rank 1 never sends it" in rows[0]
    assert "waits in all_reduce at step:3" in rows[1] and "rank 0 did not call it yet" in rows[1]
    graph = driver.find_element("css selector", ".dl-graph svg").get_attribute("aria-label")
    assert "rank 0 waits for rank 1; rank 1 waits for rank 0" in graph
    assert len(driver.find_elements("css selector", ".dl-graph .dl-stuck")) == 2


def test_keys_step_zoom_and_go_to_both_ends(driver, view):
    ask = view(exchange())
    driver.find_element("css selector", ".dl-stage").click()
    from selenium.webdriver.common.keys import Keys

    keys(driver, Keys.HOME)
    assert ask("return v.moment") == 0
    said = [texts(driver, ".dl-said")[0]]
    for _ in range(11):
        keys(driver, Keys.ARROW_RIGHT)
        said += texts(driver, ".dl-said")
    assert said == [
        "rank 0 begins", "rank 1 begins",
        "rank 1: recv(src=0) at step:3 begins", "rank 0: send(dst=1) at step:3 begins",
        "rank 1: recv(src=0) at step:3 ends", "rank 0: send(dst=1) at step:3 ends",
        "rank 0: recv(src=1) at step:4 begins", "rank 1: send(dst=0) at step:5 begins",
        "rank 0: recv(src=1) at step:4 ends", "rank 1: send(dst=0) at step:5 ends",
        "rank 0 returned", "rank 1 returned",
    ]  # fmt: skip
    keys(driver, Keys.ARROW_LEFT, "+", "+")
    assert ask("return v.moment") == 10
    assert ask("return v.picture.high - v.picture.low") == pytest.approx(1 / 1.6**2)
    keys(driver, "0", Keys.END)
    assert ask("return [v.picture.low, v.picture.high, v.moment]") == [0, 1, 11]
    keys(driver, Keys.HOME, Keys.ARROW_DOWN)
    assert ask("return v.run.rank[v.event]") == 0
    keys(driver, Keys.ARROW_DOWN)
    assert ask("return v.run.rank[v.event]") == 1


def test_keys_are_its_own_but_those_with_ctrl_are_heard_around_it(driver, view):
    """The notebook saves at Ctrl+S wherever the focus is, and the browser does not ask where to."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    ask = view(exchange())
    driver.execute_script(_HEAR)
    ask("v.stage.focus()")
    keys(driver, "s", Keys.ARROW_RIGHT)  # of which the second is one of its own
    ActionChains(driver).key_down(Keys.CONTROL).send_keys("s").key_up(Keys.CONTROL).perform()
    assert driver.execute_script("return window.heard") == [["s", 83, True]]
    assert driver.execute_script("return window.prevented") == [False, True, False, True]


_HEAR = """
window.heard = [], window.prevented = [];
document.addEventListener("keydown", e => {
  if (e.key === "Control") return;
  heard.push([e.key, e.keyCode, e.ctrlKey]);
  e.preventDefault();
});
document.addEventListener("keydown", e => {
  if (e.isTrusted) setTimeout(() => window.prevented.push(e.defaultPrevented));
}, true);
"""


def test_the_slider_scrubs_and_says_where_it_is(driver, view):
    ask = view(exchange())
    ask("v.slider.value = 4; v.slider.dispatchEvent(new Event('input')); v.tellNow()")
    slider = driver.find_element("css selector", ".dl input[type=range]")
    assert slider.get_attribute("aria-valuetext") == "2.80 ms · 5 of 12"
    assert "recv(src=0)" in texts(driver, ".dl-detail")[0]


def _over(driver, ask, event):
    """Rest the pointer on an operation."""
    from selenium.webdriver.common.action_chains import ActionChains

    stage = driver.find_element("css selector", ".dl-stage")
    x, y, wide, high = ask(
        f"const e = {event}, p = v.picture, r = v.run, b = v.stage.getBoundingClientRect();"
        "return [p.x((r.at(r.from[e]) + r.at(r.until[e])) / 2), p.y(r.rank[e]), b.width, b.height]"
    )
    moving = ActionChains(driver, duration=0)
    return moving.move_to_element_with_offset(stage, round(x - wide / 2), round(y - high / 2))


def test_hovering_tells_arguments_bytes_waiting_time_and_line(driver, view):
    ask = view(exchange())
    _over(driver, ask, 0).perform()
    told = texts(driver, ".dl-tip")[0]
    for fact in ("send(dst=1)", "step:3", "2.00 ms", "float32, shape 1, begins with 7 · 4 B",
                 "recv(src=0) of rank 1", "dist.send(a, 1)"):  # fmt: skip
        assert fact in told, fact


def test_a_click_chooses_the_operation_and_quotes_its_line(driver, view):
    ask = view(exchange())
    _over(driver, ask, 3).click().perform()
    assert ask("v.tellNow(); return v.event") == 3
    assert [line.split() for line in texts(driver, ".dl-source mark")] == [
        ["5", "dist.send(b,", "0)"]
    ]


def test_what_tensors_held_is_told_at_each_moment(driver, view):
    records = exchange()
    records[0].events[0].before = Held((7.0, 8.5))
    records[1].events[0].after = Held(norm=3.25)
    ask = view(records)
    assert ask("return v.run.holds(0, 0.002)") == "[7, 8.5] in send(dst=1)"
    assert ask("return v.run.holds(1, 0.0020)") == "float32, shape 1, begins with 7 in recv(src=0)"
    assert ask("return v.run.holds(1, 0.003)") == "float32, shape 1 · norm 3.25 after recv(src=0)"


def test_every_operation_is_in_the_table_a_page_at_a_time(driver, view):
    ask = view(long_run(30))
    assert ask("return v.toggle.getAttribute('aria-expanded')") == "false"
    driver.find_element("css selector", ".dl-more button").click()
    count = ask("return v.run.count")
    seen = set()
    for _ in range(-(-count // 25)):
        seen.update(texts(driver, ".dl-table tbody th"))
        driver.find_elements("css selector", ".dl-table button")[1].click()
    assert seen == {str(number + 1) for number in range(count)}
    table = driver.find_element("css selector", ".dl-table table")
    assert table.get_attribute("aria-rowcount") == str(count + 1)


def test_a_table_that_is_not_shown_is_read_all_the_same(driver, view):
    view(exchange())
    driver.execute_cdp_cmd("Accessibility.enable", {})
    nodes = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    names = {n.get("name", {}).get("value") for n in nodes if not n.get("ignored")}
    assert {"send(dst=1)", "recv(src=0) of rank 1 at step:3", "2.00 ms"} <= names
    assert {"first moment", "one moment on", "zoom in", "each rank at this moment"} <= names


def test_the_legend_names_what_is_drawn(driver, view):
    def legend(records):
        view(records)
        return texts(driver, ".dl-legend span")

    assert "message" in legend(exchange()) and "never matched" not in legend(exchange())
    found = legend(stuck())
    assert "never matched" in found and "message" not in found


def test_in_a_narrow_window_nothing_is_cut_off(driver, view):
    ask = view(exchange())
    driver.set_window_size(500, 900)
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )
    try:
        driver.refresh()
        assert ask("return document.documentElement.scrollWidth") <= 360
        assert ask("return v.stage.clientWidth") > 300
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.skipif(bool(NO_AXE), reason=NO_AXE or "it is here")
def test_axe_finds_no_violation(driver, view, scheme):
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    for records in (exchange(), stuck()):
        ask = view(records, title="a run", verdict="it stands still")
        for shown in ("false", "true"):
            ask(f"v.showTable({shown}); v.go(3); v.tellNow()")
            driver.execute_script(AXE.read_text("utf-8"))
            found = driver.execute_async_script("axe.run().then(arguments[0])")
            told = [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]]
            assert not told
            assert len(found["passes"]) > 15


def test_colours_that_tell_something_stay_where_the_system_chooses_colours(driver, view):
    active = {"features": [{"name": "forced-colors", "value": "active"}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", active)
    ask = view(stuck())
    told = "return getComputedStyle(document.querySelector('.dl-key-{}')).borderTopColor"
    green, red = (ask(told.format(kind)) for kind in ("collective", "stuck"))
    assert (green, red) == ("rgb(0, 158, 115)", "rgb(213, 94, 0)")
    inside = ask("return getComputedStyle(document.querySelector('.dl-rank circle')).fill")
    assert inside.startswith("rgba(213, 94, 0")


def test_names_and_lines_of_strangers_do_nothing(driver, view):
    records = exchange()
    for record in records:
        record.stands = HOSTILE
        for event in record.events:
            event.function = event.file = event.api = event.dtype = event.reduction = HOSTILE
            event.note = HOSTILE
    source = {HOSTILE: f"{HOSTILE}\n" * 9}
    ask = view(records, title=HOSTILE, verdict=HOSTILE, sources=source)
    _over(driver, ask, 0).click().perform()
    ask("v.showTable(true); for (let k = 0; k < 12; k++) { v.go(k); v.tellNow(); }")
    assert ask("return window.stolen === undefined")
    assert ask("return v.root.querySelectorAll('img, script').length") == 0
    assert HOSTILE in texts(driver, ".dl-title")[0]
    assert any("onerror" in one for one in texts(driver, ".dl-tip"))


_PAINTED = """
const c = v.picture.canvas;
const image = c.getContext('2d').getImageData(0, 0, c.width, c.height);
const seen = image.data.filter((_, i) => i % 4 === 3);
return seen.filter(alpha => alpha > 0).length / seen.length;
"""


def test_a_large_run_is_drawn_from_what_is_visible(driver, view):
    ask = view(long_run(800))  # 9,600 operations
    for wide in (1, 0.1, 0.001):
        ask(f"v.picture.show(0.5 - {wide / 2}, 0.5 + {wide / 2}); v.picture.draw()")
        drawn = ask(_PAINTED)
        assert 0.02 < drawn < 0.9
