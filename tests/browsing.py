"""A headless Chromium for the tests of pictures, on this machine alone."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
from pathlib import Path

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--proxy-server=direct://",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip


def missing() -> str:
    """What these tests need and this machine does not have; empty where it has all."""
    if importlib.util.find_spec("selenium") is None:
        return "selenium is not here: pip install -c constraints.txt selenium"
    for program, package in (("chromium", "chromium"), ("chromedriver", "chromium-driver")):
        if not shutil.which(program):
            return f"{program} is not here: apt-get install {package}"
    return ""


@contextlib.contextmanager
def browser(folder: Path, width: int = 1100, height: int = 900, flags: tuple[str, ...] = ()):
    """A browser with a window of this size, whose own files are in `folder`."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in (*FLAGS, f"--window-size={width},{height}", f"--user-data-dir={folder}", *flags):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    try:
        driver.set_script_timeout(60)
        driver.set_page_load_timeout(120)
        yield driver
    finally:
        driver.quit()
