"""One Hub on trial for all tests, with a browser for whoever needs one."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

HUB = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HUB), str(HUB.parents[1])]
PICTURES = Path(os.environ.get("DISTLAB_HUB_PICTURES", HUB / "pictures"))
PEOPLE = pytest.StashKey[dict]()


@pytest.fixture(scope="session")
def hub():
    """A Hub with a lecturer and two students; it and its users are gone afterwards."""
    trial = pytest.importorskip("trial", reason="the Hub is not installed: make hub-env")
    try:
        trial.fits()
    except trial.Refused as reason:
        pytest.skip(str(reason))
    if running := os.environ.get("DISTLAB_HUB_TRIAL"):  # one that is up already, and stays
        yield trial.Trial(Path(running))
        return
    folder = Path(tempfile.mkdtemp(prefix="distlab-hub-"))  # pytest's own folders are private
    folder.chmod(0o755)
    made = trial.Trial(folder / "hub")
    try:
        made.up()
        yield made
    finally:
        if made.users():
            made.down()
        folder.rmdir()


@pytest.fixture(scope="module")
def person(hub, request, tmp_path_factory):
    """`person(name)`: somebody logged in, in a browser of their own."""
    browser = pytest.importorskip("browser")
    if reason := browser.missing():
        pytest.skip(reason)
    made = {}

    def find(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(f"browser-{name}")
            made[name] = browser.Person(name, hub.url, hub.password, folder, PICTURES)
        return made[name]

    request.config.stash[PEOPLE] = made
    yield find
    while made:
        made.popitem()[1].close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What everybody saw when a test failed."""
    report = yield
    if report.failed:
        for name, one in item.config.stash.get(PEOPLE, {}).items():
            one.picture(f"failed-{item.name}-{name}")
    return report
