"""A person in front of a browser: headless Chromium, on this machine's loopback alone."""

from __future__ import annotations

import io
import json
import shutil
import time
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = 300.0  # seconds; a deadline for a busy machine, never a pause
ANSWER = 30.0  # seconds after which a click counts as lost
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--window-size=1280,1000", "--proxy-server=direct://",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip


def missing() -> str:
    """What a walk needs and this machine does not have; empty where it has all."""
    for program, package in (("chromium", "chromium"), ("chromedriver", "chromium-driver")):
        if not shutil.which(program):
            return f"{program} is not here: apt-get install {package}"
    return ""


class Person:
    """Somebody with a browser, logged in to the Hub.

    Args:
        folder: for the browser's own files.
        pictures: where screenshots are kept.
    """

    def __init__(self, name: str, url: str, password: str, folder: Path, pictures: Path) -> None:
        self.name, self.url, self._pictures = name, url, pictures
        options = Options()
        options.binary_location = shutil.which("chromium")
        for flag in (*FLAGS, f"--user-data-dir={folder}"):
            options.add_argument(flag)
        self.driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        self.driver.set_page_load_timeout(PATIENCE)
        self.driver.set_script_timeout(PATIENCE)
        self.go("/hub/login")
        self.driver.find_element(By.ID, "username_input").send_keys(name)
        self.driver.find_element(By.ID, "password_input").send_keys(password)
        self.driver.find_element(By.ID, "login_submit").click()
        self.until(lambda: "/hub/login" not in self.driver.current_url, "to be logged in")

    def go(self, path: str) -> None:
        self.driver.get(self.url + path)

    def until(self, holds, what: str):
        """Wait until `holds()` is true, and return what it gave.

        Raises:
            TimeoutException: it never was; the message says what was waited for.
        """

        def asked(_):
            try:
                return holds()
            except (StaleElementReferenceException, IndexError):
                return False

        waiting = WebDriverWait(self.driver, PATIENCE, poll_frequency=0.2)
        return waiting.until(asked, f"{self.name} waited for {what} at {self.driver.current_url}")

    def see(self, selector: str, text: str = "") -> WebElement:
        """Wait for a visible element with this text in it."""
        return self.until(
            lambda: [
                one for one in self.driver.find_elements(By.CSS_SELECTOR, selector)
                if one.is_displayed() and text in one.text
            ][0],
            f"{text!r} in {selector}",
        )  # fmt: skip

    def scroll_to(self, selector: str, text: str) -> None:
        """Wait for an element with this text, in view or not, and bring the innermost one to the
        top, until it stays there: JupyterLab lays cells out as they come into view.
        """
        script = """
        const [selector, text] = arguments;
        const all = [...document.querySelectorAll(selector)];
        const found = all.filter(e => e.textContent.includes(text));
        const one = found[found.length - 1];
        if (!one) return null;
        one.scrollIntoView({block: "start", behavior: "instant"});
        return Math.round(one.getBoundingClientRect().top);
        """
        places: list[int] = []

        def still() -> bool:
            places.append(self.driver.execute_script(script, selector, text))
            return len(places) > 3 and len(set(places[-3:])) == 1 and places[-1] is not None

        self.until(still, f"{text!r} to stay in place")

    def click(self, selector: str, text: str = "") -> None:
        """Click it, once nothing lies over it."""

        def clicked() -> bool:
            try:
                self.see(selector, text).click()
            except WebDriverException as error:
                if "intercepted" in str(error) or "stale" in str(error):
                    return False
                raise
            return True

        self.until(clicked, f"{selector} {text!r} to be clickable")

    def press(self, selector: str, text: str, holds) -> None:
        """Click until it has had its effect: a list that is loaded anew may lose a click."""
        while not holds():
            self.click(selector, text)
            patience = time.monotonic() + ANSWER
            while not holds() and time.monotonic() < patience:
                time.sleep(0.2)

    def menu(self, name: str, entry: str) -> None:
        """Choose from JupyterLab's menus."""

        def chosen() -> bool:
            found = self.driver.find_elements(By.CSS_SELECTOR, ".lm-Menu-itemLabel")
            entries = [one for one in found if one.is_displayed() and one.text == entry]
            if not entries:  # a page that is still busy may lose a click
                self.click(".lm-MenuBar-itemLabel", name)
                return False
            entries[0].click()
            return True

        self.until(chosen, f"{entry} in the menu {name}")

    def save(self, path: Path, text: str) -> None:
        """Save the notebook until this text is in its file."""

        def saved() -> bool:
            keys = ActionChains(self.driver).key_down(Keys.CONTROL).send_keys("s")
            keys.key_up(Keys.CONTROL).perform()
            return text in path.read_text("utf-8")

        self.until(saved, f"{path} to be saved")

    def theme(self, name: str) -> None:
        """Choose JupyterLab's theme; pages that are opened from now on have it."""
        path = f"/user/{self.name}/lab/api/settings/@jupyterlab/apputils-extension:themes"
        status, said = self.ask(path, "PUT", {"raw": json.dumps({"theme": name})})
        assert status == 204, said

    def ask(self, path: str, method: str = "GET", content=None):
        """Fetch JSON as this page does, with its cookies: (status, content)."""
        answer = self.driver.execute_async_script(
            """
            const [path, method, content, done] = arguments;
            const xsrf = (document.cookie.match(/_xsrf=([^;]+)/) || [])[1];
            fetch(path, {
              method, credentials: "same-origin",
              headers: {"Content-Type": "application/json", "X-XSRFToken": xsrf || ""},
              body: content === null ? undefined : JSON.stringify(content),
            }).then(async r => done([r.status, await r.text()]), e => done([0, String(e)]));
            """,
            path, method, content,
        )  # fmt: skip
        return tuple(answer)

    def picture(self, name: str, height: int | None = None) -> None:
        """Keep what is to be seen, or so many pixels of it from the top."""
        self._pictures.mkdir(parents=True, exist_ok=True)
        seen = Image.open(io.BytesIO(self.driver.get_screenshot_as_png()))
        seen.crop((0, 0, seen.width, height or seen.height)).save(self._pictures / f"{name}.png")

    def close(self) -> None:
        self.driver.quit()


def pause_until(holds, what: str, seconds: float = PATIENCE) -> None:
    """Wait for something outside of a browser."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come within {seconds:g} s"
        time.sleep(0.2)
