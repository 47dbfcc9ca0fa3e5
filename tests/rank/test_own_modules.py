"""What ranks import again because it has changed, and where they find it."""

import importlib
import importlib.util
import linecache
import os
import sys

import pytest

from distlab.rank import own_modules

OLD = 10**9  # seconds: long before any run


class Beside:
    """A folder that modules are written into, as beside a notebook."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, path, text, at=OLD):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (at, at))

    def run(self, *names):
        """What these modules hold under VALUE, to a run that imports them as `names` say."""
        own_modules.forget_changed()
        found = []
        for name in names:
            folder, _, last = name.rpartition(".")
            there: dict = {}
            exec(f"from {folder} import {last} as it" if folder else f"import {last} as it", there)
            found.append(there["it"].VALUE)
        own_modules.note()
        return found


@pytest.fixture
def beside(tmp_path, monkeypatch):
    before = dict(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    for name, value in (("_known", set(before)), ("_own", {}), ("_folders", set())):
        monkeypatch.setattr(own_modules, name, value)
    yield Beside(tmp_path)
    for name in sys.modules.keys() - before.keys():
        del sys.modules[name]


def test_a_module_in_a_folder_without_an_init_is_imported_again(beside):
    beside.write("parts_h/one.py", "VALUE = 1")
    assert beside.run("parts_h.one") == [1]
    beside.write("parts_h/one.py", "VALUE = 'new'")
    assert beside.run("parts_h.one") == ["new"]


def test_one_that_is_edited_while_a_run_goes_on_is_imported_again_in_the_next(beside):
    beside.write("edited_h.py", "VALUE = 1")
    own_modules.forget_changed()
    importlib.import_module("edited_h")
    beside.write("edited_h.py", "VALUE = 'new'", at=4 * OLD)
    own_modules.note()
    assert beside.run("edited_h") == ["new"]


@pytest.mark.parametrize("place", ["own/lib/python3/site-packages", "usr/python3/dist-packages"])
def test_what_is_installed_elsewhere_is_not_imported_again(beside, monkeypatch, place):
    beside.write(f"{place}/library_h.py", "VALUE = object()")
    beside.write("changing_h.py", "VALUE = 1")
    monkeypatch.syspath_prepend(beside.folder / place)
    library, first = beside.run("library_h", "changing_h")
    beside.write("changing_h.py", "VALUE = 'new'")
    assert (first, beside.run("library_h", "changing_h")) == (1, [library, "new"])


def test_one_whose_file_has_gone_stays_and_is_imported_again_when_it_is_back(beside):
    beside.write("gone_h.py", "VALUE = 1")
    beside.write("changing_h.py", "VALUE = 1")
    beside.run("gone_h", "changing_h")
    (beside.folder / "gone_h.py").unlink()
    beside.write("changing_h.py", "VALUE = 'new'")
    assert beside.run("gone_h", "changing_h") == [1, "new"]
    beside.write("gone_h.py", "VALUE = 'back'")
    assert beside.run("gone_h") == ["back"]


def test_a_package_with_a_part_in_machine_code_stays_whole(beside):
    beside.write("compiled_h/__init__.py", "VALUE = object()")
    (first,) = beside.run("compiled_h")
    part = importlib.util.module_from_spec(importlib.util.spec_from_loader("compiled_h.c", None))
    part.__file__ = str(beside.folder / "compiled_h" / "c.so")
    sys.modules[part.__name__] = part
    beside.write("compiled_h/__init__.py", "VALUE = 'new'")
    assert beside.run("compiled_h") == [first]
    assert not own_modules.forget_changed()


class Sleeping(type(sys)):
    def __getattr__(self, name):
        raise ImportError(f"{self} cannot be loaded")


def test_a_module_that_loads_itself_when_it_is_asked_is_not_asked(beside):
    sys.modules["sleeping_h"] = Sleeping("sleeping_h")
    sys.modules["nothing_h"] = None
    own_modules.note()


def test_a_line_of_a_module_is_quoted_as_it_is_now(beside):
    beside.write("quoted_h.py", "VALUE = 1")
    beside.run("quoted_h")
    file = str(beside.folder / "quoted_h.py")
    assert linecache.getline(file, 1) == "VALUE = 1\n"
    beside.write("quoted_h.py", "VALUE = 'new'")
    beside.run("quoted_h")
    assert linecache.getline(file, 1) == "VALUE = 'new'\n"


def test_modules_beside_are_found_behind_python_s_own_as_ipython_finds_them(monkeypatch):
    monkeypatch.setattr(sys, "path", ["/usr/lib/python3", "/a/site-packages", "/b/dist-packages"])
    for _ in range(2):
        own_modules.find_beside()
        assert sys.path == ["/usr/lib/python3", "", "/a/site-packages", "/b/dist-packages"]
