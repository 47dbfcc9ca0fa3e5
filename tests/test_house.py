"""Who may import whom: the packages of the library, and the labs among them."""

import ast
import graphlib
from pathlib import Path

import pytest

import distlab
import grader

ROOT = Path(distlab.__file__).parent
GRADER = Path(grader.__file__).parent
#: package → the packages that it may import, besides itself
TABLE = {
    "processes": "network",
    "network": "",
    "records": "processes",
    "viz": "records",
    "rank": "processes records",
    "engines": "simulation viz rank records network processes",
    "training": "rank processes",
    "simulation": "rank viz records processes",
    "exercises": "engines records processes",
    "exchange": "processes",
    "course": "exercises simulation training engines rank viz records processes",
    "checking": "course exercises training engines rank viz records network processes",
}
#: a notebook as a module; it imports nothing, and everybody may import it
BASE = {"notebook"}
#: the commands and the public list: they may import everything
FREE = {"cli", "__init__", "__main__"}
WITHOUT_TORCH = ("records", "viz", "exercises", "network", "exchange")


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imports(path):
    """Modules that a file imports, anywhere in it; as "package.module", without "distlab"."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def arrows():
    """(file's module, what it imports of the library) for all files."""
    for path in sorted(ROOT.rglob("*.py")):
        for name in imports(path):
            if name.startswith("distlab."):
                yield module_of(path), name.removeprefix("distlab.")


def every_module():
    """The files of the library and of the grader by the name of their module."""
    for root in (ROOT, GRADER):
        for path in root.rglob("*.py"):
            parts = path.relative_to(root.parent).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def graph():
    """Module → the modules that it imports anywhere in it, for types alone too."""
    files = dict(every_module())
    return {name: set(_known(imports(path), files)) - {name} for name, path in files.items()}


def _known(names, files):
    for name in names:
        while name and name not in files:
            name = name.rpartition(".")[0]
        yield from [name] * bool(name)


def circle(found):
    """A circle of modules that import each other; an empty one if there is none."""
    try:
        graphlib.TopologicalSorter(found).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def complaints(found):
    said = []
    for source, target in found:
        package, other = source.split(".")[0], target.split(".")[0]
        if package in FREE or package == other or other in BASE:
            continue
        if other not in TABLE.get(package, "").split():
            said.append(f"{source} imports {target}")
    return said


def lab_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "course" and parts[1][:3] == "lab" else None


def test_packages_import_what_the_table_allows_and_nothing_else():
    assert not complaints(arrows())


def test_no_lab_imports_another():
    pairs = [(s, t) for s, t in arrows() if lab_of(s) and lab_of(t) and lab_of(s) != lab_of(t)]
    assert not pairs


def test_every_file_is_in_a_package_of_the_table():
    packages = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in ROOT.rglob("*.py")}
    assert packages == set(TABLE) | FREE | BASE


def test_what_reads_records_and_judges_never_imports_torch():
    found = [
        (module_of(path), name)
        for path in ROOT.rglob("*.py")
        if module_of(path).startswith(WITHOUT_TORCH)
        for name in imports(path)
        if name.split(".")[0] == "torch"
    ]
    assert not found


@pytest.mark.parametrize(
    "arrow",
    [
        ("records.events", "engines.runs"),
        ("rank.execute", "course.find"),
        ("viz.svg", "rank.world"),
        ("exchange.store", "checking.submission"),
    ],
)
def test_an_arrow_up_is_found(arrow):
    assert complaints([arrow])


def test_no_modules_import_each_other_in_a_circle():
    found = graph()
    # magics run cells, and cells have magics
    found["distlab.notebook.shell"].remove("distlab.notebook")
    assert not circle(found)


def test_a_circle_is_found():
    found = graph()
    found["distlab.records.events"].add("distlab.records.explain")
    assert {"distlab.records.events", "distlab.records.explain"} <= set(circle(found))
