"""What is fetched for a machine without a network, and how it comes to lie there."""

import io
import random
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest
import tomllib

from grader.gpu import __main__ as gpu
from grader.gpu import images, wheels
from grader.paths import ROOT


def lines(path):
    return [line for line in path.read_text().splitlines() if line and line[0] != "#"]


def test_what_is_needed_is_what_the_project_needs_in_its_ranges():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(lines(wheels.NEEDED)) <= set(project["dependencies"])


def test_the_pythons_are_among_the_project_s():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    low, high = re.findall(r"3\.(\d+)", project["requires-python"])
    assert all(int(low) <= int(one.split(".")[1]) < int(high) for one in wheels.PYTHONS)


def made_wheel(folder, name, needs=()):
    """A wheel with one module, as small as one can be."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", "here = True\n")
        needed = "".join(f"Requires-Dist: {one}\n" for one in needs)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needed}"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return path.name


@pytest.fixture
def carried(tmp_path, monkeypatch):
    """A folder of wheels, and a list of what is needed: two that are missing, one that is here."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    names = [made_wheel(folder, "distlab_first", ["distlab_second", "pip"])]
    names.append(made_wheel(folder, "distlab_second"))
    monkeypatch.setattr(wheels, "NEEDED", tmp_path / "needed.txt")
    wheels.NEEDED.write_text("distlab_first>=1\npip\n")
    return folder, names


@pytest.mark.slow  # starts pip
def test_what_is_missing_is_put_beside_and_what_is_here_stays(carried, tmp_path):
    folder, names = carried
    made_wheel(folder, "pip")  # older than the one that is here, and not taken
    target = tmp_path / "site"
    assert wheels.gather(sys.executable, folder, target) == names
    assert {path.name for path in target.glob("*.py")} == {"distlab_first.py", "distlab_second.py"}
    done = subprocess.run(
        [sys.executable, "-c", "import distlab_first"], env={"PYTHONPATH": str(target)}
    )
    assert done.returncode == 0


@pytest.mark.slow  # starts pip
def test_what_is_nowhere_is_told_with_what_to_do(carried, tmp_path):
    folder, names = carried
    (folder / names[1]).unlink()
    with pytest.raises(wheels.CannotRun, match=r"distlab.second.* run `make gpu-wheels`"):
        wheels.gather(sys.executable, folder, tmp_path / "site")


@pytest.mark.slow  # starts pip
def test_this_machine_s_own_package_index_is_not_asked(carried, tmp_path, monkeypatch):
    folder, names = carried
    other = tmp_path / "other"
    other.mkdir()
    (folder / names[1]).rename(other / names[1])
    monkeypatch.setenv("PIP_FIND_LINKS", str(other))
    with pytest.raises(wheels.CannotRun):
        wheels.gather(sys.executable, folder, tmp_path / "site")


def test_a_python_without_pip_is_told(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho No module named pip >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(wheels.CannotRun, match="has no pip"):
        wheels.gather(str(python), tmp_path / "wheels", tmp_path / "site")


def test_a_pip_that_ends_without_a_word_is_told(tmp_path, monkeypatch):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -9 $$\n")  # as where memory runs out
    python.chmod(0o755)
    monkeypatch.setattr(wheels.sys, "executable", str(python))
    with pytest.raises(wheels.CannotRun, match="pip said nothing"):
        wheels.fill(tmp_path / "wheels", tmp_path / "constraints.txt", ["3.12"])


def test_images_that_are_not_there_are_told_before_anything_is_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "fill", lambda *_: pytest.fail("fetched"))
    words = ["wheels", "--carry", str(tmp_path), "--images", str(tmp_path / "none.tar.xz")]
    with pytest.raises(wheels.CannotRun, match=r"no archive of images .*none\.tar\.xz"):
        gpu.fill(gpu._options(words))


def test_images_that_lie_where_they_travel_stay_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(wheels, "fill", lambda *_: None)
    archive = packed(tmp_path, {"train/cat/1.jpg": b"picture"})
    content = archive.read_bytes()
    gpu.fill(gpu._options(["wheels", "--carry", str(tmp_path), "--images", str(archive)]))
    assert archive.read_bytes() == content and "together" in capsys.readouterr().out


def test_the_project_leaves_room_for_images_and_wheels(tmp_path):
    carry = tmp_path / "carry"
    (carry / "wheels").mkdir(parents=True)
    (carry / "wheels" / "a.whl").write_bytes(bytes(10))
    (carry / images.ARCHIVE).write_bytes(bytes(20))
    found = wheels.sizes(ROOT, carry)
    assert found["wheels"] == 10 and found["images"] == 20
    assert 1_000_000 < found["project"] < wheels.MOST - 18_578_308 - 18_000_000


def test_images_are_unpacked_once(tmp_path):
    source, carry = tmp_path / "source", tmp_path / "carry"
    for name in ("train/cat", "test/cat"):
        (source / name).mkdir(parents=True)
        (source / name / "1.jpg").write_bytes(b"picture")
    carry.mkdir()
    assert images.unpacked(carry, tmp_path / "none") is None
    with tarfile.open(carry / images.ARCHIVE, "w:xz") as packed:
        packed.add(source / "train", "train")
        packed.add(source / "test", "test")
    target = tmp_path / "images"
    assert images.unpacked(carry, target) == target
    (target / "train" / "cat" / "1.jpg").write_bytes(b"still this one")
    assert images.unpacked(carry, target) == target
    assert (target / "train" / "cat" / "1.jpg").read_bytes() == b"still this one"


def test_another_archive_s_images_are_not_mixed_with_those_of_one_before(tmp_path):
    for name in ("old", "new, longer"):
        packed(tmp_path, {f"{part}/cat/{name}.jpg": name.encode() for part in ("train", "test")})
        target = images.unpacked(tmp_path, tmp_path / "images")
    assert [path.name for path in target.rglob("*.jpg")] == ["new, longer.jpg"] * 2


def packed(folder, files, kind="xz"):
    """An archive with these files."""
    with tarfile.open(folder / images.ARCHIVE, f"w:{kind}") as archive:
        for name, content in files.items():
            one = tarfile.TarInfo(name)
            one.size = len(content)
            archive.addfile(one, io.BytesIO(content))
    return folder / images.ARCHIVE


@pytest.mark.parametrize("kind", ["xz", "gz", "bz2"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.75, 0.9])  # in a picture, or in what is before one
def test_an_archive_with_a_few_other_bits_is_told(tmp_path, kind, share):
    noise = random.Random(0).randbytes(100_000)
    names = ("train/cat/1.jpg", "test/cat/1.jpg", "train/cat/2.jpg", "test/cat/2.jpg")
    archive = packed(tmp_path, {name: noise for name in names}, kind)
    content = bytearray(archive.read_bytes())
    place = int(share * len(content))
    content[place : place + 64] = bytes(64)
    archive.write_bytes(content)
    with pytest.raises(wheels.CannotRun, match="make gpu-wheels"):
        images.unpacked(tmp_path, tmp_path / "images")


@pytest.mark.parametrize("content", [b"", b"no archive at all"])
def test_a_damaged_archive_is_told(tmp_path, content):
    (tmp_path / images.ARCHIVE).write_bytes(content)
    with pytest.raises(wheels.CannotRun, match="make gpu-wheels"):
        images.unpacked(tmp_path, tmp_path / "images")


def test_images_are_found_beside_the_clone(tmp_path):
    root = tmp_path / "work" / "main"
    root.mkdir(parents=True)
    assert images.beside(root) is None
    archive = tmp_path / "shared" / "data" / images.ARCHIVE
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"")
    assert images.beside(root) == archive


def test_what_solutions_and_right_answers_import_is_among_what_is_needed():
    """Labs whose frameworks are left out here have needs of their own."""
    import ast
    import json

    from grader.gpu import plan

    sources = []
    for lab in plan.RECORDED:
        for path in (ROOT / "solutions" / lab).glob("*.ipynb"):
            for cell in json.loads(path.read_text())["cells"]:
                kind = cell["metadata"]
                if cell["cell_type"] != "code":
                    continue
                if kind.get("nbgrader", {}).get("solution") or "given" in kind.get("tags", []):
                    sources.append("".join(cell["source"]))
        answers = (ROOT / "grader" / "answers" / lab).glob("*/right_*.py")
        sources += [path.read_text() for path in answers]
    imported = set()
    for source in sources:
        for node in ast.walk(
            ast.parse(re.sub(r"^([ \t]*)[%!?].*$", r"\1pass", source, flags=re.M))
        ):
            if isinstance(node, ast.Import):
                imported |= {one.name.partition(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    needed = {re.match(r"[\w-]+", line)[0] for line in lines(wheels.NEEDED)}
    here = {"torch", "torchvision", "numpy", "PIL", "distlab", *sys.stdlib_module_names}
    assert imported <= needed | here
