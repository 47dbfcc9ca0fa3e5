"""The page in which Python runs without a server: docs/playground.

    python docs/playground.py record           # runs.json, from real runs
    python docs/playground.py build FOLDER     # what the page needs, into its folder of the site

Building needs Pyodide from npm (`npm ci --prefix tests/pyodide`) and NumPy for it
(`python tests/pyodide/fetch.py`). Without Pyodide the page says that it is not there; without NumPy
beside it the page takes NumPy from Pyodide's CDN.
"""

from __future__ import annotations

import base64
import json
import shutil
import sys
import zipfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "docs" / "playground"
#: what of the library is packed: no module that needs torch, and no answer
PACKED = ("__init__.py", "records/*.py", "viz/*.py", "viz/widget/*", "simulation/*.py",
          "processes/__init__.py", "processes/untrusted.py",
          "processes/told_alone.py", "processes/wrong_argument.py")  # fmt: skip
#: those of `docs/pictures.py`
RUNS = ("exchange", "deadlock", "relay", "collectives", "halves", "left_out", "straggler")
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip",
                 "pyodide-lock.json", "package.json")  # fmt: skip


def record() -> Path:
    """Run the programs and keep what their ranks wrote down."""
    import pictures

    told = []
    for name in RUNS:
        function, size, deadline, title = pictures.RUNS[name]
        raw = pictures.driven(function, size, deadline).raw
        packed = [base64.b64encode(zlib.compress(one, 9)).decode("ascii") for one in raw]
        told.append({"name": name, "title": title, "records": packed})
    path = SOURCE / "runs.json"
    path.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    return path


def build(folder: Path) -> bool:
    """Put beside the page what it loads; is Pyodide among it?"""
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "pyodide")]
    import fetch

    from distlab.viz import widget

    folder.mkdir(parents=True, exist_ok=True)
    for name in ("index.html", "main.js", "page.py", "runs.json"):
        shutil.copy(SOURCE / name, folder / name)
    code = f"{widget.script()}{widget.simulator_script()}\nexport {{Run, mount, mountSimulator}};\n"
    (folder / "widget.js").write_text(code, "utf-8")
    with zipfile.ZipFile(folder / "distlab.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sources():
            packed.write(path, path.relative_to(ROOT / "src"))
    if not fetch.PYODIDE.exists():
        print("the playground has no Python: npm ci --prefix tests/pyodide", file=sys.stderr)
        return False
    (folder / "pyodide").mkdir(exist_ok=True)
    for name in PYODIDE_FILES:
        shutil.copy(fetch.PYODIDE / name, folder / "pyodide" / name)
    wheel = fetch.numpy_wheel()
    settings = {"packages": None if wheel else fetch.CDN.format(version=fetch.version())}
    if wheel:
        shutil.copy(wheel, folder / "pyodide" / wheel.name)
    else:
        print("the playground takes NumPy from Pyodide's CDN: python tests/pyodide/fetch.py "
              "has it beside the page", file=sys.stderr)  # fmt: skip
    (folder / "settings.json").write_text(json.dumps(settings), "utf-8")
    return True


def sources() -> list[Path]:
    """The files of the library that the page gets."""
    return sorted(
        path for one in PACKED for path in (ROOT / "src" / "distlab").glob(one) if path.is_file()
    )


def main(arguments: list[str]) -> int:
    if arguments == ["record"]:
        print(record())
        return 0
    if len(arguments) == 2 and arguments[0] == "build":
        build(Path(arguments[1]))
        return 0
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
