"""What is named by a string is there; what is told apart by its file is told apart."""

import importlib
import importlib.util
import json
import os
import random
import sys

import pytest

from distlab.processes import entry_points, origin
from distlab.processes.spawned import Spawner
from distlab.processes.zygote import Zygote
from grader.paths import ROOT


@pytest.mark.parametrize("name", entry_points.EVERY)
def test_every_module_and_function_that_is_named_by_a_string_is_there(name):
    module, _, function = name.partition(":")
    assert importlib.util.find_spec(module) is not None
    if function:
        assert callable(getattr(importlib.import_module(module), function))


def test_a_frame_of_the_library_is_ours_wherever_it_lies_and_a_students_is_not(tmp_path):
    assert all(origin.ours(file) for file in origin.recording())
    assert origin.ours(importlib.util.find_spec("distlab.course").origin)
    assert not origin.ours(str(tmp_path / "distlab" / "labs" / "mine.py"))
    assert not origin.ours("relay") and not origin.ours(pytest.__file__)


def test_every_extension_that_the_hubs_servers_load_is_there():
    named = set()
    for path in (ROOT / "deploy" / "hub" / "jupyter").glob("*/jupyter_server_config.json"):
        server = json.loads(path.read_text("utf-8")).get("ServerApp", {})
        named |= set(server.get("jpserver_extensions", {}))
    assert "grader.plugins.formgrader" in named
    for name in named:
        assert importlib.util.find_spec(name) is not None, name


@pytest.mark.parametrize("source", [Zygote, Spawner])
def test_what_is_started_has_python_s_own_modules_whatever_lies_in_the_folder(
    source, tmp_path, monkeypatch
):
    for name in ("random", "queue", "secrets"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "asked_here.py").write_text(
        "import random\ndef tell(connection): connection.sendall(random.__file__.encode())"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "elsewhere"), *sys.path]))
    monkeypatch.chdir(tmp_path)
    with source(("random",)) as started:
        _, connection = started.connect("asked_here:tell")
        with connection:
            connection.settimeout(60)
            assert connection.recv(1000).decode() == random.__file__
